import { createContext, Script } from 'node:vm';
import { expect } from 'vitest';
import type { CheckedScript } from '../../src/script/checked-script.js';
import { type LoadOptions, loadScript } from '../../src/script/load-script.js';
import { WfError } from '../../src/shared/errors.js';

/** A meta that every script of these tests may begin with; one line, no line end. */
export const META = "export const meta = { name: 'test', description: 'A test' }";

/** The error with which a script is refused. */
export async function refusalOf(source: string, options: Partial<LoadOptions> = {}): Promise<WfError> {
  try {
    await loadScript(source, { filename: 'test.js', ...options });
  } catch (error) {
    if (WfError.is(error)) return error;
    throw error;
  }
  throw new Error(`This script was not refused:\n${source}`);
}

/** `code line:column` of every fault in one report, in order. */
export const faultsOf = (error: WfError): string[] =>
  [error, ...error.others].map(({ code, place }) => `${code} ${place?.line}:${place?.column}`);

/** Asserts that the place of an error is exactly where `marked` (a text that occurs once) stands in the source. */
export function expectPlaceAt(error: WfError, source: string, marked: string): void {
  const at = source.indexOf(marked);
  expect(at, `${marked} in the source`).toBeGreaterThanOrEqual(0);
  expect(source.indexOf(marked, at + 1), `${marked} occurs twice`).toBe(-1);
  const before = source
    .slice(0, at)
    .replace(/^\ufeff/, '')
    .split(/\r\n|[\n\r\u2028\u2029]/);
  expect(error.place).toMatchObject({ line: before.length, column: (before.at(-1) ?? '').length + 1 });
}

/** Runs the wrapped code in a plain context, as an isolate would. Only tests do that. */
export async function runCode(script: CheckedScript, globals: Record<string, unknown> = {}): Promise<unknown> {
  const compiled = new Script(script.code, { filename: script.filename, columnOffset: script.columnOffset });
  const main = compiled.runInContext(createContext({ ...globals })) as () => Promise<unknown>;
  return await main();
}
