import { Writable } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFrameQueue } from '../../src/engine/frame-queue.js';
import { testSeed } from '../support/seeds.js';

/** A pipe whose other side takes what it has when it is told to. */
function openPipe() {
  const taken: Buffer[] = [];
  let done: (() => void) | undefined;
  const pipe = new Writable({
    highWaterMark: 16,
    write(chunk: Buffer, _encoding, callback) {
      taken.push(chunk);
      done = callback;
    },
  });
  const take = async (): Promise<void> => {
    const callback = done;
    done = undefined;
    callback?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { pipe, taken, take };
}

const frame = (bytes: number, fill = 'x'): Buffer => Buffer.alloc(bytes, fill);

it('what waits grows less with each frame that is taken, and whoever asked is told each time', async () => {
  const { pipe, take } = openPipe();
  const queue = createFrameQueue(pipe);
  for (let i = 0; i < 4; i++) queue.write(frame(100));
  const waiting = [queue.waitingBytes];
  const look = (): void => {
    waiting.push(queue.waitingBytes);
    if (queue.waitingBytes > 0) queue.afterDrain(look);
  };
  queue.afterDrain(look);
  for (let i = 0; i < 4; i++) await take();
  expect(waiting).toEqual([400, 300, 200, 100, 0]);
});

it('a pipe that is gone holds nothing, takes nothing, and calls nobody back', async () => {
  const { pipe } = openPipe();
  const queue = createFrameQueue(pipe);
  queue.write(frame(100));
  queue.write(frame(100));
  let calls = 0;
  queue.afterDrain(() => calls++);
  pipe.destroy();
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
  queue.write(frame(100));
  queue.afterDrain(() => calls++);
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
  expect([queue.waitingBytes, calls]).toEqual([0, 0]);
});

it('calls back soon when nothing waits', async () => {
  const queue = createFrameQueue(openPipe().pipe);
  await new Promise<void>((resolve) => queue.afterDrain(resolve));
});

it('frames of any size arrive whole and in order, however slowly they are taken', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 20 }), async (lengths, pauses) => {
      const { pipe, taken, take } = openPipe();
      const queue = createFrameQueue(pipe);
      const frames = lengths.map((length, i) => frame(length, String.fromCharCode(97 + i)));
      for (const [i, one] of frames.entries()) {
        queue.write(one);
        for (let n = pauses[i] ?? 0; n > 0; n--) await take();
      }
      while (queue.waitingBytes > 0) await take();
      expect(Buffer.concat(taken)).toEqual(Buffer.concat(frames));
    }),
    { seed: testSeed(), numRuns: 200 },
  );
});
