import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { loadJavaScript, loadScript } from '../../src/script/load-script.js';
import { MAX_SCRIPT_BYTES } from '../../src/script/script-text.js';
import { expectPlaceAt, faultsOf, META, refusalOf, runCode } from './scripts.js';

const load = (source: string) => loadScript(source, { filename: 'test.js' });

describe('what may stand before meta', () => {
  const leads: Record<string, string> = {
    'probe 3 a comment': '// @ts-check\n',
    'a licence comment': '/*!\n * Licence: do what you like\n */\n\n',
    'a byte order mark': '\ufeff',
    'a shebang': '#!/usr/bin/env wf\n',
    'a byte order mark and a shebang': '\ufeff#!/usr/bin/env wf\n',
    "'use strict'": "'use strict'\n",
    '"use strict" in one line': '"use strict";',
    'blank lines': '\n\r\n\t \n',
    'a reference line': '/// <reference types="wf-engine/workflow" />\r\n',
    'all of it': "\ufeff#!/usr/bin/env wf\r\n// @ts-check\r\n/* MIT */\r\n'use strict';\r\n\r\n",
  };
  for (const [what, lead] of Object.entries(leads)) {
    test(`B-104 ${what}: launches`, async () => {
      const script = await load(`${lead}${META}\nreturn 'ran'`);
      expect(script.meta).toEqual({ name: 'test', description: 'A test', phases: [] });
      expect(await runCode(script)).toBe('ran');
    });
  }
});

describe('form', () => {
  test('probe 4 a minified script of one line', async () => {
    const script = await load(
      'export const meta={name:"min",description:"d",phases:[{title:"A"}]};const x=[1,2];for(const y of x){if(y>1)return y}return 0',
    );
    expect(script.meta).toEqual({ name: 'min', description: 'd', phases: [{ title: 'A' }] });
    expect(await runCode(script)).toBe(2);
  });

  test('probe 11 top-level return inside a loop', async () => {
    const script = await load(`${META}\nfor (const i of [1, 2, 3]) {\n  if (i < 2) continue\n  return { i }\n}`);
    expect(await runCode(script)).toEqual({ i: 2 });
  });

  test('probe 12 no return', async () => {
    expect(await runCode(await load(`${META}\nawait 1`))).toBeUndefined();
  });

  test('probe 13 a returned function is the engine’s to refuse: the script loads', async () => {
    expect(await runCode(await load(`${META}\nreturn () => 1`))).toBeTypeOf('function');
  });

  test('all of the language is there', async () => {
    const script = await load(`${META};
      class A { #x = 1; static y = 2; get x() { return this.#x } }
      function* count() { yield 1; yield* [2, 3] }
      const a = new A(), { x, ...rest } = { x: a?.x ?? 0, z: /a+/u.test('aa') }
      let n = null; n ||= 5
      label: for (;;) { break label }
      return [x, rest, [...count()], n, \`\${A.y}\`, await (async () => 10n ** 2n)() === 100n, typeof this]`);
    expect(await runCode(script)).toEqual([1, { z: true }, [1, 2, 3], 5, '2', true, 'undefined']);
  });

  test('the body is strict', async () => {
    await expect(runCode(await load(`${META}\nundeclared = 1`))).rejects.toThrow('undeclared is not defined');
  });

  test('meta keeps its own line, only the word export is blanked', async () => {
    const script = await load(`export\nconst meta = { name: 'a', description: 'b' }\nreturn meta.name`);
    expect(script.code.split('\n')[1]).toBe("const meta = { name: 'a', description: 'b' }");
    expect(await runCode(script)).toBe('a');
  });

  test('source, hash and name are the user’s own', async () => {
    const source = `\ufeff${META}\r\nreturn 'é'`;
    const script = await loadScript(source, { filename: 'flows/a.js' });
    expect(script).toMatchObject({ source, filename: 'flows/a.js', warnings: [] });
    expect(script.sha256).toBe(createHash('sha256').update(source, 'utf8').digest('hex'));
    expect(loadJavaScript(source, { filename: 'flows/a.js' })).toEqual(script);
  });
});

describe('B-110 line ends, long lines, tabs, emoji', () => {
  const lines = [META, 'const a = `one', '\ttwo 🙂`', "return a + '\t日本'", ''];
  for (const [what, end] of Object.entries({ LF: '\n', CRLF: '\r\n' })) {
    test(what, async () => {
      expect(await runCode(await load(lines.join(end)))).toBe('one\n\ttwo 🙂\t日本');
    });
  }
  test('mixed', async () => {
    const source = lines.map((line, index) => line + (index % 2 ? '\n' : '\r\n')).join('');
    expect(await runCode(await load(source))).toBe('one\n\ttwo 🙂\t日本');
  });
  test('a line of 200 KB, and control characters in a string', async () => {
    const script = await load(`${META}\nreturn '${'x'.repeat(200_000)}\u0001\u007f'.length`);
    expect(await runCode(script)).toBe(200_002);
  });
});

describe('size', () => {
  const sized = (bytes: number) => `${META}\n//${'x'.repeat(bytes - META.length - 3)}`;
  test('exactly the limit is allowed', async () => {
    expect(Buffer.byteLength(sized(MAX_SCRIPT_BYTES))).toBe(524_288);
    await load(sized(MAX_SCRIPT_BYTES));
  });
  test('probe 10 one byte more is refused, and so are 513 KiB', async () => {
    expect(await refusalOf(sized(MAX_SCRIPT_BYTES + 1))).toMatchObject({ code: 'WF_SCRIPT_SIZE', exitCode: 2 });
    expect((await refusalOf(sized(513 * 1024))).message).toContain('525312');
  });
  test('bytes count, not characters', async () => {
    expect(await refusalOf(`${META}\n//${'é'.repeat(270_000)}`)).toMatchObject({ code: 'WF_SCRIPT_SIZE' });
  });
});

