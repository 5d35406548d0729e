/** Makes up a value that fits a schema; the same key and schema give the same value. Loaded with the first schema. */
import { generate, type JsonSchema } from 'json-schema-faker';
import { messageOf } from '../../shared/errors.js';
import { BackendError } from '../backend.js';
import { judgeValue } from '../schema-guard.js';

const TRIES = 5;

/** Small values, so that a rehearsal of many calls stays readable. */
const OPTIONS = { alwaysFakeOptionals: true, maxDefaultItems: 3, maxDepth: 8, refDepthMax: 3, useDefaultValue: true };

/**
 * @param key hex digits
 * @returns JSON text
 * @throws BackendError kind `schema` when no fitting value was found
 */
export async function makeUpValue(schema: object, key: string): Promise<string> {
  let reason = '';
  for (let attempt = 0; attempt < TRIES; attempt++) {
    // Optional members make the richer value, but in odd schemas they are what does not fit.
    const options =
      attempt === 0 ? OPTIONS : { ...OPTIONS, alwaysFakeOptionals: false, optionalsProbability: 1 - attempt / TRIES };
    const seed = (Number.parseInt(key.slice(0, 8), 16) || 0) + attempt;
    try {
      const value = await generate(rewriteTuples(schema) as JsonSchema, { ...options, seed });
      const verdict = await judgeValue(schema, value);
      if (verdict.fits) return verdict.output;
      reason = verdict.errors[0] ?? '';
    } catch (error) {
      reason = messageOf(error);
    }
  }
  throw new BackendError('schema', `mock cannot make up a value that fits the schema: ${reason}.`, {
    remedy: 'Give a rule with a reply for this call (`--mock <file>`).',
  });
}

/** A copy, as the faker writes into its schema, in which the tuples of draft-07 are those of 2020-12: it knows no others. */
function rewriteTuples(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(rewriteTuples);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { items, additionalItems, ...rest } = schema as Record<string, unknown>;
  const tuple = Array.isArray(items) ? { prefixItems: items, items: additionalItems } : { items, additionalItems };
  const members = Object.entries({ ...rest, ...tuple }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members.map(([name, value]) => [name, rewriteTuples(value)]));
}
