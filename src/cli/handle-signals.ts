/**
 * SIGINT cancels, SIGTERM drains, SIGHUP drains for a short time; a second one, or any signal while cancelling, leaves at
 * once. Equal signals within 150 ms are one: npm delivers Ctrl-C twice.
 */
import { EXIT } from '../shared/errors.js';

const SAME_SIGNAL_MS = 150;
const HANGUP_DRAIN_MS = 5_000;

type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

export interface SignalHandling {
  /** The run exists now: what came before takes effect. */
  started(): void;
  /** The run has ended: a signal changes nothing any more, unless output is still waiting for its reader. */
  ended(): void;
}

export function handleSignals(options: {
  /** `exitCode`: that of the process, by the first signal. */
  cancel(exitCode: number): void;
  drain(ms: number, exitCode: number): void;
  drainMs: number;
  say(message: string): void;
}): SignalHandling {
  let state: 'running' | 'draining' | 'cancelling' | 'ended' = 'running';
  let first: Signal | undefined;
  let last: { signal: Signal; at: number } | undefined;
  let isStarted = false;
  let isLate = false;

  const act = (): void => {
    if (!isStarted || first === undefined) return;
    if (state === 'cancelling') options.cancel(codeOf(first));
    else if (state === 'draining') options.drain(first === 'SIGHUP' ? HANGUP_DRAIN_MS : options.drainMs, codeOf(first));
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
    if (state === 'cancelling' || (!isStarted && state !== 'running')) leave(signal);
    state = signal === 'SIGINT' || state === 'draining' ? 'cancelling' : 'draining';
    if (state === 'cancelling')
      options.say('cancel requested: started calls are asked to stop; once more leaves at once');
    else options.say('no new calls are started; what runs may finish; once more cancels');
    act();
    // The second of a pair may have come while this one was acted on.
    last.at = performance.now();
  };
  const leave = (signal: Signal): never => process.exit(codeOf(first ?? signal));

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => take(signal));
  return {
    started() {
      isStarted = true;
      act();
    },
    ended() {
      state = 'ended';
    },
  };
}

function codeOf(signal: Signal): number {
  return signal === 'SIGINT' ? EXIT.cancelled : signal === 'SIGTERM' ? EXIT.drained : EXIT.hangup;
}
