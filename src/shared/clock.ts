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

export const isoTime = (ms: number): string => new Date(ms).toISOString();
