/** What a resume says of limits that differ from those of the run it goes on from. */
import type { CarriedLines } from '../journal/carry.js';
import type { RunOptions } from '../runs/records.js';

type Limit = 'concurrency' | 'maxAgents' | 'budgetTokens' | 'budgetUsd' | 'timeoutMs' | 'idleTimeoutMs' | 'retries';
type OtherLimit = 'turnTimeoutMs' | 'memoryMb' | 'minFreeMemMb';

const FLAGS: Record<Limit | OtherLimit, { flag: string; unit?: string }> = {
  concurrency: { flag: '--concurrency' },
  maxAgents: { flag: '--max-agents' },
  budgetTokens: { flag: '--budget', unit: 'output tokens' },
  budgetUsd: { flag: '--budget-usd' },
  timeoutMs: { flag: '--timeout', unit: 'ms' },
  idleTimeoutMs: { flag: '--idle-timeout', unit: 'ms' },
  retries: { flag: '--retries' },
  turnTimeoutMs: { flag: '--turn-timeout', unit: 'ms' },
  memoryMb: { flag: '--memory', unit: 'MB' },
  minFreeMemMb: { flag: '--min-free-mem', unit: 'MB' },
};

/** One sentence for each limit that differs. */
export function describeLimitChanges(before: RunOptions, now: RunOptions): string[] {
  return Object.entries(FLAGS).flatMap(([name, { flag, unit }]) => {
    const [old, given] = [before[name] ?? null, now[name] ?? null] as (number | null)[];
    if (old === given) return [];
    // An idle limit that was taken away is 0; without one its backend's own holds.
    const say = (value: number | null | undefined): string =>
      value == null
        ? name === 'idleTimeoutMs'
          ? 'none given'
          : 'none'
        : value === 0 && unit === 'ms'
          ? 'none'
          : `${value}${unit === undefined ? '' : ` ${unit}`}`;
    return [`${flag} is now ${say(given)}; the source run had ${say(old)}.`];
  });
}

/** A script that stops by `budget.remaining()` sees what the recorded answers have cost, of those that it asks for. */
export function describeSpentBudget({ budgetTokens }: RunOptions, carried: CarriedLines | undefined): string[] {
  if (budgetTokens === null || carried === undefined) return [];
  const spent = carried.lines.reduce(
    (sum, line) => sum + (line.type === 'result' && line.kind === 'ok' && line.delivered ? line.outputTokens : 0),
    0,
  );
  if (spent < budgetTokens) return [];
  return [
    `The answers of the source run have cost ${spent} output tokens: a script that asks for them again sees no budget left of ${budgetTokens}. Only a larger --budget lets it go on by its own rule.`,
  ];
}
