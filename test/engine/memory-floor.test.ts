/** The floor of free memory, on a clock and a memory that the test moves. */
import { expect, it } from 'vitest';
import { createMemoryFloor } from '../../src/engine/memory-floor.js';

it('B-138 memory is asked for at most every 100 ms, told once when it is short, and looked at again until there is more', () => {
  let now = 0;
  let freeMb = 900;
  let asked = 0;
  const timers: (() => void)[] = [];
  const told: string[] = [];
  let woken = 0;
  const floor = createMemoryFloor(1_000, {
    clock: {
      now: () => now,
      after(_ms, callback) {
        timers.push(callback);
        return () => void timers.splice(0);
      },
    },
    freeBytes: () => {
      asked++;
      return freeMb * 2 ** 20;
    },
    warn: (message) => told.push(message),
  });
  expect([floor.isShort(), floor.isShort(), asked]).toEqual([true, true, 1]);
  for (let i = 0; i < 3; i++) floor.lookAgain(() => woken++);
  expect(timers).toHaveLength(1);
  freeMb = 1_100;
  now = 99;
  expect(floor.isShort()).toBe(true);
  now = 100;
  for (const wake of timers.splice(0)) wake();
  expect([woken, floor.isShort(), asked]).toEqual([1, false, 2]);
  freeMb = 10;
  now = 200;
  expect(floor.isShort()).toBe(true);
  expect(told).toEqual([
    '900 MB of memory are free, below the 1000 MB of --min-free-mem: no further call starts while others run, until there is more.',
  ]);
  // A clock that was set back does not keep an old answer.
  freeMb = 5_000;
  now = -10_000;
  expect(floor.isShort()).toBe(false);
  floor.lookAgain(() => woken++);
  floor.close();
  expect(timers).toEqual([]);
});
