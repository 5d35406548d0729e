import { describe, expect, test } from 'vitest';
import { loadScript } from '../../src/script/load-script.js';
import { mapStack } from '../../src/script/map-stack.js';
import { META, runCode } from './scripts.js';

/** Runs a script that throws where `throw` or `boom` stands, and gives its stack. */
async function stackOf(source: string, filename = 'flows/test.js', globals = {}): Promise<string> {
  const script = await loadScript(source, { filename });
  try {
    await runCode(script, globals);
  } catch (error) {
    return (error as Error).stack ?? '';
  }
  throw new Error('The script did not throw.');
}

function placeOf(source: string, text: string) {
  const before = source
    .replace(/^\ufeff/, '')
    .split(text)[0]
    ?.split(/\r\n|[\n\r\u2028\u2029]/) as string[];
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

describe('lines and columns of a running script are the user’s own', () => {
  const sources: Record<string, string> = {
    'on line 1': `${META}; new Error; throw new ReferenceError('x')`,
    'on line 1 behind a byte order mark': `\ufeff${META}; throw new ReferenceError('x')`,
    'after a shebang': `#!/usr/bin/env wf\n${META}\n  throw new ReferenceError('x')`,
    'with CRLF': `'use strict'\r\n// x\r\n${META}\r\n\r\n\tthrow new ReferenceError('x')`,
    'behind wide characters': `${META}\nconst é = "🙂日本"; throw new ReferenceError('x')`,
    'after a line separator': `${META}\n"a\u2028b"; throw new ReferenceError('x')`,
  };
  for (const [what, source] of Object.entries(sources)) {
    test(what, async () => {
      const stack = await stackOf(source);
      expect(mapStack(stack, { filename: 'flows/test.js' })[0]).toMatchObject(placeOf(source, 'new ReferenceError'));
    });
  }

  test('in TypeScript, where types were blanked out', async () => {
    const source = [
      'export const meta: { name: string; description: string } = { name: "日本", description: "d" } as const',
      'interface Finding {\r\n  file: string\r\n}',
      'const f = async <T extends object>(x: T, y?: "🙂"): Promise<T> => { throw new ReferenceError("x") }',
      'return (await f<Finding>({ file: "a" } as Finding))!.file satisfies string',
    ].join('\n');
    const frames = mapStack(await stackOf(source, 'a.ts'), { filename: 'a.ts' });
    expect(frames).toEqual([
      { name: 'f', ...placeOf(source, 'new ReferenceError'), isAsync: false },
      { ...placeOf(source, 'f<Finding>'), isAsync: false },
    ]);
  });

  test('async frames are there', async () => {
    const source = `${META}
async function inner() {
  await null
  throw new Error('late')
}
async function outer() {
  await inner()
}
await outer()`;
    expect(mapStack(await stackOf(source, 'a.js'), { filename: 'a.js' })).toEqual([
      { name: 'inner', line: 4, column: 9, isAsync: false },
      { name: 'outer', line: 7, column: 3, isAsync: true },
      { line: 9, column: 1, isAsync: true },
    ]);
  });

  test('frames of host functions are left out', async () => {
    const host = { call: (f: () => void) => f() };
    const frames = mapStack(await stackOf(`${META}\nhost.call(() => { null.x })`, 'a.js', { host }), {
      filename: 'a.js',
    });
    expect(frames.map(({ line, column }) => `${line}:${column}`)).toEqual(['2:24', '2:6']);
  });
});
