/** Time as the engine sees it, so that tests can hold it still. */
export interface Clock {
  /** ms since 1970 UTC. */
  now(): number;
  /** Calls back after `ms`; the returned function calls it off. */
  after(ms: number, callback: () => void): () => void;
}

export const realClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
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
