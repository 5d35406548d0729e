/**
 * Each fault at each moment of a run's life, with real processes. Prints a table: how often each was tried, and what it
 * cost; everything but the first number must be 0. `npm run faults` runs it alone, WF_SOAK=100 ten times.
 */
import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { FAULTS } from './faults.js';
import { live, MOMENTS, type Verdict } from './life.js';

const ROUNDS = Math.max(1, Math.round(Number(process.env.WF_SOAK ?? 10) / 10));
const LIMIT_MS = 180_000 * ROUNDS;

const rows = new Map(FAULTS.map(({ name }) => [name, { times: 0, wrong: 0, lost: 0, left: 0, status: 0 }]));

const missing = ['prlimit', 'setpriv', 'bash'].filter((tool) => spawnSync(tool, ['--version']).status !== 0);

afterAll(() => {
  const titles = ['fault', 'times', 'wrong results', 'results lost', 'processes left', 'wrong statuses'];
  const lines = [...rows].map(([name, { times, wrong, lost, left, status }]) => [
    name,
    times,
    wrong,
    lost,
    left,
    status,
  ]);
  const table = [titles, ...lines].map((line) => line.map(String));
  const widths = titles.map((_, column) => Math.max(...table.map((line) => (line[column] as string).length)));
  const text = table.map((line) =>
    line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] as number) : cell.padStart(widths[i] as number))).join('  '),
  );
  console.log(`\n${text.join('\n')}\n`);
});

describe.each(FAULTS)('$name', (fault) => {
  it.each(MOMENTS)(
    'when $name: nothing wrong, nothing lost, nothing left',
    async (moment) => {
      if (missing.length > 0) throw new Error(`not installed: ${missing.join(', ')}`);
      const row = rows.get(fault.name) as { times: number; wrong: number; lost: number; left: number; status: number };
      for (let round = 0; round < ROUNDS; round++) {
        const { wrongResults, lostResults, processesLeft, wrongStatuses }: Verdict = await live(fault, moment);
        row.times++;
        row.wrong += wrongResults.length;
        row.lost += lostResults.length;
        row.left += processesLeft.length;
        row.status += wrongStatuses.length;
        expect({ wrongResults, lostResults, processesLeft, wrongStatuses }).toEqual({
          wrongResults: [],
          lostResults: [],
          processesLeft: [],
          wrongStatuses: [],
        });
      }
    },
    LIMIT_MS,
  );
});
