import type { ReportClock } from '../../src/report/report-clock.js';

/** A clock that moves only when told; `wallJump` moves the wall time alone. */
export function makeFakeClock(start = Date.UTC(2026, 0, 2, 12, 0, 0)): ReportClock & {
  advance(ms: number): void;
  wallJump(ms: number): void;
  timers(): number;
} {
  let elapsed = 0;
  let jumped = 0;
  const ticks = new Set<{ ms: number; due: number; tick: () => void }>();
  return {
    now: () => start + elapsed + jumped,
    monotonic: () => elapsed,
    every(ms, tick) {
      const entry = { ms, due: elapsed + ms, tick };
      ticks.add(entry);
      return () => ticks.delete(entry);
    },
    advance(ms) {
      const end = elapsed + ms;
      for (;;) {
        const next = [...ticks].filter((entry) => entry.due <= end).sort((a, b) => a.due - b.due)[0];
        if (!next) break;
        elapsed = next.due;
        next.due += next.ms;
        next.tick();
      }
      elapsed = end;
    },
    wallJump(ms) {
      jumped += ms;
    },
    timers: () => ticks.size,
  };
}
