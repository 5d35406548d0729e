/** Limits that do not count what this process did not see, on a clock that the test moves. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startAwakeTimer } from '../../src/agents/standstill.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('B-150 after a standstill a sign of life gives the whole limit again', () => {
  let lost = 0;
  const fired: number[] = [];
  const gaps: number[] = [];
  const timer = startAwakeTimer(
    6_000,
    { lostMs: () => lost, close: () => {} },
    () => fired.push(performance.now()),
    (ms) => gaps.push(ms),
  );
  const start = performance.now();
  lost = 5_000;
  // Due after 6 s, of which 5 did not count: it waits for the rest.
  vi.advanceTimersByTime(6_000);
  expect([fired, gaps]).toEqual([[], [5_000]]);
  vi.advanceTimersByTime(4_500);
  timer.refresh();
  vi.advanceTimersByTime(5_900);
  expect(fired).toEqual([]);
  vi.advanceTimersByTime(200);
  expect(fired).toHaveLength(1);
  expect((fired[0] as number) - start).toBeCloseTo(16_500, -2);
  timer.stop();
});
