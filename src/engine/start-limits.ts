/** What may keep a call from its start. */
export interface SpendingLimits {
  maxAgents: number;
  /** Output tokens that this run itself may spend; null: no ceiling. */
  budgetTokens: number | null;
  /** US dollars, likewise. */
  budgetUsd?: number | null | undefined;
}

export interface StartLimits extends SpendingLimits {
  concurrency: number;
  /** MB that must be free for a further call to start while others run. */
  minFreeMemMb?: number | null | undefined;
}
