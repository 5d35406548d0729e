/** Which recorded answer a call gets: by the rules read word for word, and with very many equal prompts. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { IndexRow, TimerRow } from '../../src/engine/sandbox/frames.js';
import { createReplayIndex, type RecordedAnswer } from '../../src/engine/sandbox/replay-index.js';
import { keyOf } from '../journal/support/arbitraries.js';
import { testSeed } from '../support/seeds.js';

const row = (kept: number, key: string, path: string, nth: number): IndexRow => [kept, key, path, nth, 1, 1];

/** Looks at every row each time. Answers are told by their `kept`. */
function readRules(rows: readonly IndexRow[]) {
  const used = new Set<number>();
  const take = (found: IndexRow | undefined): number | undefined => {
    if (found !== undefined) used.add(found[0]);
    return found?.[0];
  };
  return {
    release: (kept: number) => used.delete(kept),
    own(key: string, path: string, nth: number): number | undefined {
      const line = rows.find((one) => one[1] === key && one[2] === path && one[3] === nth);
      return line === undefined || used.has(line[0]) ? undefined : take(line);
    },
    any(key: string, path: string): number | undefined {
      const unused = rows.filter((one) => one[1] === key && !used.has(one[0]));
      return take(unused.find((one) => one[2] === path) ?? unused[0]);
    },
  };
}

it('J13 a call takes its own line, else an unused answer of its key: same path first, then the oldest', () => {
  const key = fc.constantFrom('k1', 'k2');
  const path = fc.constantFrom('', '0', '1', '2');
  const nth = fc.nat(3);
  // `end`: what was taken last is given back, as its workflow ended before it was delivered.
  const asked = fc.record({ own: fc.boolean(), key, path, nth, end: fc.boolean() });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(key, path, nth), { maxLength: 30 }),
      fc.array(asked, { maxLength: 60 }),
      (places, calls) => {
        const rows = places.map((place, i) => row(i + 1, ...place));
        const index = createReplayIndex(rows, []);
        const rules = readRules(rows);
        for (const call of calls) {
          const taken = call.own
            ? index.takeOwn(index.placeOf(call.key, call.path), call.nth)
            : index.takeAny(call.key, call.path);
          expect(taken?.kept).toBe(
            call.own ? rules.own(call.key, call.path, call.nth) : rules.any(call.key, call.path),
          );
          if (taken === undefined || !call.end) continue;
          index.release(taken);
          rules.release(taken.kept);
        }
      },
    ),
    { seed: testSeed(), numRuns: 500 },
  );
});

/** Keys as they are, and paths that look like one, or like the beginning and the end of one. */
const KEYS = [keyOf('a'), keyOf('b')];
const PATHS = ['', '0', '1', KEYS[0] as string, (KEYS[1] as string).slice(0, 32), `0${KEYS[1]}`];

/** What a workflow does: it asks, comes to a rest, or ends with what it was not given yet. */
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ further: fc.constantFrom(1, 1, 1, 1, 2, 3, 0) }) },
  { weight: 3, arbitrary: fc.record({ key: fc.constantFrom(...KEYS), path: fc.constantFrom(...PATHS) }) },
  { weight: 1, arbitrary: fc.constant('rest' as const) },
  { weight: 1, arbitrary: fc.constant('end' as const) },
);

it('J13 calls near the recorded order, with gaps, duplicates and paths like keys, are counted and answered by the rules', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom(...PATHS), fc.constantFrom(0, 0, 0, 1, 2, 4)), {
        maxLength: 40,
      }),
      fc.array(step, { maxLength: 120 }),
      fc.boolean(),
      (places, steps, prefix) => {
        const rows = places.map((place, i) => row(i + 1, ...place));
        const index = createReplayIndex(rows, []);
        const rules = readRules(rows);
        const counts = new Map<string, number>();
        const waiting: { key: string; path: string }[] = [];
        let undelivered: RecordedAnswer[] = [];
        let at = -1;
        const take = (taken: RecordedAnswer | undefined, expected: number | undefined): boolean => {
          expect(taken?.kept).toBe(expected);
          if (taken !== undefined) undelivered.push(taken);
          return taken !== undefined;
        };
        for (const one of steps) {
          if (one === 'end') {
            for (const answer of undelivered) {
              index.release(answer);
              rules.release(answer.kept);
            }
            undelivered = [];
          } else if (one === 'rest') {
            for (const { key, path } of waiting.splice(0)) {
              if (!take(index.takeAny(key, path), rules.any(key, path))) waiting.push({ key, path });
            }
            undelivered = [];
          } else {
            // The recorded order, or a row further on or back.
            if ('further' in one) at += one.further;
            const [key, path] = 'further' in one ? (places[at] ?? ['none', '']) : [one.key, one.path];
            const place = index.placeOf(key, path);
            const nth = place.calls++;
            const id = JSON.stringify([key, path]);
            expect(nth).toBe(counts.get(id) ?? 0);
            counts.set(id, nth + 1);
            const own = take(index.takeOwn(place, nth), rules.own(key, path, nth));
            if (own) continue;
            if (!prefix) waiting.push({ key, path });
            else take(index.takeAny(key, path), rules.any(key, path));
          }
        }
      },
    ),
    { seed: testSeed(), numRuns: 1000 },
  );
});

it('a timer fires where it was recorded once, by workflow, number and time', () => {
  const timers: TimerRow[] = [
    [3, 0, 50, ''],
    [5, 1, 50, ''],
    [7, 0, 50, '1'],
  ];
  const { takeTimer } = createReplayIndex([], timers);
  expect(takeTimer('', 0, 51)).toBeUndefined();
  expect(takeTimer('1', 1, 50)).toBeUndefined();
  expect(['', '', '1'].map((path, i) => takeTimer(path, i === 1 ? 1 : 0, 50))).toEqual([3, 5, 7]);
  expect(takeTimer('', 0, 50)).toBeUndefined();
});

it('B-037 200,000 equal prompts each get their own answer in one pass, asked in their order or from behind', {
  timeout: 20_000,
}, () => {
  const count = 200_000;
  const [key = ''] = KEYS;
  for (const nthOf of [(i: number) => i, (i: number) => count - 1 - i]) {
    const index = createReplayIndex(
      Array.from({ length: count }, (_, i) => row(i + 1, key, '', nthOf(i))),
      [],
    );
    const right = Array.from({ length: count }, (_, nth) => {
      const place = index.placeOf(key, '');
      return index.takeOwn(place, place.calls++)?.kept === nthOf(nth) + 1;
    });
    expect(right.every(Boolean)).toBe(true);
    const place = index.placeOf(key, '');
    expect([place.calls, index.takeOwn(place, place.calls)]).toEqual([count, undefined]);
  }
});

it('B-037 200,000 equal prompts are matched in one pass', { timeout: 20_000 }, () => {
  const count = 200_000;
  const index = createReplayIndex(
    Array.from({ length: count }, (_, i) => row(i + 1, 'key', String(i % 2), i >> 1)),
    [],
  );
  // Of the same path first, then of the other, then none.
  const taken = Array.from({ length: count }, () => index.takeAny('key', '1')?.kept);
  expect(taken.every((kept, i) => kept === (i < count / 2 ? 2 * i + 2 : 2 * (i - count / 2) + 1))).toBe(true);
  expect(index.takeAny('key', '1')).toBeUndefined();
});
