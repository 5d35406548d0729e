/**
 * Compiles JSON Schemas (draft-07 and 2020-12) into checks that name what does not fit, once for each schema. Only Ajv: no
 * files, no workers, so that the sandbox's bundle can hold it.
 */
import { makeCheck, type SchemaCheck } from './compile-check.js';
import { tellSchemaFaults } from '../shared/schema-faults.js';
import { findShorthand } from '../shared/schema-shorthand.js';
import { findUnfillable } from './find-unfillable.js';

export type { SchemaCheck } from './compile-check.js';

const MAX_KEPT = 500;

interface Compiled {
  /** Absent when the schema does not compile. */
  check?: SchemaCheck;
  /** Why the schema cannot be used. */
  fault: string | null;
}

const byIdentity = new WeakMap<object, Compiled>();
const byText = new Map<string, Compiled>();

/**
 * Says in a few words why a schema cannot be used, or `null` when it can. Cheap for a schema that was seen before.
 *
 * @example checkSchema({ type: 'strnig' }) // 'it is not valid JSON Schema 2020-12: /type must be …'
 */
export function checkSchema(schema: unknown): string | null {
  if (typeof schema === 'boolean') return null;
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    const what = schema === null ? 'null' : Array.isArray(schema) ? 'an array' : `a ${typeof schema}`;
    return `it must be an object or a boolean, not ${what}`;
  }
  return lookUp(schema).fault;
}

/**
 * Gives the check of a schema, compiled once for each text.
 *
 * @throws Error when it cannot be compiled; `checkSchema` tells why in words
 */
export function compileSchema(schema: object | boolean): SchemaCheck {
  if (typeof schema === 'boolean') return () => (schema ? [] : ['/ is never allowed']);
  const { check, fault } = lookUp(schema);
  if (!check) throw new Error(`The schema cannot be used: ${fault}.`);
  return check;
}

function lookUp(schema: object): Compiled {
  let entry = byIdentity.get(schema);
  if (entry) return entry;
  try {
    const text = JSON.stringify(schema);
    entry = byText.get(text) ?? compile(text);
    if (byText.size >= MAX_KEPT) byText.delete(byText.keys().next().value as string);
    byText.set(text, entry);
  } catch (error) {
    entry = { fault: `it is not plain JSON: ${explain(error)}` };
  }
  byIdentity.set(schema, entry);
  return entry;
}

function compile(text: string): Compiled {
  try {
    const schema = JSON.parse(text) as object;
    return { check: makeCheck(text), fault: explainShorthand(schema) ?? findUnfillable(schema) };
  } catch (error) {
    return { fault: explain(error) };
  }
}

function explainShorthand(schema: object): string | null {
  const name = findShorthand(schema);
  if (name === undefined) return null;
  return `it says nothing of the answer, and \`${name}\` is no keyword of JSON Schema; write { type: 'object', properties: { … } }`;
}

function explain(error: unknown): string {
  if (error instanceof RangeError) return 'it is too large or nested too deeply';
  const missing = (error as { missingRef?: unknown }).missingRef;
  if (typeof missing === 'string') {
    const ref = JSON.stringify(missing);
    if (missing.startsWith('#')) return `its $ref ${ref} points to nothing`;
    return `its $ref ${ref} lies outside of the schema, and nothing is fetched`;
  }
  if (!(error instanceof Error)) return String(error);
  const [, what, faults] = /^(it is not valid JSON Schema \S+: )(.*)$/s.exec(error.message) ?? [];
  return faults === undefined ? error.message.slice(0, 500) : `${what}${tellSchemaFaults(faults.split('; '))}`;
}
