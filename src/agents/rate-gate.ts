/**
 * One gate for all calls of a backend. After a "too many requests" its calls wait together until its time has come and
 * then start one shortly after the other; half as many as were under way may run at once, and each answer adds one.
 */
export interface RateGate {
  /** True when calls may start now, as far as the time goes. */
  isOpen(): boolean;
  /** Takes a place and tells the round, if one is free now; undefined: `wait`. Every place is given back by `leave`. */
  enter(): number | undefined;
  /** Resolves with the round when the caller has a place. Rejects when the signal aborts; then it has none. */
  wait(signal: AbortSignal): Promise<number>;
  /** @param answered an attempt that brought an answer widens the gate */
  leave(answered: boolean): void;
  /**
   * Keeps the gate shut for `ms` from now at least; a shorter hold never ends a longer one.
   *
   * @param round the one in which the refused attempt had started: refusals of one round narrow the gate once
   */
  hold(ms: number, round?: number): void;
}

export interface RateGateClock {
  /** Milliseconds that only grow. */
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The waiting calls are spread over this part of the hold, at most `MAX_SPREAD_MS`. */
const SPREAD = 0.1;
const MAX_SPREAD_MS = 2_000;

/** @param most calls at once without any refusal: from there on the gate does not count */
export function createRateGate(
  clock: RateGateClock,
  random: () => number = Math.random,
  most = Number.POSITIVE_INFINITY,
): RateGate {
  let opensAt = Number.NEGATIVE_INFINITY;
  let spreadMs = 0;
  let width = Number.POSITIVE_INFINITY;
  let inside = 0;
  let round = 0;
  /** Calls whose time has come, and that wait for a place. */
  const parked: (() => void)[] = [];

  const park = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const wake = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        parked.splice(parked.indexOf(wake), 1);
        reject(signal.reason);
      };
      parked.push(wake);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  const wakeParked = (): void => {
    for (let free = width - inside; free > 0 && parked.length > 0; free--) parked.shift()?.();
  };

  return {
    isOpen: () => clock.now() >= opensAt,
    enter() {
      if (width <= inside || parked.length > 0 || clock.now() < opensAt) return undefined;
      inside++;
      return round;
    },
    async wait(signal) {
      try {
        // It may be shut again, or the place taken, while a call waits.
        for (;;) {
          signal.throwIfAborted();
          const now = clock.now();
          if (now < opensAt) await clock.sleep(opensAt - now + random() * spreadMs, signal);
          else if (inside >= width) await park(signal);
          else break;
        }
      } catch (error) {
        // It may have been the one that was woken: another call takes its chance.
        wakeParked();
        throw error;
      }
      inside++;
      return round;
    },
    leave(answered) {
      inside--;
      if (answered && width < most) width++;
      if (width >= most) width = Number.POSITIVE_INFINITY;
      wakeParked();
    },
    hold(ms, startedIn = round) {
      if (startedIn === round) {
        // The refused attempt has left already.
        width = Math.max(1, Math.floor(Math.min(width, inside + 1) / 2));
        round++;
      }
      const until = clock.now() + ms;
      if (until <= opensAt) return;
      opensAt = until;
      spreadMs = Math.min(MAX_SPREAD_MS, ms * SPREAD);
    },
  };
}
