/**
 * SIGINT cancels, SIGTERM drains, SIGHUP drains for a short time; a second one, or any signal while cancelling, leaves at
 * once. Before there is a run, each of them gives its start up; when it is over, nothing is left to end but the writing of
 * its end. Equal signals within 150 ms are one: npm delivers Ctrl-C twice.
 */
import { EXIT } from '../shared/errors.js';

const SAME_SIGNAL_MS = 150;
const HANGUP_DRAIN_MS = 5_000;
const OVER =
  'the run is over and its end is being written; once more leaves at once: what is not on the disk by then is lost, and the run may count as interrupted';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Signal = (typeof SIGNALS)[number];

export interface SignalHandling {
  /** Set once the start was given up. */
  readonly gaveUpWith: number | undefined;
  /** The run exists now. */
  started(): void;
  /** The run has ended: a signal changes nothing any more, unless output is still waiting for its reader. */
  ended(): void;
}

export function handleSignals(options: {
  /** Asked before the run exists. */
  giveUpStart(): void;
  /** `exitCode`: that of the process, by the first signal. False: the run is over. */
  cancel(exitCode: number): boolean;
  drain(ms: number, exitCode: number): boolean;
  drainMs: number;
  say(message: string): void;
}): SignalHandling {
  let state: 'starting' | 'running' | 'draining' | 'leaving' | 'ended' = 'starting';
  let first: Signal | undefined;
  let gaveUpWith: number | undefined;
  let last: { signal: Signal; at: number } | undefined;
  let isLate = false;

  const act = (signal: Signal, exitCode: number): void => {
    if (state === 'starting') {
      state = 'leaving';
      gaveUpWith = exitCode;
      options.say('cancelled before the run has begun; once more leaves at once');
      options.giveUpStart();
    } else if (signal === 'SIGINT' || state === 'draining') {
      state = 'leaving';
      options.say(
        options.cancel(exitCode) ? 'cancel requested: started calls are asked to stop; once more leaves at once' : OVER,
      );
    } else if (options.drain(first === 'SIGHUP' ? HANGUP_DRAIN_MS : options.drainMs, exitCode)) {
      state = 'draining';
      options.say('no new calls are started; what runs may finish; once more cancels');
    } else {
      state = 'leaving';
      options.say(OVER);
    }
  };
  const take = (signal: Signal): void => {
    const now = performance.now();
    const repeated = last?.signal === signal && now - last.at < SAME_SIGNAL_MS;
    last = { signal, at: now };
    if (repeated) return;
    if (state === 'ended') {
      // Its exit code is on its way: a signal that comes too late must not replace it.
      if (process.stdout.writableLength > 0 || isLate) leave(signal);
      isLate = true;
      return;
    }
    first ??= signal;
    if (state === 'leaving') leave(signal);
    act(signal, codeOf(first));
    // The second of a pair may have come while this one was acted on.
    last.at = performance.now();
  };
  const leave = (signal: Signal): never => process.exit(codeOf(first ?? signal));

  for (const signal of SIGNALS) process.on(signal, () => take(signal));
  return {
    get gaveUpWith() {
      return gaveUpWith;
    },
    started() {
      if (state === 'starting') state = 'running';
    },
    ended() {
      state = 'ended';
    },
  };
}

/** For what has nothing to end in an orderly way: a signal ends it as it would anyway, but what only looks for it goes too. */
export function leaveOnSignals(): void {
  for (const signal of SIGNALS) process.on(signal, () => process.exit(codeOf(signal)));
}

function codeOf(signal: Signal): number {
  return signal === 'SIGINT' ? EXIT.cancelled : signal === 'SIGTERM' ? EXIT.drained : EXIT.hangup;
}
