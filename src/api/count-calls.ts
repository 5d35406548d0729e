/** The numbers of a run without a recorded end, from its calls. */
import { costNothing } from '../agents/price-usage.js';
import { addSaved, addSpent, spentUsd } from '../shared/add-usage.js';
import { type Counts, emptyCounts, emptyUsage, type Usage } from '../shared/outcome.js';
import type { CallDetail } from './call-view.js';

export function countCalls(calls: readonly CallDetail[]): Counts {
  const counts = emptyCounts();
  // By call number: calls come in call order, and only a later one makes up for a failure.
  const answered = new Map(calls.filter((call) => call.status === 'ok').map((call) => [call.key, call.n]));
  for (const call of calls) {
    counts.calls++;
    if (call.reused) counts.reused++;
    else if (call.attempts > 0) counts.executed++;
    if (call.status === 'ok') counts.ok++;
    else if (call.status === 'skipped') counts.skipped++;
    else if (call.status === 'failed')
      counts[call.key !== null && (answered.get(call.key) ?? 0) > call.n ? 'recovered' : 'failed']++;
    else if (call.status === 'no-result') counts.noResult++;
  }
  return counts;
}

/**
 * @param told as of the last heartbeat: what an attempt without a line had cost is only there
 * @param madeUp the run's answers are made up, and cost nothing
 */
export function sumUsage(calls: readonly CallDetail[], told: Usage, madeUp: boolean): Usage {
  const sum = emptyUsage();
  for (const { reused, usage } of calls) {
    if (usage === undefined) continue;
    if (reused) addSaved(sum, usage);
    else addSpent(sum, madeUp ? costNothing(usage) : usage);
  }
  const isAsked = calls.some(({ reused, attempts }) => !reused && attempts > 0);
  // A heartbeat from before the first call knew that nobody had been asked: what came after, it did not know.
  const toldUsd = told.usd === 0 && isAsked ? null : told.usd;
  const unknownCalls = Math.max(sum.usdUnknownCalls ?? 0, told.usdUnknownCalls ?? 0);
  return {
    inputTokens: Math.max(sum.inputTokens, told.inputTokens),
    outputTokens: Math.max(sum.outputTokens, told.outputTokens),
    cacheReadTokens: Math.max(sum.cacheReadTokens, told.cacheReadTokens),
    usd: larger(spentUsd(sum, isAsked && !madeUp), toldUsd),
    ...(unknownCalls === 0 ? {} : { usdUnknownCalls: unknownCalls }),
    savedOutputTokens: Math.max(sum.savedOutputTokens, told.savedOutputTokens),
    savedUsd: larger(sum.savedUsd, told.savedUsd),
  };
}

const larger = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other);
