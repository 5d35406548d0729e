/** A call as `wf show` tells it, for programs. */
import type { ResultEntry } from '../journal/entry.js';
import type { CallStatus, ErrorRecord, KeptWorktree } from '../shared/outcome.js';

/** One call of `wf show --json`. */
export interface CallView {
  n: number;
  /** Place in delivery order; null while nothing was delivered. */
  seq: number | null;
  nth: number | null;
  path: string | null;
  key: string | null;
  label: string;
  phase: string | null;
  status: CallStatus;
  reused: boolean;
  /** Run that made a reused answer. */
  from: string | null;
  attempts: number;
  startedAt: string | null;
  endedAt: string | null;
  /** Of an open call of a live run: when it was last heard of. */
  lastSignAt?: string;
  /** It failed in a way that another try may mend, and waits for it. */
  retry?: { at: string; kind: string };
  error?: ErrorRecord;
  /** Its answer fitted the schema only at the last try. */
  lastTry?: true;
  /** Worktrees that it left behind; absent when there are none. */
  worktrees?: KeptWorktree[];
}

/** One call with all that is known of it. Prompt, options and answer are there only where one call was asked for. */
export interface CallDetail extends CallView {
  prompt?: string;
  options?: Record<string, unknown>;
  output?: unknown;
  usage?: ResultEntry['usage'];
  model?: string;
  backend?: string;
  sessionId?: string;
}
