/** Form of the source files. */
import { describe, expect, it } from 'vitest';
import { linesWith, listFiles, readText, sourceFiles, withoutComments } from './repository.js';

const HARD_LIMIT = 400;
const SOFT_LIMIT = 250;

const code = listFiles().filter((file) => /^(src|test|scripts|bench)\/.*\.(ts|mjs)$/.test(file));
const sources = sourceFiles();
const lineCount = (file: string): number => readText(file).trimEnd().split('\n').length;

describe('source files', () => {
  it(`have at most ${HARD_LIMIT} lines, and above ${SOFT_LIMIT} say why`, () => {
    const long = sources.map((file) => ({ file, lines: lineCount(file) })).filter(({ lines }) => lines > SOFT_LIMIT);
    // "Long because …" in the comment at the file's head.
    const unexplained = long.filter(
      ({ file, lines }) =>
        lines > HARD_LIMIT || !/long because/i.test(readText(file).split('\n').slice(0, 15).join('\n')),
    );
    expect(unexplained.map(({ file, lines }) => `${file}: ${lines} lines`)).toEqual([]);
  });

  it('are small as a rule: half of them have at most 100 lines', () => {
    const counts = sources.map(lineCount).sort((a, b) => a - b);
    expect(counts[Math.floor(counts.length / 2)]).toBeLessThanOrEqual(100);
  });

  it('are named in kebab case', () => {
    const wrong = code.filter(
      (file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*\.(ts|mjs)$/.test(file.split('/').at(-1) ?? ''),
    );
    expect(wrong).toEqual([]);
  });

  it('have named exports only', () => {
    const wrong = sources.filter((file) => /^export default\b|\bas default\b/m.test(withoutComments(readText(file))));
    expect(wrong).toEqual([]);
  });

  it('hold no leftovers: no marks of unfinished work, no silenced checks', () => {
    const marks = new RegExp(['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', '@ts-' + 'ignore', '@ts-' + 'nocheck'].join('|'));
    const found = sources.flatMap((file) =>
      linesWith(readText(file), new RegExp(`\\b(${marks.source})\\b`)).map((line) => `${file}:${line}`),
    );
    expect(found).toEqual([]);
  });
});

describe('tests', () => {
  const tests = code.filter((file) => file.endsWith('.test.ts'));

  it('are skipped only inside, with a reason', () => {
    // `context.skip('why')` inside a test gives a reason, which the run prints; these forms give none.
    const silent = new RegExp(
      `\\b(it|test|describe|suite)\\.(${['sk' + 'ip', 'sk' + 'ipIf', 'run' + 'If', 'to' + 'do', 'on' + 'ly'].join('|')})\\b`,
    );
    const found = tests.flatMap((file) => linesWith(readText(file), silent).map((line) => `${file}:${line}`));
    expect(found).toEqual([]);
  });
});
