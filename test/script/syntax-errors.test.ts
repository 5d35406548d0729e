import { describe, expect, test } from 'vitest';
import { expectPlaceAt, META, refusalOf, runCode } from './scripts.js';
import { loadScript } from '../../src/script/load-script.js';

/** The fault is marked by ⟦…⟧ in the body, which is removed from the script. */
async function fault(body: string) {
  const marked = `// comment\n${META}\n${body}`;
  const at = marked.indexOf('⟦');
  const source = marked.replace(/[⟦⟧]/g, '');
  const error = await refusalOf(source);
  expect(error).toMatchObject({ code: 'WF_SCRIPT_SYNTAX', exitCode: 2, others: [] });
  expect(error.remedy).toBeTruthy();
  const before = marked.slice(0, at).split('\n');
  expect(error.place).toMatchObject({ line: before.length, column: (before.at(-1) ?? '').length + 1 });
  return error;
}

describe('B-109 the message is the parser’s, the place exact', () => {
  const cases: Record<string, [body: string, message: RegExp, remedy?: RegExp]> = {
    'an unescaped quote': ["const a = 'it'⟦s⟧ late';", /unexpected identifier 's'/, /quote/],
    'a missing brace': ['function f() ⟦{⟧\n  if (x) { y() }\n', /the `\{` here is never closed/],
    'a missing bracket': ['const a = ⟦[⟧1, (2), {}', /the `\[` here is never closed/],
    'a missing parenthesis at a semicolon': ["const a = await agent('x'⟦;⟧", /missing \) after argument list/],
    'one brace too many': ['return 1 ⟦}⟧', /unexpected token '}'/],
    'an open template': ['const a = ⟦`⟧abc ${b(`x`)}\n', /the template that begins here is never closed/],
    'an open string': ["const a = ⟦'⟧abc\n", /unterminated string/],
    'typographic quotes': ['agent(⟦“⟧hello”)', /unexpected character '“'/, /plain quotes/],
    'the same name twice': ['const a = 1\nconst ⟦a⟧ = 2', /'a' has already been declared/],
    'await in a plain function': ['files.map((f) => ⟦await⟧ agent(f))', /`await` stands in a function/, /`async`/],
    'await in a function statement': ['function f() {\n  ⟦await⟧ g()\n}', /`await` stands in a function/],
    'await as a default value': ['const f = async (a = ⟦await⟧ g()) => a', /^(?!.*not async).*await/i],
    with: ['⟦with⟧ (a) {}', /'with' in strict mode/],
    'a bad regular expression': ['return /⟦(⟧/', /[Ii]nvalid regular expression/],
    'break outside a loop': ['⟦break⟧', /break/],
    'no JavaScript at all': ['this ⟦is⟧ not a script', /unexpected identifier 'is'/],
    JSX: ['return ⟦<⟧b>text</b>', /unexpected token '<'/],
    'a decorator': ['⟦@⟧dec class A {}', /unexpected character '@'/],
  };
  for (const [what, [body, message, remedy]] of Object.entries(cases)) {
    test(what, async () => {
      const error = await fault(body);
      expect(error.message).toMatch(message);
      expect(error.message).not.toMatch(/typescript/i);
      if (remedy) expect(error.remedy).toMatch(remedy);
    });
  }
  test('the frame shows the line with a mark under the column', async () => {
    const error = await refusalOf(`${META}\nconst a = 'it's';`);
    expect(error.place?.frame).toBe(`  1 | ${META}\n> 2 | const a = 'it's';\n    |               ^`);
  });
  test('on line 1, behind a byte order mark and on a CRLF line the column is exact too', async () => {
    for (const source of [
      `\ufeff${META}; let é = "é" ]`,
      `#!/usr/bin/env wf\r\n${META}\r\n\r\n\t"🙂" ]`,
      `${META}; "🙂\u2028"; ]`,
    ])
      expectPlaceAt(await refusalOf(source), source, ']');
  });
});

describe('probe 9, B-109 TypeScript in a .js file is named as such', () => {
  const cases: Record<string, string> = {
    'an annotation': "const a⟦:⟧ string = 'x'",
    'a parameter': 'function f(a⟦:⟧ number) {}',
    'an interface': '⟦interface⟧ Finding { file: string }',
    'a type': 'type ⟦Id⟧ = string',
    as: 'const a = args ⟦as⟧ string[]',
    'a non-null assertion': 'return args⟦!⟧.x',
    'an enum': '⟦enum⟧ Color { Red }',
    generics: 'const f = async <T,⟦>⟧(x: T) => x',
    'an annotation behind a tab and wide characters': '\t"日本🙂"; const a⟦:⟧ string = 1',
  };
  for (const [what, body] of Object.entries(cases)) {
    test(what, async () => {
      const error = await fault(body);
      expect(error.message).toContain('plain JavaScript');
      expect(error.remedy).toContain('.ts');
      expect(error.place?.frame).toContain('^');
    });
  }
});

describe('text that would close the wrapper', () => {
  const cases = [
    '}); globalThis.escaped = 1; (async function(){',
    'return 1 }); globalThis.escaped = 1; ({ x() {',
    '} finally { globalThis.escaped = 1',
    // An HTML-like comment to the engine, an expression to a module parser.
    'let a = 1, b = 2; a <!--b /*\n}); globalThis.escaped = 1; (async function(){ /* */',
    '/* <!-- */ 1 <!-- 2',
    '--> x',
  ];
  for (const body of cases) {
    test(JSON.stringify(body), async () => {
      expect(await refusalOf(`${META}\n${body}`)).toMatchObject({ code: 'WF_SCRIPT_SYNTAX' });
      expect(await refusalOf(`${META}\n${body}`, { language: 'ts' })).toMatchObject({ code: 'WF_SCRIPT_SYNTAX' });
    });
  }
  test('the same signs in texts, templates, regular expressions and comments are fine', async () => {
    const body = "// <!-- x\nreturn ['<!-- -->', `}) <!-- ${'-->'}`, /<!--/.source, 1 < ! - -1] /* <!-- */";
    expect(await runCode(await loadScript(`${META}\n${body}`, { filename: 'a.js' }))).toEqual([
      '<!-- -->',
      '}) <!-- -->',
      '<!--',
      false,
    ]);
  });
});

describe('what cannot be read', () => {
  for (const language of ['js', 'ts'] as const) {
    test(`deep nesting is a fault of the script (${language}), and the next script loads`, async () => {
      for (const body of [
        '['.repeat(100_000),
        `x = ${'('.repeat(30_000)}1${')'.repeat(30_000)}`,
        `1${'+1'.repeat(100_000)}`,
      ]) {
        const error = await refusalOf(`${META}\n${body}`, { language });
        expect(error.code).toBe('WF_SCRIPT_SYNTAX');
        expect(`${error.message} ${error.remedy}`).toContain('too deeply');
      }
      await loadScript(`${META}\nreturn 1`, { filename: `a.${language}` });
    });
  }
  test('half of a surrogate pair', async () => {
    const error = await refusalOf(`${META}\nreturn "a\ud83d"`);
    expect(error).toMatchObject({ code: 'WF_SCRIPT_SYNTAX', place: { line: 2, column: 10 } });
    await loadScript(`${META}\nreturn "\\ud83d"`, { filename: 'a.js' });
  });
  test('a NUL outside of a text', async () => {
    await fault('let a = ⟦\u0000⟧1');
  });
});
