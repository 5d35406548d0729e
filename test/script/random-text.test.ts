import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkScript } from '../../src/script/check-script.js';
import { codeFrame, splitLines } from '../../src/script/code-frame.js';
import { loadScript } from '../../src/script/load-script.js';
import { peekMeta } from '../../src/script/peek-meta.js';
import { WfError } from '../../src/shared/errors.js';
import { testSeed } from '../support/seeds.js';
import { META } from './scripts.js';

const seed = testSeed();

/** Pieces that stand where a parser, a scanner or a wrapper might go wrong. */
const PIECES = [
  META,
  ...'\n|\r\n|\u2028|\ufeff|#!|;|{|}|(|)|[|]|`|${|\'|"|/*|*/|//|<!--|-->|/|\\|=>|...|?.|<|>|:|,|=|é|日本|🙂|\t'.split(
    '|',
  ),
  ...'export|const|meta|import|type|from|default|await|async|function|class|return|let|enum|namespace|as|of|for|if|new'
    .split('|')
    .map((word) => ` ${word} `),
  ...'Date.now()|Math.random()|new Date|import.meta|import("x")|agent("x")|parallel([agent("y")])|x|1|"a"|{ a: 1 }|<T>|@d'.split(
    '|',
  ),
  "name: 'a'",
  "description: 'b'",
  '__proto__: 1',
  '}); x; (async function(){',
];

const scripts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 25 }).map((parts) => parts.join('')),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 15 }).map((parts) => `${META}\n${parts.join('')}`),
);

function expectGoodPlaces(error: WfError, source: string): void {
  const lines = splitLines(source.replace(/^\ufeff/, ''));
  for (const { code, message, place } of [error, ...error.others]) {
    expect(code).toMatch(/^WF_SCRIPT_(SIZE|SYNTAX|META|MODULE|DETERMINISM)$/);
    expect(message).toMatch(/\S.*\.$/s);
    if (place?.line === undefined) continue;
    const line = lines[place.line - 1];
    expect(line).toBeDefined();
    expect(place.column).toBeGreaterThanOrEqual(1);
    expect(place.column).toBeLessThanOrEqual((line as string).length + 1);
    expect(place.frame).toContain('^');
  }
}

for (const language of ['js', 'ts'] as const) {
  test(`whatever the text, loading gives a script or a WfError with a place in it (${language})`, async () => {
    await fc.assert(
      fc.asyncProperty(scripts, async (source) => {
        try {
          const script = await loadScript(source, { filename: 'random', language });
          expect(script.code.split('\n').length).toBe(script.source.split('\n').length + 1);
        } catch (error) {
          if (!WfError.is(error)) throw error;
          expectGoodPlaces(error, source);
        }
      }),
      { seed, numRuns: 600 },
    );
  });

  test(`checking never throws, agrees with loading, and sorts by place (${language})`, async () => {
    await fc.assert(
      fc.asyncProperty(scripts, async (source) => {
        const faults = await checkScript(source, { filename: 'random', language, agentTypes: [], workflows: [] });
        const loads = await loadScript(source, { filename: 'random', language }).then(
          () => true,
          () => false,
        );
        expect(faults.some(({ code }) => /^WF_SCRIPT_/.test(code))).toBe(!loads);
        const places = faults.map(({ line, column }) => line * 1e6 + column);
        expect(places).toEqual([...places].sort((a, b) => a - b));
      }),
      { seed, numRuns: 250 },
    );
  });
}

test('a script that loads has a meta that a look at its head finds too', async () => {
  await fc.assert(
    fc.asyncProperty(scripts, async (source) => {
      const script = await loadScript(source, { filename: 'random.js' }).catch(() => undefined);
      if (script) expect(peekMeta(source)).toEqual(script.meta);
      else expect(peekMeta(source)).toBeDefined();
    }),
    { seed, numRuns: 400 },
  );
});

test('a code frame of anything has one mark and no control characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer(), fc.integer(), fc.nat(5), (text, line, column, context) => {
      const frame = codeFrame(text, line, column, { context });
      expect(frame.split('\n').filter((row) => /^ +\| +\^$/.test(row)).length).toBeGreaterThanOrEqual(1);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
      expect(frame).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
      expect(frame.isWellFormed()).toBe(true);
    }),
    { seed, numRuns: 500 },
  );
});
