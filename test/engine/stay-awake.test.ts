import { describe, expect, it } from 'vitest';
import { createWakefulness } from '../../src/engine/stay-awake.js';

/** An event loop whose turns and time pass when they are told to. */
function open(cores = 2) {
  let now = 1;
  let due: (() => void)[] = [];
  const wakefulness = createWakefulness({ cores, now: () => now, soon: (callback) => due.push(callback) });
  return {
    ...wakefulness,
    isAwake: () => due.length > 0,
    pass(ms: number) {
      now += ms;
      const callbacks = due;
      due = [];
      for (const callback of callbacks) callback();
    },
  };
}

const quick = (loop: ReturnType<typeof open>): void => {
  loop.sent();
  loop.pass(0.1);
  loop.received();
  loop.pass(0);
};

describe('after an answer', () => {
  it('a process stays awake while a reply is due, where the one before was quick', () => {
    const loop = open();
    quick(loop);
    loop.sent();
    expect(loop.isAwake()).toBe(true);
    loop.pass(0.1);
    expect(loop.isAwake()).toBe(true);
    loop.received();
    loop.pass(0);
    expect(loop.isAwake()).toBe(false);
  });

  it('it goes to sleep when the reply takes longer than that, and does not stay awake the next time', () => {
    const loop = open();
    quick(loop);
    loop.sent();
    loop.pass(5);
    expect(loop.isAwake()).toBe(false);
    loop.received();
    loop.sent();
    expect(loop.isAwake()).toBe(false);
    loop.received();
    quick(loop);
    loop.sent();
    expect(loop.isAwake()).toBe(true);
  });

  it('the first one, and any on a machine with one core, is slept for', () => {
    const first = open();
    first.sent();
    expect(first.isAwake()).toBe(false);
    const alone = open(1);
    quick(alone);
    alone.sent();
    expect(alone.isAwake()).toBe(false);
  });

  // Also after a machine was asleep.
  it.each([20, 3_600_000])(
    'it sleeps where others had the core between two looks for %d ms, and tries again after some hundred answers',
    (ms) => {
      const loop = open();
      quick(loop);
      // Looks at once, and finds that others worked meanwhile.
      loop.sent();
      loop.pass(0.1);
      loop.pass(ms);
      loop.received();
      quick(loop);
      loop.sent();
      expect(loop.isAwake()).toBe(false);
      loop.received();
      let slept = 0;
      for (;;) {
        loop.sent();
        if (loop.isAwake()) break;
        slept++;
        loop.received();
      }
      expect(slept).toBeGreaterThan(100);
      expect(slept).toBeLessThan(500);
    },
  );

  it('its own work between an answer and the first look, and what it sleeps for, are no loss', () => {
    const loop = open();
    quick(loop);
    for (let i = 0; i < 50; i++) {
      loop.sent();
      expect(loop.isAwake()).toBe(true);
      loop.pass(0.9);
      loop.received();
      loop.pass(30);
      loop.sent();
      loop.pass(0.1);
      loop.pass(0.4);
      loop.pass(0.5);
      // Asleep by now: the answer takes its time.
      loop.pass(100);
      loop.received();
      quick(loop);
    }
  });
});
