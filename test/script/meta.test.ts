import { describe, expect, test } from 'vitest';
import { loadJavaScript } from '../../src/script/load-script.js';
import { peekMeta } from '../../src/script/peek-meta.js';
import { expectPlaceAt, faultsOf, META, refusalOf } from './scripts.js';

const metaOf = (value: string) => loadJavaScript(`export const meta = ${value}\nreturn 1`, { filename: 'test.js' });
const refuse = (value: string) => refusalOf(`export const meta = ${value}`);

test('every kind of literal is read', () => {
  const { meta, warnings } = metaOf(
    `{ 'name': "n", description: \`plain\ntemplate\`, title: 't', whenToUse: 'w', 7: [null, true, -1.5, { deep: [] }],
      phases: [{ title: 'A', detail: 'd', model: 'haiku', other: 1 }, { title: 'B' }] }`,
  );
  expect(meta).toEqual({
    name: 'n',
    description: 'plain\ntemplate',
    title: 't',
    whenToUse: 'w',
    phases: [{ title: 'A', detail: 'd', model: 'haiku' }, { title: 'B' }],
  });
  expect(warnings).toEqual([]);
});

test('probe 8 phases are filtered loosely, with a warning each', () => {
  expect(metaOf("{ name: 'n', description: 'd', phases: 'A, B' }")).toMatchObject({
    meta: { phases: [] },
    warnings: [{ code: 'WF_CHECK_META', severity: 'warning', line: 1, column: 60 }],
  });
  const { meta, warnings } = metaOf(
    "{ name: 'n', description: 'd', phases: ['A', { title: 1 }, { title: 'C', detail: 5 }] }",
  );
  expect(meta.phases).toEqual([{ title: 'C' }]);
  expect(warnings.map(({ column }) => column)).toEqual([61, 66]);
});

test('unknown keys, empty titles and texts of a wrong type are ignored', () => {
  expect(metaOf("{ name: 'n', description: 'd', title: '', whenToUse: 5, inputs: { a: 1 } }").meta).toEqual({
    name: 'n',
    description: 'd',
    phases: [],
  });
});

test('of two equal keys the last counts', () => {
  expect(metaOf("{ name: 'a', name: 'b', description: 'd' }").meta.name).toBe('b');
});

describe('only plain values', () => {
  const forms: Record<string, string> = {
    'probe 1 a call': 'make()',
    'B-105 a variable': 'MODEL',
    'probe 5 a template with ${}': '`a${1}`',
    'B-105 a concatenation': "'a' + 'b'",
    'a regular expression': '/x/',
    'a function': '() => 1',
    'a class': 'class {}',
    'a unary plus': '+1',
    'a BigInt': '1n',
    'a tagged template': 'tag`x`',
    'a condition': 'a ? 1 : 2',
    'an await': 'await x',
    undefined: 'undefined',
    'B-106 a function that is called at once': '(() => { for (;;); })()',
  };
  for (const [what, value] of Object.entries(forms)) {
    test(`${what} is refused at its place`, async () => {
      const source = `export const meta = { name: 'n', description: 'd', extra: { list: [0, ${value}] } }`;
      const error = await refusalOf(source);
      expect(error.code).toBe('WF_SCRIPT_META');
      expect(error.message).toMatch(/^meta\.extra\.list\[1\] must be a literal value, found /);
      expectPlaceAt(error, source, value);
    });
  }
  const members: Record<string, [member: string, message: string]> = {
    'a spread': ['...base', 'found a spread'],
    'a computed key': ["['a']: 1", 'found a computed key'],
    'a method': ['run() {}', 'found a method'],
    'B-105 a getter': ['get model() { return 1 }', 'found a getter'],
    'a setter': ['set model(x) {}', 'found a setter'],
    'a shorthand': ['model', 'found the variable `model`'],
  };
  for (const [what, [member, message]] of Object.entries(members)) {
    test(`${what} is refused at its place`, async () => {
      const source = `export const meta = { name: 'n', description: 'd', ${member} }`;
      const error = await refusalOf(source);
      expect(error).toMatchObject({ code: 'WF_SCRIPT_META', others: [] });
      expect(error.message).toContain(message);
      expectPlaceAt(error, source, member);
    });
  }
  test('an empty slot and a spread in an array', async () => {
    const error = await refuse("{ name: 'n', description: 'd', phases: [, ...x] }");
    expect([error, ...error.others].map(({ message }) => message)).toEqual([
      'meta.phases[0] is an empty slot.',
      'meta.phases[1] must be a literal value, found a spread (`...`).',
    ]);
  });
  for (const key of ['constructor', '__proto__', 'prototype']) {
    test(`probe 6 the key ${key} is refused by name, at any depth`, async () => {
      for (const written of [key, `'${key}'`]) {
        const error = await refuse(`{ name: 'n', description: 'd', phases: [{ ${written}: {} }] }`);
        expect(error.message).toBe(`meta.phases[0] may not have the reserved key \`${key}\`.`);
      }
    });
  }
});

