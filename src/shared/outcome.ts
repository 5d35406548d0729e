/**
 * The words in which every room speaks of runs and calls, and the shapes of their counts.
 * (Aliases, not interfaces, so that they fit the records' open shapes.) They are the JSON shapes that `wf ls --json` and `wf show --json` promise: new fields may be added, none may change.
 */

/** Status of a run, as observed. `interrupted` means: no end is recorded and no live owner was seen. */
export const RUN_STATUSES = ['running', 'completed', 'failed', 'cancelled', 'interrupted'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Status of a call. `no-result` means only that no result is recorded. */
export type CallStatus = 'queued' | 'running' | 'ok' | 'failed' | 'skipped' | 'no-result';

/** Numbers of logical calls: a retry or a second attempt never counts twice. */
export type Counts = {
  calls: number;
  ok: number;
  failed: number;
  /** Failed calls that a later call of the same key made up for (`find-recovered.ts`); they are not part of `failed`. */
  recovered: number;
  skipped: number;
  /** Calls that nobody awaited when the body returned. */
  abandoned: number;
  noResult: number;
  /** Answered from the journal. */
  reused: number;
  /** Handed to a backend in this run. */
  executed: number;
};

/** Tokens and money. `usd` is `null` where it is unknown, never 0 by guess. */
export type Usage = {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  usd: number | null;
  /** Calls that used tokens whose money is not known and not in `usd`; absent when there are none. */
  usdUnknownCalls?: number;
  /** Output tokens that reused answers had cost when they were made. */
  savedOutputTokens: number;
  savedUsd: number | null;
};

/** What one call cost, with all its attempts. */
export type CallUsage = {
  /** All that the model was given, what it read from a cache included. */
  inputTokens: number;
  outputTokens: number;
  /** How many of `inputTokens` came from a cache. */
  cacheReadTokens?: number;
  usd?: number | null;
  /** Told by the backend, or reckoned from a table of prices. */
  usdSource?: 'reported' | 'priced' | 'unknown';
  /** Some attempts did not tell their cost: `usd` is that of the others. */
  usdPartial?: true;
};

/** A worktree that a call left behind: it holds changes, or it could not be told that it holds none. */
export type KeptWorktree = {
  /** Absolute. */
  path: string;
  branch: string;
  /** Commit at which it began. */
  base: string;
  /** Files that differ from it, committed ones among them: the first of them by name. */
  files: string[];
  fileCount: number;
  commits: number;
  /** Why it was kept where that is not for a change that was seen. */
  doubt?: string;
};

/** An error as records keep it. */
export type ErrorRecord = {
  code: string;
  message: string;
  name?: string;
  file?: string;
  line?: number;
  column?: number;
  /** Code frame of the user's own source, for people. */
  frame?: string;
  stack?: string;
  /** The error behind this one. */
  cause?: ErrorRecord;
  /** When a limit is lifted, ISO 8601 UTC; null: a usage limit of which the backend did not say so. */
  resetsAt?: string | null;
};

/** Errors of the script that did not end the run: their slot became null, or nobody caught them. */
export type ScriptErrors = {
  count: number;
  /** The first of them, each text and place once. */
  first: ErrorRecord[];
};

/** Every call that the script still waited for has an answer: there is nothing to go on with. */
export const isComplete = (status: RunStatus, counts: Counts): boolean =>
  status === 'completed' && counts.failed + counts.noResult + counts.skipped === 0;

export const emptyCounts = (): Counts => ({
  calls: 0,
  ok: 0,
  failed: 0,
  recovered: 0,
  skipped: 0,
  abandoned: 0,
  noResult: 0,
  reused: 0,
  executed: 0,
});

export const emptyUsage = (): Usage => ({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  usd: null,
  savedOutputTokens: 0,
  savedUsd: null,
});
