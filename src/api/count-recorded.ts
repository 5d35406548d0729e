/** The numbers of a run without a recorded end, from what is recorded of its calls. */
import { costNothing } from '../agents/price-usage.js';
import { addSaved, addSpent, spentUsd } from '../shared/add-usage.js';
import { type CountedCall, countCalls, countPhases } from '../shared/count-calls.js';
import { type Counts, emptyUsage, type Usage } from '../shared/outcome.js';
import type { CallDetail } from './call-view.js';
import type { ReadCalls } from './read-calls.js';

type RecordedCalls = Pick<ReadCalls, 'calls' | 'askedByEnd'>;

export const countRecorded = (recorded: RecordedCalls): Counts => countCalls(toCounted(recorded));

export const countRecordedPhases = (recorded: RecordedCalls): { title: string | null; counts: Counts }[] =>
  countPhases(toCounted(recorded));

const toCounted = ({ calls, askedByEnd }: RecordedCalls): CountedCall[] =>
  calls.map((call) => ({
    n: call.n,
    key: call.key,
    phase: call.phase,
    status: call.status,
    reused: call.reused,
    executed: isExecuted(call),
    // A failure whose end was not told of: that anything was asked for after it was not seen either.
    askedByEnd: askedByEnd.get(call.n) ?? Number.POSITIVE_INFINITY,
  }));

const isExecuted = ({ reused, attempts }: CallDetail): boolean => !reused && attempts > 0;

/**
 * @param told as of the last heartbeat: what an attempt without a line had cost is only there
 * @param madeUp the run's answers are made up, and cost nothing
 */
export function sumRecordedUsage(calls: readonly CallDetail[], told: Usage, madeUp: boolean): Usage {
  const sum = emptyUsage();
  for (const { reused, usage } of calls) {
    if (usage === undefined) continue;
    if (reused) addSaved(sum, usage);
    else addSpent(sum, madeUp ? costNothing(usage) : usage);
  }
  const isAsked = calls.some(isExecuted);
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
