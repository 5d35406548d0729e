/** The two ends of the window of recorded answers together: whatever a replay asks for, and however little of it, it gets. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnswerFeeder } from '../../src/engine/answer-feeder.js';
import { createAnswerWindow } from '../../src/engine/sandbox/answer-window.js';
import type { DownHead } from '../../src/engine/sandbox/frames.js';
import type { CarriedLines, KeptResult } from '../../src/journal/carry.js';
import { testSeed } from '../support/seeds.js';

const KB = 1 << 10;
const WINDOW = 4 << 20;

/** Places have gaps, as those of timers and scripts lie between; texts are as long as they are told to be, in bytes. */
const placeOf = (i: number): number => 3 * i + 2;
const textOf = (i: number, bytes: number): string => `"${i} — 💶"`.padEnd(bytes - 5, 'x');

/** A replay whose pipe holds what was sent until the sandbox reads it. */
function openReplay(sizes: readonly number[], unreadable = -1) {
  const pipe: { head: Extract<DownHead, { t: 'answers' }>; body: Buffer }[] = [];
  const told: number[] = [];
  const seen = { needs: 0, most: 0, sent: [] as number[], unreadable: 0 };
  /** What was sent and neither taken nor given up. */
  const held = new Map<number, number>();
  const feeder = createAnswerFeeder(
    {
      readOutput({ kept }: KeptResult) {
        const i = (kept - 2) / 3;
        if (i === unreadable) throw new Error('gone');
        return Buffer.from(textOf(i, sizes[i] as number));
      },
    } as CarriedLines,
    sizes.map((_, i) => ({ kept: placeOf(i) }) as KeptResult),
    {
      send(head, body) {
        if (head.t !== 'answers') throw new Error(`not an answer: ${head.t}`);
        if (head.reset) held.clear();
        for (const [kept, bytes] of head.items) {
          held.set(kept, bytes);
          seen.sent.push(kept);
        }
        seen.most = Math.max(
          seen.most,
          [...held.values()].reduce((sum, bytes) => sum + bytes, 0),
        );
        pipe.push({ head, body });
      },
      onUnreadable: () => seen.unreadable++,
    },
  );
  const tell = (): void => {
    for (const kept of told.splice(0)) feeder.delivered(kept);
  };
  const read = (): void => {
    const { head, body } = pipe.shift() as (typeof pipe)[number];
    window.receive(head.items, body, head.reset);
  };
  const window = createAnswerWindow((kept) => {
    // What was delivered is told before anything is asked for.
    tell();
    if (kept >= 0) {
      seen.needs++;
      feeder.need(kept);
    }
    if (pipe.length === 0) return false;
    read();
    return true;
  });
  feeder.feed();
  return {
    seen,
    pipe,
    tell,
    take(i: number, delivers = true): string {
      const text = window.take(placeOf(i));
      held.delete(placeOf(i));
      if (delivers) told.push(placeOf(i));
      return text;
    },
    read: () => pipe.length > 0 && read(),
  };
}

describe('recorded answers on their way to the sandbox', () => {
  it('come whole and once, in any order and with any left out, and never much more than the window holds', () => {
    const step = fc.record({ take: fc.nat(1000), delivers: fc.integer({ max: 9, min: 0 }), after: fc.nat(5) });
    const sizes = fc.array(fc.constantFrom(30, 70 * KB, 400 * KB, 1500 * KB), {
      minLength: 1,
      maxLength: 40,
      size: 'max',
    });
    fc.assert(
      fc.property(sizes, fc.array(step, { maxLength: 40, size: 'max' }), fc.boolean(), (bytes, steps, inOrder) => {
        const replay = openReplay(bytes);
        const left = bytes.map((_, i) => i);
        for (const { take, delivers, after } of steps) {
          if (left.length === 0) break;
          // In order: some are passed over for good. Else: any that is left.
          const at = inOrder ? Math.min(take % 8, left.length - 1) : take % left.length;
          const [i] = left.splice(inOrder ? 0 : at, inOrder ? at + 1 : 1).slice(-1) as [number];
          // One in ten does not fit its call: it is taken, and nothing is told of it.
          expect(replay.take(i, delivers > 0) === textOf(i, bytes[i] as number)).toBe(true);
          if (after === 0) replay.tell();
          if (after === 1) replay.read();
        }
        expect(replay.seen.most).toBeLessThan(WINDOW + 2 * Math.max(...bytes));
      }),
      { seed: testSeed(), numRuns: 40 },
    );
  });

  it('in recorded order each is read once and nothing has to be asked for, however long the journal', () => {
    const sizes = Array.from({ length: 60 }, (_, i) => (i % 4 === 0 ? 700 * KB : 40 * KB));
    const replay = openReplay(sizes);
    for (const i of sizes.keys()) {
      while (replay.read());
      expect(replay.take(i) === textOf(i, sizes[i] as number)).toBe(true);
      replay.tell();
    }
    expect(replay.seen).toMatchObject({ needs: 0, sent: sizes.map((_, i) => placeOf(i)) });
  });

  it('many that nobody asks for do not stop those behind them, and what was given up for those comes when it is asked for', () => {
    const sizes = Array<number>(40).fill(500 * KB);
    const replay = openReplay(sizes);
    const order = [20, 23, 21, 39, 5, 4, 22, 0];
    for (const i of order) expect(replay.take(i) === textOf(i, 500 * KB)).toBe(true);
    expect(replay.seen.most).toBeLessThan(WINDOW + 2 * 500 * KB);
    // One by one: a window of its own for each would read most of the journal again.
    expect(replay.seen.sent.slice(-5)).toEqual([39, 5, 4, 22, 0].map(placeOf));
  });

  it('what still fits beside those that nobody asks for is added to them, and none is sent twice', () => {
    // The first six stay; the three behind them fill the window, and are not enough for it to be filled up by itself.
    const replay = openReplay([...Array<number>(6).fill(500 * KB), ...Array<number>(6).fill(400 * KB)]);
    for (const i of [6, 7, 8, 9, 10, 11]) {
      replay.take(i);
      replay.tell();
    }
    for (const i of [0, 1, 2, 3, 4, 5]) replay.take(i);
    expect(replay.seen.sent).toEqual(Array.from({ length: 12 }, (_, i) => placeOf(i)));
  });

  it('one that was taken is not kept in the sandbox', () => {
    const replay = openReplay([30, 30]);
    replay.take(0, false);
    expect(() => replay.take(0, false)).toThrow('the supervisor has gone');
  });

  it('one that cannot be read any more is told once, and nothing is sent behind it', () => {
    const replay = openReplay(Array<number>(30).fill(500 * KB), 12);
    for (let i = 0; i < 12; i++) replay.take(i);
    expect(() => replay.take(12)).toThrow('the supervisor has gone');
    expect(() => replay.take(20)).toThrow('the supervisor has gone');
    expect(replay.seen.unreadable).toBe(1);
    expect(replay.seen.sent).toEqual(Array.from({ length: 12 }, (_, i) => placeOf(i)));
  });
});
