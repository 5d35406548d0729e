/** Calls that a run had started, by its events. They are for display: they serve for a reason and a notice, never for matching. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS_FILE } from '../runs/runs-folder.js';

export interface StartedCall {
  n: number;
  label: string;
  /** Absent where the event that names it was lost. */
  key: string | undefined;
  /** An outcome was told: an answer, or a failure. */
  settled: boolean;
}

const TYPES = ['"call.queued"', '"call.started"', '"call.finished"'];

/** In call order; none where there is no account of events. */
export function readStartedCalls(folder: string): StartedCall[] {
  const keys = new Map<number, string>();
  const started = new Map<number, StartedCall>();
  for (const line of readLines(join(folder, EVENTS_FILE))) {
    if (!TYPES.some((type) => line.includes(type))) continue;
    const event = parseEvent(line);
    if (event === undefined) continue;
    if (event.type === 'call.queued' && typeof event.key === 'string') keys.set(event.n, event.key);
    else if (event.type === 'call.started')
      started.set(event.n, { n: event.n, label: event.label ?? '', key: keys.get(event.n), settled: false });
    else if (event.type === 'call.finished' && event.status !== 'no-result') {
      const call = started.get(event.n);
      if (call !== undefined) call.settled = true;
    }
  }
  return [...started.values()].sort((a, b) => a.n - b.n);
}

/** Keys of the calls that were started. */
export const startedKeys = (folder: string): Set<string> =>
  new Set(readStartedCalls(folder).flatMap((call) => call.key ?? []));

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function parseEvent(
  line: string,
): { type: string; n: number; label?: string; key?: string; status?: string } | undefined {
  try {
    return JSON.parse(line);
  } catch {
    // A torn line.
    return undefined;
  }
}
