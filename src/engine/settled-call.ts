/** A call that has an end: its outcome, or the word of a person that it is to have none. */
import type { CallOutcome } from '../agents/execute-call.js';
import type { CallUsage, ErrorRecord, KeptWorktree } from '../shared/outcome.js';

type CancelledOutcome = Extract<CallOutcome, { kind: 'cancelled' }>;

/** The script gets `null`, and no resume takes it for an answer. */
export interface SkippedOutcome {
  kind: 'skipped';
  error: ErrorRecord;
  tell: 'null';
  usage: CallUsage | undefined;
  attempts: number;
  session?: undefined;
  worktrees?: KeptWorktree[];
}

export type SettledOutcome = Exclude<CallOutcome, CancelledOutcome> | SkippedOutcome;

export function skippedOutcome(outcome: Pick<CallOutcome, 'usage' | 'attempts' | 'worktrees'>): SkippedOutcome {
  const error = { name: 'Error', code: 'WF_SKIPPED', message: 'The call was skipped by a person.' };
  const { usage, attempts, worktrees } = outcome;
  return { kind: 'skipped', error, tell: 'null', usage, attempts, ...(worktrees === undefined ? {} : { worktrees }) };
}
