/**
 * Makes the check of one schema by Ajv: draft-07 when `$schema` says so, else 2020-12. Imports nothing of this package: the
 * thread that checks patterns loads this file alone.
 */
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formatsModule from 'ajv-formats';

/** Gives what does not fit, at most ten lines as `/items/0/name must be string`; empty for a value that fits. */
export type SchemaCheck = (value: unknown) => string[];

const MAX_ERRORS = 10;

/** Above that many values only the first error is looked for: a list of all could outgrow the memory. */
const MAX_LISTED_VALUES = 20_000;

/** The same for a schema that is too wide for a check that stops at the first error. */
const MAX_WIDE_VALUES = 200_000;
/** Of so many properties it is not even tried. */
const WIDE = 1_000;

const OPTIONS: Options = {
  strict: false,
  // Without the u flag V8 can bound the backtracking of a pattern.
  unicodeRegExp: false,
  // `{}` has no own `constructor`.
  ownProperties: true,
  logger: false,
};

type Draft = 'draft-07' | '2020-12';

const shared = new Map<string, Ajv>();

/**
 * Compiles a schema.
 *
 * @param text the schema as JSON
 * @throws Error that says why it cannot be compiled
 */
export function makeCheck(text: string): SchemaCheck {
  const schema = JSON.parse(text) as Record<string, unknown>;
  const draft = draftOf(schema);
  // Both drafts are named in several spellings; the compiler is chosen already.
  delete schema.$schema;
  let listAll: ValidateFunction | undefined;
  const list = (value: unknown): string[] => {
    listAll ??= compileWith(schema, draft, text, true);
    return listAll(value) ? [] : describeErrors(listAll.errors);
  };
  // Code that stops at the first error has one block within the other for each property: of thousands, too many for the
  // stack. That which lists all has them one behind the other.
  let fits = isWide(schema) ? undefined : unlessTooDeep(() => compileWith(schema, draft, text, false));
  if (fits === undefined) listAll = compileWith(schema, draft, text, true);

  const check = (value: unknown): string[] | undefined => {
    const isFit = fits && unlessTooDeep(() => fits?.(value));
    if (isFit) return [];
    if (isFit === undefined) {
      if (!hasAtMost(MAX_WIDE_VALUES, value)) return undefined;
      const errors = list(value);
      // The code, which is parsed at its first use, was what is nested too deeply, and not the value.
      fits = undefined;
      return errors;
    }
    const first = describeErrors(fits?.errors);
    if (!hasAtMost(MAX_LISTED_VALUES, value)) return first;
    const all = list(value);
    return all.length === 0 ? first : all;
  };
  return (value) => unlessTooDeep(() => check(value)) ?? ['/ is too large or nested too deeply to be checked'];
}

/** What the work gives; undefined where the stack does not suffice for it. */
function unlessTooDeep<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function isWide(schema: object): boolean {
  const rest: unknown[] = [schema];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next !== 'object' || next === null) continue;
    const members = Object.values(next);
    if (members.length > WIDE && !Array.isArray(next)) return true;
    for (const member of members) rest.push(member);
  }
  return false;
}

function draftOf(schema: Record<string, unknown>): Draft {
  const named = schema.$schema;
  if (named === undefined) return hasTupleItems(schema) ? 'draft-07' : '2020-12';
  if (typeof named === 'string') {
    if (/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(named)) return 'draft-07';
    if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(named)) return '2020-12';
  }
  throw new Error(`its $schema ${JSON.stringify(named)} is not supported; use draft-07 or 2020-12`);
}

/** Lists as `items` are the tuples of draft-07; 2020-12 does not know them. */
function hasTupleItems(schema: object): boolean {
  const text = JSON.stringify(schema);
  return /"items":\[/.test(text) && !/"(prefixItems|unevaluated\w+|dependent\w+|\$dynamicRef)":/.test(text);
}

function compileWith(schema: object, draft: Draft, text: string, allErrors: boolean): ValidateFunction {
  // A schema with names of its own must not meet another one of the same name.
  const own = /"\$(id|anchor|dynamicAnchor)":/.test(text);
  const place = `${draft} ${allErrors}`;
  let ajv = own ? undefined : shared.get(place);
  if (!ajv) {
    // Of thousands of properties the optimizer takes longer than all the rest; a list is made once for an answer at most.
    const options = { ...OPTIONS, allErrors, code: { optimize: !allErrors } };
    ajv = draft === 'draft-07' ? new Ajv(options) : (new Ajv2020(options) as unknown as Ajv);
    formatsModule.default(ajv);
    if (!own) shared.set(place, ajv);
  }
  try {
    return ajv.compile(schema);
  } catch (error) {
    if (ajv.errors?.length) {
      throw new Error(`it is not valid JSON Schema ${draft}: ${describeErrors(ajv.errors).join('; ')}`);
    }
    throw error;
  } finally {
    ajv.errors = null;
    if (!own) ajv.removeSchema(schema);
  }
}

function describeErrors(errors: readonly ErrorObject[] | null | undefined): string[] {
  const lines = new Set<string>();
  for (const error of errors ?? []) {
    if (lines.size >= MAX_ERRORS) break;
    lines.add(`${error.instancePath || '/'} ${error.message ?? 'does not fit'}${detailsOf(error)}`);
  }
  return [...lines];
}

function detailsOf({ keyword, params }: ErrorObject): string {
  if (keyword === 'additionalProperties') return `: ${JSON.stringify(params.additionalProperty)}`;
  if (keyword === 'enum') return `: ${JSON.stringify(params.allowedValues).slice(0, 200)}`;
  if (keyword === 'const') return `: ${JSON.stringify(params.allowedValue).slice(0, 200)}`;
  return '';
}

function hasAtMost(limit: number, value: unknown): boolean {
  const rest = [value];
  for (let count = 0; rest.length > 0; count++) {
    if (count + rest.length > limit) return false;
    const next = rest.pop();
    if (typeof next !== 'object' || next === null) continue;
    const members = Object.values(next);
    if (count + rest.length + members.length > limit) return false;
    for (const member of members) rest.push(member);
  }
  return true;
}
