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

/** The times of the last two texts: a line tells when its call began and when it ended. */
let newer = { ms: Number.NaN, text: '' };
let older = newer;

/** ISO 8601 UTC. Many events share a millisecond, and the text costs more than the look. */
export function isoTime(ms: number): string {
  if (ms === newer.ms) return newer.text;
  const found = ms === older.ms ? older : { ms, text: new Date(ms).toISOString() };
  older = newer;
  newer = found;
  return found.text;
}
