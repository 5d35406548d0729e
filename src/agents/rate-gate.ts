/**
 * One gate for all calls of a backend: after a "too many requests" they wait together until its time has come, and then
 * start one shortly after the other.
 */
export interface RateGate {
  /** True when calls may start now. */
  isOpen(): boolean;
  /** Keeps the gate shut for `ms` from now at least; a shorter hold never ends a longer one. */
  hold(ms: number): void;
  /** Resolves when the caller may start. Rejects when the signal aborts. */
  wait(signal: AbortSignal): Promise<void>;
}

export interface RateGateClock {
  /** Milliseconds that only grow. */
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The waiting calls are spread over this part of the hold, at most `MAX_SPREAD_MS`. */
const SPREAD = 0.1;
const MAX_SPREAD_MS = 2_000;

export function createRateGate(clock: RateGateClock, random: () => number = Math.random): RateGate {
  let opensAt = Number.NEGATIVE_INFINITY;
  let spreadMs = 0;
  return {
    isOpen: () => clock.now() >= opensAt,
    hold(ms) {
      const until = clock.now() + ms;
      if (until <= opensAt) return;
      opensAt = until;
      spreadMs = Math.min(MAX_SPREAD_MS, ms * SPREAD);
    },
    async wait(signal) {
      // It may be shut again while a call waits.
      for (let now = clock.now(); now < opensAt; now = clock.now()) {
        await clock.sleep(opensAt - now + random() * spreadMs, signal);
      }
    },
  };
}
