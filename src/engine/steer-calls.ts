/** What a person may do to one call of a live run: end it without an answer, or have it started again. */
import type { CallOutcome } from '../agents/execute-call.js';
import type { CallStatus } from '../shared/outcome.js';
import type { CallRunner } from './call-runner.js';
import type { Dispatcher } from './dispatcher.js';
import { type SkippedOutcome, skippedOutcome } from './settled-call.js';
import type { Tally } from './tally.js';

/** `was`: the call's status before, `undefined` when no call has that number. */
export interface SteeredCall {
  was: CallStatus | undefined;
  done: boolean;
  /** It was not done because the run is being drained. */
  draining?: true;
}

export interface CallSteering {
  /** Ends one call that is queued or running: the script gets `null` for it when its agent is gone. */
  skip(n: number): SteeredCall;
  /** Starts one running call again: another attempt of the same call, without the wait that may lie before it. */
  retry(n: number): SteeredCall;
  /** The run is being drained: what runs may finish, and nobody starts anything again. */
  refuseRetries(): void;
  /** The outcome of a call, given what it came to by itself. */
  judge(n: number, outcome: CallOutcome): CallOutcome | SkippedOutcome;
}

export function createCallSteering(run: {
  tally: Tally;
  dispatcher: Dispatcher;
  runner: CallRunner;
  /** The end of the run is decided. */
  isEnding(): boolean;
}): CallSteering {
  const { tally, dispatcher, runner } = run;
  /** Calls whose agents are not gone yet. */
  const skipped = new Set<number>();
  let draining = false;
  return {
    skip(n) {
      const was = tally.get(n)?.status;
      if (run.isEnding() || (was !== 'queued' && was !== 'running')) return { was, done: false };
      skipped.add(n);
      const queued = dispatcher.drop(n);
      if (queued === undefined) runner.abort(n);
      else queued.settle({ kind: 'cancelled', usage: undefined, attempts: 0 });
      return { was, done: true };
    },
    retry(n) {
      const was = tally.get(n)?.status;
      const isOpen = !run.isEnding() && was === 'running' && !skipped.has(n);
      if (isOpen && draining) return { was, done: false, draining };
      return { was, done: isOpen && runner.retry(n) };
    },
    refuseRetries() {
      draining = true;
    },
    // Whatever it still said: it was told to stop. Once the run's own end is decided, that is why it has no result.
    judge: (n, outcome) => (skipped.delete(n) && !run.isEnding() ? skippedOutcome(outcome) : outcome),
  };
}
