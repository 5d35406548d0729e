/** Whether a JSON Schema can be met at all, as far as plain contradictions go. */

type Schema = Record<string, unknown>;

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Why no value fits a schema, or `undefined` when none of the plain reasons holds: a required property that may not be
 * there, a lower limit above the upper one, a choice of nothing, or such a contradiction in a required property.
 *
 * @param path how the message names the schema
 */
export function findContradiction(schema: unknown, path: string): string | undefined {
  if (schema === false) return `${path} is \`false\`, which allows nothing`;
  if (!isObject(schema)) return undefined;
  return (
    findCrossedLimits(schema, path) ??
    findEmptyChoice(schema, path) ??
    findForbiddenProperty(schema, path) ??
    findInRequired(schema, path) ??
    findInItems(schema, path) ??
    findInBranches(schema, path)
  );
}

const LIMITS = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const;

function findCrossedLimits(schema: Schema, path: string): string | undefined {
  for (const [low, high] of LIMITS) {
    const [from, to] = [schema[low], schema[high]];
    if (typeof from === 'number' && typeof to === 'number' && from > to)
      return `${path} has ${low} ${from} above ${high} ${to}`;
  }
  return undefined;
}

function findEmptyChoice(schema: Schema, path: string): string | undefined {
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type;
  if (!Array.isArray(types)) return undefined;
  const choice = 'const' in schema ? [schema.const] : schema.enum;
  if (
    !Array.isArray(choice) ||
    choice.length === 0 ||
    choice.some((value) => types.some((type) => hasType(value, type)))
  )
    return undefined;
  return `${path} allows only values that are not of its type (${types.join(', ')})`;
}

function hasType(value: unknown, type: unknown): boolean {
  if (value === null) return type === 'null';
  if (Array.isArray(value)) return type === 'array';
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

/** True when the schema says that only objects fit. */
const isForObjects = (schema: Schema): boolean => schema.type === 'object';

function requiredOf(schema: Schema): string[] {
  if (!isForObjects(schema) || !Array.isArray(schema.required)) return [];
  return schema.required.filter((name) => typeof name === 'string');
}

function findForbiddenProperty(schema: Schema, path: string): string | undefined {
  const { additionalProperties, properties, patternProperties } = schema;
  if (additionalProperties !== false) return undefined;
  const known = isObject(properties) ? properties : {};
  // Patterns are not run here: one could be made to take for ever.
  if (isObject(patternProperties) && Object.keys(patternProperties).length > 0) return undefined;
  const missing = requiredOf(schema).find((name) => !Object.hasOwn(known, name));
  if (missing === undefined) return undefined;
  return `${path} requires \`${missing}\`, which is not among its properties, and allows no others`;
}

function findInRequired(schema: Schema, path: string): string | undefined {
  const properties = isObject(schema.properties) ? schema.properties : {};
  for (const name of requiredOf(schema)) {
    if (!Object.hasOwn(properties, name)) continue;
    const found = findContradiction(properties[name], `${path}.properties.${name}`);
    if (found) return found;
  }
  return undefined;
}

function findInItems(schema: Schema, path: string): string | undefined {
  const needsItems = schema.type === 'array' && typeof schema.minItems === 'number' && schema.minItems > 0;
  return needsItems && !Array.isArray(schema.prefixItems) && !Array.isArray(schema.items)
    ? findContradiction(schema.items, `${path}.items`)
    : undefined;
}

function findInBranches(schema: Schema, path: string): string | undefined {
  const all = Array.isArray(schema.allOf) ? schema.allOf : [];
  for (const [index, branch] of all.entries()) {
    const found = findContradiction(branch, `${path}.allOf[${index}]`);
    if (found) return found;
  }
  for (const word of ['anyOf', 'oneOf']) {
    const branches = schema[word];
    if (!Array.isArray(branches) || branches.length === 0) continue;
    const found = branches.map((branch, index) => findContradiction(branch, `${path}.${word}[${index}]`));
    if (found.every((one) => one !== undefined)) return found[0];
  }
  return undefined;
}
