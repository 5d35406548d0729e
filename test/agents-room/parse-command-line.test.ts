import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCommandLine } from '../../src/agents/command/parse-command-line.js';
import { testSeed } from '../support/seeds.js';

test.each<[string, string[]]>([
  ['claude -p', ['claude', '-p']],
  ['  a\t b\nc  ', ['a', 'b', 'c']],
  [`a 'b c' "d e"`, ['a', 'b c', 'd e']],
  [`a '' ""`, ['a', '', '']],
  [`a'b'"c"d`, ['abcd']],
  ['a\\ b \\"', ['a b', '"']],
  [`'a\\b'`, ['a\\b']],
  [`"a\\b \\\\ \\" \\$x \\\`"`, ['a\\b \\ " $x `']],
  ['a\\\nb', ['ab']],
  ['$HOME *.js ~ `id` $(id) | x > y # z', ['$HOME', '*.js', '~', '`id`', '$(id)', '|', 'x', '>', 'y', '#', 'z']],
  ['["my agent", "--flag", ""]', ['my agent', '--flag', '']],
  ['[ -f x ]', ['[', '-f', 'x', ']']],
])('%j', (text, argv) => {
  expect(parseCommandLine(text)).toEqual(argv);
});

test.each(['', '   ', `''`, `a 'b`, `a "b`, 'a\\', '["a", 1]', '["a"', '[]', 'a\0b', '["a\\u0000"]'])(
  '%j is refused in words',
  (text) => {
    expect(() => parseCommandLine(text)).toThrow(
      expect.objectContaining({ code: 'WF_BACKEND_CONFIG', remedy: expect.any(String) }),
    );
  },
);

test('words are those of sh', { timeout: 60_000 }, () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    ' ',
    '\t',
    "'",
    '"',
    '\\',
    '\\n',
    '\n',
    'é',
    '=',
    '-',
    "'a b'",
    '"c d"',
    '\\ ',
    '\\"',
    "\\'",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = `x${pieces.join('')}`;
      let ours: string[] | undefined;
      try {
        ours = parseCommandLine(text);
      } catch {
        ours = undefined;
      }
      let theirs: string[] | undefined;
      try {
        // A line end parts commands for sh and words for us.
        const script = `printf '%s\\0' ${joinLines(text)}`;
        theirs = execFileSync('sh', ['-c', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
          .split('\0')
          .slice(0, -1);
      } catch {
        theirs = undefined;
      }
      // sh lets a trailing backslash stand; a person who writes one has lost a word.
      if (ours === undefined && theirs?.at(-1)?.endsWith('\\')) return;
      expect(ours).toEqual(theirs);
    }),
    { numRuns: 300, seed: testSeed() },
  );
});

/** Line ends outside of quotes as blanks. */
function joinLines(text: string): string {
  return text.replace(/\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\n/g, (part) => (part === '\n' ? ' ' : part));
}
