// `node scripts/backends-table.mjs`: writes the table in docs/backends.md from test/agents/results.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const RESULTS = join(root, 'test', 'agents', 'results.json');
const PAGE = join(root, 'docs', 'backends.md');
const [BEGIN, END] = ['<!-- table: begin -->', '<!-- table: end -->'];

/** Rows `{ scenario, results: { <backend>: 'works' | { cannot: reason } } }`, and what was run for each backend. */
export const readResults = () => JSON.parse(readFileSync(RESULTS, 'utf8'));

/** The known results with new ones in their place, scenarios in the given order. */
export function mergeResults(known, news, order) {
  const backends = { ...known.backends };
  const byScenario = new Map(order.map((scenario) => [scenario, {}]));
  for (const { scenario, results } of known.scenarios) {
    if (byScenario.has(scenario)) byScenario.set(scenario, { ...results });
  }
  for (const { backend, runs, scenario, state, note } of news) {
    backends[backend] = runs;
    byScenario.get(scenario)[backend] = state === 'cannot' ? { cannot: note } : state;
  }
  const sorted = (entries) => Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));
  return {
    backends: sorted(backends),
    scenarios: [...byScenario].map(([scenario, results]) => ({ scenario, results: sorted(results) })),
  };
}

/** The table as Markdown, with the reasons of what cannot be below it. */
export function renderTable({ backends, scenarios }) {
  const names = Object.keys(backends);
  const reasons = [];
  const cell = (result) => {
    if (result === undefined) return '·';
    if (typeof result === 'string') return result === 'works' ? '✓' : result;
    let at = reasons.indexOf(result.cannot);
    if (at < 0) at = reasons.push(result.cannot) - 1;
    return `– (${at + 1})`;
  };
  const rows = [
    ['', ...names.map((name) => `\`${name}\``)],
    ['---', ...names.map(() => '---')],
    ...scenarios.map(({ scenario, results }) => [scenario, ...names.map((name) => cell(results[name]))]),
  ];
  const table = rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
  const runs = names.map((name) => `\`${name}\`: ${backends[name]}`).join('; ');
  const notes = reasons.map((reason, i) => `${i + 1}. ${reason}`).join('\n');
  return `Run with ${runs}.\n\n${table}\n${notes === '' ? '' : `\n${notes}\n`}`;
}

/** The page with the table of these results. */
export function placeTable(page, results) {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`docs/backends.md holds no ${BEGIN} … ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${renderTable(results)}\n${page.slice(end)}`;
}

export function writeResults(results) {
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(PAGE, placeTable(readFileSync(PAGE, 'utf8'), results));
}

if (import.meta.filename === process.argv[1]) writeResults(readResults());