describe('modules', () => {
  const cases: Record<string, [source: string, marked: string, hint: string]> = {
    'B-109 import': [`import x from 'y'\n${META}`, 'import', '`import` is not available'],
    'probe 18 import()': [`${META}\nconst fs = await import('fs')`, 'import(', '`import()` is not available'],
    'import.meta': [`${META}\nreturn import.meta.url`, 'import.meta', '`import.meta` is not available'],
    'B-109 export default': [`${META}\nexport default 1`, 'export default', '`export default` is not part'],
    'another export': [`${META}\n  export const x = 1`, 'export const x', 'The only export'],
    'a list of exports': [`${META}\nconst x = 1\nexport { x }`, 'export {', 'The only export'],
    'export from': [`${META}\nexport * from 'y'`, 'export *', 'The only export'],
  };
  for (const [what, [source, marked, hint]] of Object.entries(cases)) {
    test(`${what} is refused with its own hint`, async () => {
      const error = await refusalOf(source);
      expect(error.code).toBe('WF_SCRIPT_MODULE');
      expect(error.message).toContain(hint);
      expect(error.remedy).toBeTruthy();
      expect(error.others).toEqual([]);
      expectPlaceAt(error, source, marked);
    });
  }
  test('new.target and the words in texts are fine', async () => {
    await load(
      `${META}\nfunction F() { return new.target }\nreturn "import('x')" // import x from 'y'; export default 1`,
    );
  });
});

describe('determinism', () => {
  for (const form of [
    'Date.now()',
    'new Date()',
    'new Date',
    'Date()',
    'Date(0)',
    'Math.random()',
    "Math['random']()",
  ]) {
    test(`probe 14 ${form} is refused`, async () => {
      const source = `${META}\nif (args)\n  return [1, ${form}]`;
      const error = await refusalOf(source);
      expect(error.code).toBe('WF_SCRIPT_DETERMINISM');
      expect(error.remedy).toContain('args');
      expectPlaceAt(error, source, form);
    });
  }
  test('Date?.now() and Date.now?.() are refused', async () => {
    expect(faultsOf(await refusalOf(`${META}\nDate?.now(); Date.now?.()`))).toEqual([
      'WF_SCRIPT_DETERMINISM 2:1',
      'WF_SCRIPT_DETERMINISM 2:14',
    ]);
  });
  const fine: Record<string, string> = {
    'probe 14, B-108 words in texts and comments':
      "return 'Date.now() new Date() Math.random()' + `import('x') require(\"fs\")` // Date.now(), Math.random()",
    'probe 15 an alias': 'const D = Date; try { D.now() } catch (error) { return error.message }',
    'probe 16 new Date(value)': 'return new Date(0).toISOString()',
    'probe 17 an alias of Math.random': 'const { random } = Math; const r = Math.random; return typeof r',
    'Date.parse and Date.UTC': "return Date.parse('2020-01-01') + Date.UTC(2020)",
    'spread arguments, checked when it runs': 'return (a) => new Date(...a)',
    'B-108 other ways, which fail when they run': "globalThis['Math'].random; Reflect.construct(Date, [1])",
    'a Date of its own': 'const Date = { now: () => 1 }; return Date.now()',
    'a Math parameter': 'return ((Math) => Math.random())({ random: () => 4 })',
    'a var further down': 'function f() { return Date.now(); var Date }',
    'a property called Date': 'const o = { Date: { now() {} } }; o.Date.now()',
  };
  for (const [what, body] of Object.entries(fine)) {
    test(`${what}: accepted`, async () => {
      await load(`${META}\n${body}`);
    });
  }
  test('shadowing ends with its scope', async () => {
    const source = `${META}\n{ const Date = { now() {} }; Date.now() }\nfor (const Math of []) Math.random()\nreturn Date.now() + Math.random()`;
    expect(faultsOf(await refusalOf(source))).toEqual(['WF_SCRIPT_DETERMINISM 4:8', 'WF_SCRIPT_DETERMINISM 4:21']);
  });
});

test('several faults come in one report, by place, each with its own frame', async () => {
  const source = [
    'import fs from "fs"',
    'const M = "x"',
    'export const meta = { name: M, phases: [...p], constructor: 1 }',
    'const t = Date.now()',
    "await import('y')",
    'export default t + Math.random()',
  ].join('\n');
  const error = await refusalOf(source);
  expect(faultsOf(error)).toEqual([
    'WF_SCRIPT_MODULE 1:1',
    'WF_SCRIPT_META 2:1',
    'WF_SCRIPT_META 3:21',
    'WF_SCRIPT_META 3:29',
    'WF_SCRIPT_META 3:41',
    'WF_SCRIPT_META 3:48',
    'WF_SCRIPT_DETERMINISM 4:11',
    'WF_SCRIPT_MODULE 5:7',
    'WF_SCRIPT_MODULE 6:1',
    'WF_SCRIPT_DETERMINISM 6:20',
  ]);
  for (const { place } of [error, ...error.others]) {
    expect(place?.frame?.split('\n').find((line) => line.startsWith('>'))).toContain(`> ${place?.line} |`);
    expect(place?.file).toBe('test.js');
  }
});

test('thousands of faults make a short report', async () => {
  const error = await refusalOf(`${META}\n${'Date.now()\n'.repeat(10_000)}`);
  expect(error.others.length).toBe(199);
});
