/** What single calls cost, added to what their run costs. */
import type { CallUsage, Usage } from './outcome.js';

/** Of a call that was executed. */
export function addSpent(sum: Usage, spent: CallUsage): void {
  sum.inputTokens += spent.inputTokens;
  sum.outputTokens += spent.outputTokens;
  sum.cacheReadTokens += spent.cacheReadTokens ?? 0;
  if (spent.usd != null) sum.usd = (sum.usd ?? 0) + spent.usd;
  if (spent.usd == null || spent.usdPartial) sum.usdUnknownCalls = (sum.usdUnknownCalls ?? 0) + 1;
}

/** Of a call that was answered from the journal: what its answer had cost when it was made. */
export function addSaved(sum: Usage, saved: Pick<CallUsage, 'outputTokens' | 'usd'>): void {
  sum.savedOutputTokens += saved.outputTokens;
  if (saved.usd != null) sum.savedUsd = (sum.savedUsd ?? 0) + saved.usd;
}

/** Where no backend was asked, nothing was spent: that is known. */
export const spentUsd = ({ usd }: Usage, isBackendAsked: boolean): number | null => usd ?? (isBackendAsked ? null : 0);
