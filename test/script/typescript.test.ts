import { describe, expect, test } from 'vitest';
import { loadJavaScript, loadScript } from '../../src/script/load-script.js';
import { expectPlaceAt, faultsOf, META, refusalOf, runCode } from './scripts.js';

const load = (source: string, filename = 'test.ts') => loadScript(source, { filename });

test('types are blanked out: same length, same lines, same columns', async () => {
  const source = [
    '/// <reference types="wf-engine/workflow" />',
    "import type { Finding } from './types.js'",
    'export const meta: WorkflowMeta = { name: "é🙂", description: "d" } satisfies WorkflowMeta',
    'interface A<T> { a: T; /* 日本 */ b?: "x" }\r',
    'type B = `a${string}` | A<number>',
    'let before = 1',
    'declare const injected: string',
    'enumLike: for (const x of [1] as const) { before += x! }',
    'abstract class C { private readonly x?: number; declare y: string; constructor(a?: number) { this.x = a } get z(): number { return this.x as any } }',
    'class D extends C {}',
    'const f = <T,>(x: T, ...rest: unknown[]): x is T => rest.length === 0',
    'function g(this: void, a: number): number; function g(a: number) { return a }',
    'export type E = Finding',
    'return [meta.name, before, new D(4).z, f<string>("x"), g(2)]',
  ].join('\n');
  const script = await load(source);
  const body = script.code.slice(-script.columnOffset, -'\n})'.length);
  expect(body).toHaveLength(source.length);
  expect(body.split('\n').map((line) => line.length)).toEqual(source.split('\n').map((line) => line.length));
  expect(await runCode(script)).toEqual(['é🙂', 2, 4, true, 2]);
  expect(script.source).toBe(source);
});

test('what stood on a blanked line still ends its statement', async () => {
  const script = await load(
    `${META}\nlet a = [1]\ninterface X {}\n[0].map(String)\nimport type { Y } from 'y'\n(0, a)\nreturn a`,
  );
  expect(await runCode(script)).toEqual([1]);
});

test('the language is told by the name, or by the caller', async () => {
  const source = `${META}\nreturn 1 as number`;
  await load(source, 'a.mts');
  await load(source, 'a.cts');
  await loadScript(source, { filename: 'stdin', language: 'ts' });
  expect((await refusalOf(source, { filename: 'a.mjs' })).message).toContain('plain JavaScript');
  expect((await refusalOf(source, { filename: 'a.ts', language: 'js' })).code).toBe('WF_SCRIPT_SYNTAX');
  expect(() => loadJavaScript(source, { filename: 'a.ts' })).toThrow('unexpected identifier');
  await load(`${META}\nreturn 1`);
});

describe('what is more than a type is refused, with what to write instead', () => {
  const cases: Record<string, [body: string, marked: string, remedy: string]> = {
    enum: ['\tconst é = "日本🙂"; enum Color { Red }', 'enum', 'union of texts'],
    'const enum': ['const enum Color { Red }', 'const enum', 'union of texts'],
    namespace: ['namespace Tools { export const x = 1 }', 'namespace', 'plain object'],
    'a parameter property': ['class A { "🙂"() {}; constructor(private x: number) {} }', 'x: number', 'constructor'],
    'angle brackets': ['const é = 1;\r\n  return <any>args', '<any>', 'value as Type'],
  };
  for (const [what, [body, marked, remedy]] of Object.entries(cases)) {
    test(what, async () => {
      const source = `${META}\n${body}`;
      const error = await refusalOf(source, { filename: 'a.ts' });
      expect(error.code).toBe('WF_SCRIPT_SYNTAX');
      expect(error.message).toContain('types are only blanked out');
      expect(error.remedy).toContain(remedy);
      const at = source.indexOf(marked);
      const lines = source.slice(0, at).split(/\r?\n/);
      expect(error.place).toMatchObject({ line: lines.length, column: (lines.at(-1) ?? '').length + 1 });
    });
  }
});

describe('syntax faults have an exact place, whatever stands before them', () => {
  for (const [what, lead] of Object.entries({
    nothing: '',
    tabs: '\t\t',
    'wide characters': '"日本🙂";',
    marks: '"e\u0301\u200b";',
    'a control character': '"\u0007";',
    'a line separator': '"\u2028";',
    CRLF: '\r\n\r\n',
  })) {
    test(what, async () => {
      const source = `${META}\n${lead}const x: number = 1 @ 2`;
      expectPlaceAt(await refusalOf(source, { filename: 'a.ts' }), source, '@');
    });
  }
  test('what is never closed', async () => {
    const source = `${META}\nif (args as boolean) {\n  log('x')\n`;
    const error = await refusalOf(source, { filename: 'a.ts' });
    expect(error.message).toContain('the `{` here is never closed');
    expect(error.place).toMatchObject({ line: 2, column: 22 });
  });
});

describe('modules and the other checks see TypeScript too', () => {
  test('faults of several kinds in one report', async () => {
    const source = [
      'import { z, type T } from "zod"; const a: T = 1',
      'export const meta: M = { name: NAME as string, description: "d" }',
      'export const helper = (x: string): string => x',
      'const t: number = Date.now()',
      'export { helper as other, type M }; export { x } from "y"',
      "await import('fs')",
    ].join('\n');
    expect(faultsOf(await refusalOf(source, { filename: 'a.ts' }))).toEqual([
      'WF_SCRIPT_MODULE 1:1',
      'WF_SCRIPT_META 1:34',
      'WF_SCRIPT_META 2:32',
      'WF_SCRIPT_MODULE 3:1',
      'WF_SCRIPT_DETERMINISM 4:19',
      'WF_SCRIPT_MODULE 5:1',
      'WF_SCRIPT_MODULE 5:37',
      'WF_SCRIPT_MODULE 6:7',
    ]);
  });
  for (const form of [
    'export default 1',
    "export * from 'x'",
    'export = 1',
    "import fs = require('fs')",
    'export as namespace X',
    'export import a = b.c',
  ]) {
    test(form, async () => {
      const source = `${META}\nlet a: string\n  ${form}`;
      const error = await refusalOf(source, { filename: 'a.ts' });
      expect(error.code).toBe('WF_SCRIPT_MODULE');
      expectPlaceAt(error, source, form);
    });
  }
  for (const form of [
    "import 'x'",
    "import x from 'x' with { type: 'json' };",
    "import * as x from 'x'",
    "import type, { y } from 'x'",
    "import type from 'x'",
    "import x, { type T }\n from 'x'",
  ]) {
    test(`an import of values: ${form}`, async () => {
      const source = `${META}\nlet a: string\n${form}\nreturn 1 as number`;
      const error = await refusalOf(source, { filename: 'a.ts' });
      expect(error.message).toContain('`import` is not available');
      expectPlaceAt(error, source, form);
    });
  }
  test('imports of types are fine, before meta and after it', async () => {
    const fine = await load(
      `import type { A } from 'a'; import type * as B from 'b' with { 'resolution-mode': 'import' }\nimport type C\n from 'c'\n${META}\nimport type { E } from 'e';\nlet x: A | B.C | typeof import('d') = 1\nreturn x`,
    );
    expect(await runCode(fine)).toBe(1);
  });
  test('hundreds of exports come to an end', async () => {
    const error = await refusalOf(`${META}\n${'export const a: number = 1\n'.repeat(300)}`, { filename: 'a.ts' });
    expect(error.code).toMatch(/WF_SCRIPT_(MODULE|SYNTAX)/);
  });
});
