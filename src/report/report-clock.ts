/** The time as reporters see it; tests hand in their own. */
export interface ReportClock {
  /** Milliseconds since 1970. May jump. */
  now(): number;
  /** Milliseconds from any start; only grows. */
  monotonic(): number;
  /** Calls `tick` every `ms` milliseconds until the returned function is called. Must not keep the process alive. */
  every(ms: number, tick: () => void): () => void;
}

export const systemReportClock: ReportClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  every(ms, tick) {
    const timer = setInterval(tick, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
};
