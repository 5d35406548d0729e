/** Which schemas a model server can be handed, and the words that ask for them where it cannot. */

/** Structured output of all vendors asks for an object at the root. */
export function hasObjectRoot(schema: object): boolean {
  return (schema as { type?: unknown }).type === 'object';
}

const NESTED = ['items', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'] as const;
/** OpenAI's strict mode answers a schema with one of these with status 400. */
const NOT_STRICT = [
  ...['allOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas', 'dependencies'],
  ...['patternProperties', 'propertyNames', 'contains', 'prefixItems', 'unevaluatedProperties', 'unevaluatedItems'],
  ...['additionalItems', 'minProperties', 'maxProperties', 'uniqueItems', 'default'],
];

/** True when OpenAI's strict mode takes the schema: an object root, every property required, no others, known keywords. */
export function isStrictSchema(schema: object): boolean {
  return hasObjectRoot(schema) && !('anyOf' in schema) && isStrict(schema);
}

function isStrict(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return false;
  const entry = schema as Record<string, unknown>;
  if (NOT_STRICT.some((word) => Object.hasOwn(entry, word))) return false;
  const isObject = entry.type === 'object' || (Array.isArray(entry.type) && entry.type.includes('object'));
  const properties = (entry.properties ?? {}) as Record<string, unknown>;
  if (isObject || entry.properties !== undefined) {
    const required = Array.isArray(entry.required) ? entry.required : [];
    if (entry.additionalProperties !== false) return false;
    if (Object.keys(properties).some((name) => !required.includes(name))) return false;
  }
  const isAny = ['type', 'enum', 'const', '$ref', 'anyOf'].every((word) => !Object.hasOwn(entry, word));
  if (isAny || (entry.type === 'array' && entry.items === undefined)) return false;
  const below = [
    ...Object.values(properties),
    ...['$defs', 'definitions'].flatMap((name) => Object.values((entry[name] ?? {}) as object)),
    ...(Array.isArray(entry.anyOf) ? entry.anyOf : []),
    ...NESTED.flatMap((name) => (entry[name] === undefined ? [] : [entry[name]])),
  ];
  return below.every(isStrict);
}

/** For a model that is not handed the schema in any other way. */
export function askForSchema(prompt: string, schema: object): string {
  return `${prompt}\n\n---\nAnswer with one JSON value alone, without any other text. It must fit this JSON Schema:\n${JSON.stringify(schema)}`;
}
