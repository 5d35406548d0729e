/** Which recorded answer a call gets: by the rules read word for word, and with very many equal prompts. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { IndexRow } from '../../src/engine/sandbox/frames.js';
import { createReplayIndex } from '../../src/engine/sandbox/replay-index.js';
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
