import { describe, expect, it } from 'vitest';
import { createWakefulRead } from '../../src/engine/sandbox/wakeful-read.js';

const nothing = (): never => {
  throw Object.assign(new Error('nothing there'), { code: 'EAGAIN' });
};

/** A pipe on which each answer comes after so many ms; a look at it takes 0.1 ms. */
function open({ cores = 2, canSwitch = true } = {}) {
  let now = 0;
  let due = 0;
  let lookMs = 0.1;
  let blocking = true;
  const seen = { looks: 0, waits: 0 };
  const read = createWakefulRead({
    cores: () => cores,
    now: () => now,
    read() {
      seen.waits++;
      now = Math.max(now, due);
      return 1;
    },
    readNow() {
      seen.looks++;
      now += lookMs;
      return now < due ? nothing() : 1;
    },
    setBlocking(yes) {
      if (canSwitch) blocking = yes;
      return canSwitch;
    },
  });
  return {
    seen,
    isBlocking: () => blocking,
    /** Others have the core during each look. */
    crowd(ms: number) {
      lookMs = ms;
    },
    readAfter(ms: number) {
      due = now + ms;
      return read(Buffer.alloc(1));
    },
  };
}

describe('the sandbox, waiting for an answer', () => {
  it('sleeps for the first one, and stays awake where the one before was quick', () => {
    const pipe = open();
    expect(pipe.readAfter(0.2)).toBe(1);
    expect(pipe.seen).toEqual({ looks: 0, waits: 1 });
    expect(pipe.readAfter(0.35)).toBe(1);
    expect(pipe.seen).toEqual({ looks: 4, waits: 1 });
    expect(pipe.isBlocking()).toBe(true);
    // Errors that are made later have their stacks.
    expect(new Error('later').stack).toContain('\n    at ');
  });

  it('goes to sleep when it takes longer than that, and sleeps for the next one too', () => {
    const pipe = open();
    pipe.readAfter(0.2);
    expect(pipe.readAfter(50)).toBe(1);
    expect(pipe.seen.waits).toBe(2);
    expect(pipe.isBlocking()).toBe(true);
    const { looks } = pipe.seen;
    expect(looks).toBeLessThan(15);
    pipe.readAfter(0.2);
    expect(pipe.seen).toEqual({ looks, waits: 3 });
    pipe.readAfter(0.2);
    expect(pipe.seen.waits).toBe(3);
  });

  it('sleeps where others had the core between two looks, and tries again after some hundred answers', () => {
    const pipe = open();
    pipe.readAfter(0.2);
    pipe.crowd(20);
    // The answer is there when the core comes back.
    pipe.readAfter(0.2);
    expect(pipe.seen).toEqual({ looks: 1, waits: 1 });
    pipe.crowd(0.1);
    for (let i = 0; i < 100; i++) pipe.readAfter(0.2);
    expect(pipe.seen).toEqual({ looks: 1, waits: 101 });
    for (let i = 0; i < 400; i++) pipe.readAfter(0.2);
    expect(pipe.seen.looks).toBeGreaterThan(1);
    expect(pipe.seen.waits).toBeLessThan(500);
  });

  it('always sleeps with one core, and where a descriptor cannot be switched', () => {
    for (const pipe of [open({ cores: 1 }), open({ canSwitch: false })]) {
      for (let i = 0; i < 3; i++) expect(pipe.readAfter(0.1)).toBe(1);
      expect(pipe.seen).toEqual({ looks: 0, waits: 3 });
    }
  });

  it('leaves an error of the pipe to the read that waits', () => {
    let waits = 0;
    const read = createWakefulRead({
      cores: () => 2,
      now: () => 0,
      read: () => ++waits,
      readNow() {
        throw Object.assign(new Error('gone'), { code: 'ECONNRESET' });
      },
      setBlocking: () => true,
    });
    expect([read(Buffer.alloc(1)), read(Buffer.alloc(1))]).toEqual([1, 2]);
  });
});
