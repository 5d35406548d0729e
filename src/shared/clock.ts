/** Time as the engine sees it, so that tests can hold it still. */
export interface Clock {
  /** ms since 1970 UTC. */
  now(): number;
  /** Calls back after `ms`; the returned function calls it off. */
  after(ms: number, callback: () => void): () => void;
}

/** Longer than that Node takes a timer for one of 1 ms. */
const MAX_TIMER_MS = 2_147_483_647;

export const realClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

let lastMs = Number.NaN;
let lastText = '';

/** ISO 8601 UTC. Many events share a millisecond, and the text costs more than the look. */
export function isoTime(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms;
    lastText = new Date(ms).toISOString();
  }
  return lastText;
}
