export interface BackendResults {
  backends: Record<string, string>;
  scenarios: { scenario: string; results: Record<string, string | { cannot: string }> }[];
}
export function readResults(): BackendResults;
export function mergeResults(known: BackendResults, news: readonly object[], order: readonly string[]): BackendResults;
export function renderTable(results: BackendResults): string;
export function placeTable(page: string, results: BackendResults): string;
export function writeResults(results: BackendResults): void;