describe('probe 7 required fields', () => {
  const cases: [value: string, messages: string[]][] = [
    ['{}', ['meta.name is missing.', 'meta.description is missing.']],
    ["{ name: '', description: 'd' }", ['meta.name must be a non-empty text.']],
    ["{ name: '  ', description: 'd' }", ['meta.name must be a non-empty text, found the text "  ".']],
    [
      "{ name: 5, description: ['d'] }",
      [
        'meta.name must be a non-empty text, found the number 5.',
        'meta.description must be a non-empty text, found an array.',
      ],
    ],
    ["{ name: null, description: 'd' }", ['meta.name must be a non-empty text, found null.']],
    ['{ name: f() }', ['meta.description is missing.', 'meta.name must be a literal value, found a call.']],
  ];
  for (const [value, messages] of cases) {
    test(value, async () => {
      const error = await refuse(value);
      expect([error, ...error.others].map(({ message }) => message)).toEqual(messages);
    });
  }
});

describe('the statement', () => {
  const cases: Record<string, [source: string, fault: string, message: string]> = {
    'probe 2 a statement before it': [`const x = 1\n${META}`, '1:1', 'must be the first statement'],
    'B-105 not in first place': [`\n  foo()\n\n${META}`, '2:3', 'must be the first statement'],
    'a directive and then a statement': [`'use strict'; 1;\n${META}`, '1:15', 'must be the first statement'],
    let: ["export let meta = { name: 'n', description: 'd' }", '1:1', 'not as `let`'],
    var: ["export var meta = { name: 'n', description: 'd' }", '1:1', 'not as `var`'],
    'not exported': ["const meta = { name: 'n', description: 'd' }", '1:1', 'must be exported'],
    'two declarators': [`${META}, x = 1`, '1:62', 'may declare nothing else'],
    'a frozen object': ['export const meta = Object.freeze({})', '1:21', 'found a call'],
    'a variable': ['export const meta = M', '1:21', 'found the variable `M`'],
    missing: ['\n// nothing\nreturn 1', '3:1', 'has no meta'],
    empty: ['', '1:1', 'is empty'],
    'only comments': ['// x\n', '1:1', 'is empty'],
    destructured: ['export const { meta } = { meta: {} }', '1:1', 'has no meta'],
  };
  for (const [what, [source, place, message]] of Object.entries(cases)) {
    test(`${what}: refused`, async () => {
      const error = await refusalOf(source);
      expect(error.message).toContain(message);
      expect(error.remedy).toBeTruthy();
      const others = what === 'destructured' ? ['WF_SCRIPT_MODULE 1:1'] : [];
      expect(faultsOf(error)).toEqual([`WF_SCRIPT_META ${place}`, ...others]);
    });
  }
  test('exported by a list', async () => {
    const error = await refusalOf("const meta = { name: 'n', description: 'd' }\nexport { meta }");
    expect(faultsOf(error)).toEqual(['WF_SCRIPT_META 1:1', 'WF_SCRIPT_MODULE 2:1']);
  });
});

describe('peekMeta reads the meta without the body', () => {
  const found: Record<string, string> = {
    'a whole script': `#!/usr/bin/env wf\n'use strict';\n// x\n${META}\nreturn 1`,
    'a body that cannot be parsed': `${META};\nthis is not ( JavaScript`,
    'TypeScript with a type':
      "import type { WorkflowMeta } from 'x';\nexport const meta: Readonly<WorkflowMeta> = { name: 'test', description: 'A test' } as const\nlet a: x",
    'TypeScript with satisfies': `\ufeff${META} satisfies Meta;`,
  };
  for (const [what, source] of Object.entries(found)) {
    test(what, () => expect(peekMeta(source)).toMatchObject({ name: 'test', description: 'A test' }));
  }
  const refused: Record<string, [source: string, reason: string]> = {
    'a statement before it': [`const M = 1;\n${META}`, 'does not begin with'],
    'no meta': ['return 1', 'does not begin with'],
    'no object': ['export const meta = make()', 'not an object literal'],
    'B-106 a call inside': ['export const meta = { name: (() => { throw 1 })() }', 'meta.name must be a literal value'],
    'no name': ["export const meta = { description: 'd' }", 'meta.name is missing'],
    'broken meta': ['export const meta = { name: ', 'cannot be parsed'],
    'an unterminated comment': ['/* ', 'cannot be parsed'],
    'a deep meta': [`export const meta = ${'['.repeat(100_000)}`, 'cannot be parsed'],
    empty: ['', 'does not begin with'],
    'only an export': ['export const meta', 'does not begin with'],
  };
  for (const [what, [source, reason]] of Object.entries(refused)) {
    test(`not: ${what}`, () => expect(peekMeta(source)).toContain(reason));
  }
});
