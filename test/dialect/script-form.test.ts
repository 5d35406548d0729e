/** One file is `meta` and a body; what is refused is refused before anything is made. */
import { existsSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ScriptFault } from '../../src/script/checked-script.js';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { META, runScript } from './support/run-script.js';

const meta = (fields: string): string => `export const meta = { ${fields} }\nreturn 1\n`;
const NAMED = "name: 'x', description: 'd'";

/** Name of a file → its text. All are checked by one process. */
const SCRIPTS: Record<string, string> = {
  'call.js': meta("name: f(), description: 'd'"),
  'variable.js': meta("name: x, description: 'd'"),
  'concat.js': meta("name: 'a' + 'b', description: 'd'"),
  'spread.js': meta(`...x, ${NAMED}`),
  'computed.js': meta(`['a']: 1, ${NAMED}`),
  'method.js': meta(`f() {}, ${NAMED}`),
  'getter.js': meta(`get a() { return 1 }, ${NAMED}`),
  'template.js': meta("name: `a${1}`, description: 'd'"),
  'unary-plus.js': meta(`a: +1, ${NAMED}`),
  'regexp.js': meta(`a: /x/, ${NAMED}`),
  'function.js': meta(`a: () => 1, ${NAMED}`),
  'holes.js': meta(`a: [1, , 2], ${NAMED}`),
  'before.js': `const x = 1\n${META}return 1\n`,
  'let.js': META.replace('const', 'let'),
  'two.js': META.trimEnd().concat(', other = 1\n'),
  'wrapped.js': "export const meta = Object.freeze({ name: 'x', description: 'd' })\n",
  'default.js': "export default { name: 'x', description: 'd' }\n",
  'reserved.js': meta(`a: { constructor: 1 }, ${NAMED}`),
  'proto.js': meta(`a: { __proto__: 1 }, ${NAMED}`),
  'prototype.js': meta(`prototype: 1, ${NAMED}`),
  'no-description.js': meta("name: 'x'"),
  'empty-name.js': meta("name: '', description: 'd'"),
  'typescript.js': `${META}const x: string = 'a'\nreturn x\n`,
  'large.js': `${META}/*${'x'.repeat(513 * 1024)}*/\n`,
  'export.js': `${META}export const y = 1\n`,
  'import.js': `${META}import fs from 'fs'\n`,
  'brace.js': `${META}if (true) {\n  log('x')\n`,
  'quote.js': `${META}log('it's')\n`,
  'clock.js': `${META}const a = Date.now()\nconst b = new Date()\nconst c = Math.random()\nconst d = Date()\n`,
  'words.js': `${META}// Date.now() new Date() Math.random() import('fs')\nlog('Date.now() and new Date(), Math.random(), import(x)')\n`,
  'dynamic-import.js': `${META}const fs = await import('fs')\n`,
};

let project: TestProject;
let faults: Record<string, ScriptFault[]>;
/** The same as people see it. */
let pretty: string;
const check = (file: string): ScriptFault[] => faults[file] ?? [];
const errorsOf = (file: string): string[] => check(file).flatMap((one) => (one.severity === 'error' ? [one.code] : []));

beforeAll(async () => {
  project = makeProject({ files: SCRIPTS, until: 'file' });
  const { code, stdout } = await runWf(['check', ...Object.keys(SCRIPTS), '--json'], { project });
  expect(code).toBe(2);
  pretty = (await runWf(['check', 'typescript.js', 'quote.js'], { project })).stdout;
  faults = Object.groupBy(JSON.parse(stdout) as ScriptFault[], ({ file }) => file) as typeof faults;
});

describe('meta', () => {
  it.each([
    'call.js',
    'variable.js',
    'concat.js',
    'spread.js',
    'computed.js',
    'method.js',
    'getter.js',
    'template.js',
    'unary-plus.js',
    'regexp.js',
    'function.js',
    'holes.js',
  ])('C006 probe 1 probe 5 only a literal: %s is refused with its place', (file) => {
    expect(errorsOf(file)).toContain('WF_SCRIPT_META');
    expect(check(file)[0]).toMatchObject({ line: 1, column: expect.any(Number) });
  });

  it('C002 probe 2 must be the first statement, one `const` with an object', () => {
    for (const file of ['before.js', 'let.js', 'two.js', 'wrapped.js', 'default.js'])
      expect([file, errorsOf(file)[0]]).toEqual([file, expect.stringMatching(/^WF_SCRIPT_(META|MODULE)$/)]);
  });

  it('C008 probe 6 reserved keys are refused by name', () => {
    expect(check('reserved.js')[0]?.message).toContain('`constructor`');
    expect(check('proto.js')[0]?.message).toContain('`__proto__`');
    expect(check('prototype.js')[0]?.message).toContain('`prototype`');
  });

  it('C009 probe 7 name and description are needed', () => {
    expect(check('no-description.js')[0]?.message).toContain('meta.description');
    expect(check('empty-name.js')[0]?.message).toContain('meta.name');
  });
});

