/**
 * Random choices that can be made again. The seed of a test run is printed at its start and set by `WF_TEST_SEED`;
 * without it, it is always the same, so that a test run is too.
 */
import { inject } from 'vitest';

export const DEFAULT_SEED = 20_261_130;

export const testSeed = (): number => inject('seed');

/** How many times as many seeds a soak takes as CI does. */
const SOAK = Number(process.env.WF_SOAK ?? 1);

/** `count` seeds in sequence from that of the test run; name the one at hand in the test's name or its assertions. */
export const testSeeds = (count: number): number[] => Array.from({ length: count * SOAK }, (_, i) => testSeed() + i);

/** Numbers in [0, 1) that depend on the seed alone (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The items in an order that depends on the seed alone. */
export function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const random = seededRandom(seed);
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
