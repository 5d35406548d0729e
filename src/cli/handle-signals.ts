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
  /** The exit code, given that of the run itself. */
  exitCode(ofRun: number): number;
  stop(): void;
}

export function handleSignals(options: {
  cancel(): void;
  drain(ms: number): void;
  drainMs: number;
  say(message: string): void;
}): SignalHandling {
  let state: 'running' | 'draining' | 'cancelling' = 'running';
  let first: Signal | undefined;
  let last: { signal: Signal; at: number } | undefined;
  let isStarted = false;

  const act = (): void => {
    if (!isStarted) return;
    if (state === 'cancelling') options.cancel();
    else if (state === 'draining') options.drain(first === 'SIGHUP' ? HANGUP_DRAIN_MS : options.drainMs);
  };
  const take = (signal: Signal): void => {
    const now = performance.now();
    const repeated = last?.signal === signal && now - last.at < SAME_SIGNAL_MS;
    last = { signal, at: now };
    if (repeated) return;
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

  const listeners = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => {
    const listener = (): void => take(signal);
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  return {
    started() {
      isStarted = true;
      act();
    },
    // Without a signal somebody else ended it: its own code says how.
    exitCode: (ofRun) =>
      first !== undefined && (ofRun === EXIT.cancelled || ofRun === EXIT.drained) ? codeOf(first) : ofRun,
    stop: () => {
      for (const off of listeners) off();
    },
  };
}

function codeOf(signal: Signal): number {
  return signal === 'SIGINT' ? EXIT.cancelled : signal === 'SIGTERM' ? EXIT.drained : EXIT.hangup;
}
