/** What a refusal says to do about faults that scripts really have: the remedy names the cause, not only the place. */
import { describe, expect, test } from 'vitest';
import { expectPlaceAt, META, refusalOf } from './scripts.js';

/** The fault is marked by ⟦…⟧ in the body, which is removed from the script. */
async function fault(body: string) {
  const marked = `${META}\n${body}`;
  const at = marked.indexOf('⟦');
  const error = await refusalOf(marked.replace(/[⟦⟧]/g, ''));
  const before = marked.slice(0, at).split('\n');
  expect(error.place).toMatchObject({ line: before.length, column: (before.at(-1) ?? '').length + 1 });
  return error;
}

describe('C018 what is still open where a statement begins', () => {
  const cases: Record<string, [body: string, remedy: string]> = {
    'a missing parenthesis on the line before': [
      'const rs = await parallel(files.map((f) => () => agent(f))\n⟦return⟧ rs',
      'The `(` of line 2 is still open here: is a `)` missing?',
    ],
    'an open ${ in a template': [
      'const p = `a ${1\n⟦return⟧ p`',
      'The `${` of line 2 is still open here: is a `}` missing?',
    ],
    'an array': ['const a = [\n  1, 2\n⟦const⟧ b = 1', 'The `[` of line 2 is still open here: is a `]` missing?'],
    'a brace closes what is a parenthesis': [
      'for (const f of args) {\n  await agent(f, { label: f }\n⟦}⟧',
      'The `(` of line 3 is still open here: is a `)` missing?',
    ],
    'one brace too many': [
      'for (const f of args) {\n  await agent(f)\n}\n⟦}⟧\nreturn 1',
      'It closes nothing: remove it, or find the `{` that is missing before it.',
    ],
  };
  for (const [what, [body, remedy]] of Object.entries(cases)) {
    test(what, async () => {
      expect((await fault(body)).remedy).toBe(remedy);
    });
  }
  test('in TypeScript too, where the wrapper would hide a brace too many', async () => {
    const open = await refusalOf(`${META}\nconst a: string[] = args.map((n: string) => n\nreturn a`, {
      language: 'ts',
    });
    expect(open).toMatchObject({ place: { line: 3, column: 1 }, remedy: expect.stringContaining('`(` of line 2') });
    const surplus = await refusalOf(`${META}\nif (args) {\n}\n}\nreturn 1 as number`, { language: 'ts' });
    expect(surplus).toMatchObject({ place: { line: 4, column: 1 }, remedy: expect.stringContaining('closes nothing') });
    expect(surplus.message).toBe("The script cannot be parsed: unexpected token '}'.");
  });
  test('a word in the wrong place is not blamed on the bracket around it', async () => {
    expect((await fault('const a = [\n  1 ⟦two⟧, 3\n]')).remedy).not.toMatch(/still open/);
  });
});

describe('C018 characters that are not what they seem', () => {
  test('a backslash in a text or a template', async () => {
    for (const body of ['return `⟦C⟧:\\users`', "return 'C:\\u⟦s⟧ers'"]) {
      const error = await fault(body);
      expect(error.message).toMatch(/bad (?:character )?escape sequence/);
      expect(error.remedy).toBe('Write `\\\\` for a backslash; in a template `String.raw` keeps it as it is.');
    }
  });
  test('a backtick inside a template', async () => {
    expect((await fault('return `Use `⟦git⟧ diff` for it`')).remedy).toBe(
      'A backtick inside a template ends it: write \\` there.',
    );
  });
  test('one that nobody sees is named by its number', async () => {
    const error = await fault('const a⟦\u200b⟧ = 1');
    expect(error.message).toBe('The script cannot be parsed: unexpected character U+200B, which is not visible.');
    expect(error.remedy).toBe('Remove it; it often comes along when text is copied from a page.');
    expect((await fault('const ⟦\u202e⟧a = 1')).message).toContain('U+202E');
    expect((await fault('const a = ⟦\u0000⟧1')).message).toContain('U+0000');
  });
});

describe('C002 what stands around the script', () => {
  test('a fence of Markdown', async () => {
    for (const source of [`\`\`\`js\n${META}\nreturn 1\n\`\`\`\n`, `\ufeff\n\`\`\`\n${META}\nreturn \`x\`\n\`\`\``]) {
      const error = await refusalOf(source);
      expect(error).toMatchObject({
        code: 'WF_SCRIPT_SYNTAX',
        message: 'The script stands in a fence of Markdown.',
        remedy: 'Remove the lines that begin with ```.',
      });
      expect(error.place).toMatchObject({ column: 1 });
    }
  });
  test('a missing semicolon, so that the next line belongs to meta', async () => {
    for (const next of ["(async () => { await agent('x') })()", '[1, 2].forEach((n) => log(n))', '`text`.split()']) {
      const source = `${META}\n${next}\nreturn 1`;
      const error = await refusalOf(source);
      expect(error.code).toBe('WF_SCRIPT_META');
      expect(error.message).toBe('meta does not end with its `}`: what follows is read as part of the same statement.');
      expect(error.remedy).toBe('End it with a semicolon: `};`.');
      expect(error.place).toMatchObject({ line: 1, column: META.length + 1 });
    }
  });
  test('a call around the literal is still named as one', async () => {
    const source = "export const meta = Object.freeze({ name: 'n', description: 'd' })";
    const error = await refusalOf(source);
    expect(error.message).toBe('meta must be an object literal, found a call.');
    expectPlaceAt(error, source, 'Object');
  });
});
