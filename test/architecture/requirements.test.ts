/** Each requirement of the product has a test that carries its ID in its name; what belongs to a later room has none to carry. */
import { expect, test } from 'vitest';
import { listFiles, readText } from './repository.js';

/** From the first to the last of a letter. */
const MUST_OR_SHOULD: Record<string, [number, number][]> = {
  J: [[1, 16]],
  R: [[1, 14]],
  P: [[1, 5]],
  C: [[1, 8]],
  // H20 is not ours.
  H: [[1, 19]],
  O: [[1, 9]],
  D: [[1, 6]],
  // The first three speak of declared effects, which are refused as not yet supported.
  X: [[4, 4]],
  // Metrics come with automatic resumption.
  M: [
    [3, 3],
    [6, 6],
  ],
};

const IDS = Object.entries(MUST_OR_SHOULD).flatMap(([letter, ranges]) =>
  ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => `${letter}${from + i}`)),
);

/** What stands where the name of a test or of a group begins, also on a line of its own. */
const TITLE = /(?:\b(?:it|test|describe)(?:\.\w+)?\(|\)\(|^\s*)['"`](.*)/gm;

test('each ID of the requirements stands in the name of a test', () => {
  const titles = listFiles()
    .filter((file) => /^test\/.*\.test\.ts$/.test(file) && !file.startsWith('test/architecture/'))
    .flatMap((file) => [...readText(file).matchAll(TITLE)].map((match) => match[1] as string));
  const proven = new Set(titles.flatMap((title) => title.match(/\b[A-Z]\d{1,2}\b/g) ?? []));
  expect(IDS.filter((id) => !proven.has(id))).toEqual([]);
});