describe('what is refused', () => {
  it('C013 probe 9 TypeScript in a .js file, with the line; the text says plain JavaScript', () => {
    expect(check('typescript.js')[0]).toMatchObject({ code: 'WF_SCRIPT_SYNTAX', line: 2, column: 8 });
    expect(check('typescript.js')[0]?.message).toContain('plain JavaScript');
    expect(pretty).toMatch(
      /typescript\.js:2:8: error[^\n]*\n {2}1 \|[^\n]*\n> 2 \| const x: string = 'a'\n {4}\| {8}\^/,
    );
  });

  it('C014 probe 10 a script of more than 512 KiB', () => {
    expect(errorsOf('large.js')).toEqual(['WF_SCRIPT_SIZE']);
  });

  it('C017 another export, an import', () => {
    expect(errorsOf('export.js')).toEqual(['WF_SCRIPT_MODULE']);
    expect(errorsOf('import.js')).toEqual(['WF_SCRIPT_MODULE']);
  });

  it('C018 B-109 other syntax errors are not blamed on TypeScript and show the line', () => {
    expect(check('brace.js')[0]).toMatchObject({ code: 'WF_SCRIPT_SYNTAX', line: 2 });
    expect(check('quote.js')[0]).toMatchObject({ code: 'WF_SCRIPT_SYNTAX', line: 2 });
    expect(pretty).toMatch(/> 2 \| log\('it's'\)\n {4}\| +\^/);
    for (const file of ['brace.js', 'quote.js']) expect(JSON.stringify(check(file))).not.toMatch(/TypeScript/);
  });

  it('C050 probe 14 the clock and chance in plain sight, all in one report', () => {
    expect(check('clock.js').map(({ code, line }) => [code, line])).toEqual(
      [2, 3, 4, 5].map((line) => ['WF_SCRIPT_DETERMINISM', line]),
    );
  });

  it('C051 probe 14 B-108 their words in strings and comments are fine', () => {
    expect(check('words.js')).toEqual([]);
  });

  it('C055 probe 18 import()', () => {
    expect(errorsOf('dynamic-import.js')).toEqual(['WF_SCRIPT_MODULE']);
  });

  it('C020 probe 1 a refused script makes no run: exit 2, and no folder', async () => {
    const run = await runWf(['run', 'call.js', '--backend', 'mock'], { project });
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toMatch(/WF_SCRIPT_META call\.js:1:\d+/);
    expect(existsSync(project.runsDir)).toBe(false);
  });
});

describe('what runs', () => {
  const returns = async (source: string): Promise<unknown> => (await runScript(makeProject(), source)).result;

  it('C001 probe 11 top-level await, return inside a loop, continue, classes, generators, closures', async () => {
    const body = `
class Counter { #n = 0; static of() { return new Counter() } next() { return ++this.#n } }
function* numbers() { yield 1; yield* [2, 3] }
const counter = Counter.of(), seen = [];
for (const n of numbers()) {
  if (n === 2) continue;
  const answer = await agent('n ' + n);
  counter.next(); seen.push(answer?.length ?? 0);
  if (n === 3) return { n, count: counter.next(), seen: seen.length, re: /(?<a>x)/.exec('yx').groups.a, self: this === undefined };
}
return 'not reached'`;
    expect(await returns(META + body)).toEqual({ n: 3, count: 3, seen: 2, re: 'x', self: true });
  });

  it('C003 probe 3 C004 B-104 comments, blank lines, a byte order mark, a shebang and a directive before meta', async () => {
    const head =
      "\ufeff#!/usr/bin/env wf\n// one\n/* two */\n/// <reference types='wf-engine/workflow' />\n\n'use strict'\n";
    expect(await returns(`${head}${META}return 'ran'`)).toBe('ran');
  });

  it('C005 probe 4 a minified script on one line', async () => {
    const source =
      "export const meta={name:'m',description:'d',phases:[{title:'A'}]};const a=await agent('x',{label:'l'});return[typeof a,[1,2].map(n=>n*2)]";
    expect(await returns(source)).toEqual(['string', [2, 4]]);
  });

  it('C007 probe 5 C010 C011 probe 8 C012 plain templates, numbers, null; other fields and odd phases are ignored', async () => {
    const source = [
      'export const meta = { name: `n`, description: `d`, title: "", whenToUse: 5, extra: [1, -2, null, true, { "a-b": 1, 2: 3 }],',
      '  phases: [{ title: 1 }, "x", { title: "Plan", detail: 5, model: "opus" }, { title: "Never" }] }',
      "phase('Plan'); return await agent('x')",
    ].join('\n');
    const run = await runScript(makeProject(), source);
    expect(run.code).toBe(0);
    expect(run.events.find((event) => event.type === 'run.started')).toMatchObject({ phases: ['Plan', 'Never'] });
    // The model of a phase is for the eye.
    expect(run.journal[0]).not.toHaveProperty('opts.model');
    const odd = "export const meta = { name: 'n', description: 'd', phases: 'none' }\nreturn 1";
    expect(await returns(odd)).toBe(1);
  });

  it('C015 probe 12 no return: no result, exit 0, nothing on stdout', async () => {
    const run = await runScript(makeProject(), `${META}1 + 1\n`);
    expect(run).toMatchObject({ code: 0, stdout: '' });
    expect(run.state).not.toHaveProperty('result');
  });

  it('C016 probe 13 a function as result fails the run', async () => {
    const run = await runScript(makeProject(), `${META}return () => 1\n`);
    expect(run.code).toBe(1);
    expect(run.state.error).toMatchObject({
      code: 'WF_RESULT_NOT_JSON',
      message: expect.stringContaining('a function'),
    });
  });

  it('C019 the source is taken as it is: escapes of quotes, CRLF', async () => {
    const source = `${META}const a = 'it\\u2019s \\u0022so\\u0022'\r\nconst b = \`one\r\ntwo\`\r\nreturn [a, b]`;
    expect(await returns(source)).toEqual(['it\u2019s "so"', 'one\ntwo']);
  });

  it('C021 the body is strict code in a function of its own; C022 meta can be read in it', async () => {
    const body = `try { undeclared = 1 } catch (e) { return [e.name, typeof meta, meta.name, typeof exports] }`;
    expect(await returns(META + body)).toEqual(['ReferenceError', 'object', 'probe', 'undefined']);
  });
});
