/**
 * Finds what looks like a schema and says nothing: `{ title: 'string', count: 'number' }` is a JSON Schema that every
 * answer fits, and its author waits for data of that shape.
 */

type Schema = Record<string, unknown>;

/** Keywords that limit what fits. One of them makes a schema a meant one. */
const LIMITING = new Set(
  [
    'type enum const properties required patternProperties additionalProperties propertyNames minProperties maxProperties',
    'dependentRequired dependentSchemas dependencies unevaluatedProperties items prefixItems additionalItems contains',
    'minContains maxContains minItems maxItems uniqueItems unevaluatedItems minLength maxLength pattern format minimum',
    'maximum exclusiveMinimum exclusiveMaximum multipleOf allOf anyOf oneOf not if then else $ref $dynamicRef',
    '$recursiveRef contentEncoding contentMediaType contentSchema',
  ].flatMap((words) => words.split(' ')),
);
/** Keywords that only tell. */
const TELLING = new Set(
  [
    '$schema $id id $comment $defs definitions $anchor $dynamicAnchor $recursiveAnchor $vocabulary title description',
    'default examples example deprecated readOnly writeOnly nullable discriminator xml externalDocs markdownDescription',
  ].flatMap((words) => words.split(' ')),
);

/** By custom a keyword of somebody's own, which others pass over. */
const isOwn = (name: string): boolean => /^x-/i.test(name);

/** The first name in a schema that limits nothing which is no keyword; `undefined` when the schema is a meant one. */
export function findShorthand(schema: object): string | undefined {
  const names = Object.keys(schema);
  if (names.some((name) => LIMITING.has(name))) return undefined;
  return names.find((name) => !TELLING.has(name) && !isOwn(name));
}

const TYPE_WORD = /^(?:string|number|integer|boolean|object|array|null)\b/;
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions'];
const PARTS = ['items', 'additionalProperties', 'contains', 'not'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];

/** The path of a part that gives names the words of types, such as `schema.items.title`; the root is not looked at. */
export function findShorthandWithin(schema: unknown, path: string): string | undefined {
  if (!isObject(schema)) return undefined;
  const parts: [string, unknown][] = [
    ...MAPS.flatMap((key) =>
      entriesOf(schema[key]).map(([name, part]): [string, unknown] => [`.${key}.${name}`, part]),
    ),
    ...PARTS.map((key): [string, unknown] => [`.${key}`, schema[key]]),
    ...LISTS.flatMap((key) => entriesOf(schema[key]).map(([i, part]): [string, unknown] => [`.${key}[${i}]`, part])),
  ];
  for (const [step, part] of parts) {
    const name = isObject(part) ? findShorthand(part) : undefined;
    const word = name === undefined ? undefined : (part as Schema)[name];
    if (typeof word === 'string' && TYPE_WORD.test(word)) return `${path}${step}.${name}`;
    const within = findShorthandWithin(part, path + step);
    if (within !== undefined) return within;
  }
  return undefined;
}

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];
