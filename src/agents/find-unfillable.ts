/** Finds object schemas that no object can fit: a required name that `additionalProperties: false` shuts out. */

type Schema = Record<string, unknown>;

/** Keywords that hold a schema or a list of schemas. Those in which a schema that nothing fits makes sense are left out. */
const SCHEMA_KEYWORDS = [
  'items',
  'prefixItems',
  'additionalItems',
  'contains',
  'additionalProperties',
  'allOf',
  'anyOf',
];
const MAP_KEYWORDS = ['properties', 'patternProperties', '$defs', 'definitions'];

/** Says where such a schema lies and which name it is, or `null`. */
export function findUnfillable(schema: unknown, path = ''): string | null {
  if (Array.isArray(schema)) return findFirst(schema.entries(), path);
  if (typeof schema !== 'object' || schema === null) return null;
  const node = schema as Schema;
  const name = excludedName(node);
  if (name !== undefined) {
    const place = path === '' ? 'it' : `its part ${path}`;
    return `${place} requires ${JSON.stringify(name)}, which is not among its properties while additionalProperties is false`;
  }
  for (const keyword of SCHEMA_KEYWORDS) {
    const found = findUnfillable(node[keyword], `${path}/${keyword}`);
    if (found !== null) return found;
  }
  for (const keyword of MAP_KEYWORDS) {
    const map = node[keyword];
    if (typeof map !== 'object' || map === null) continue;
    const found = findFirst(Object.entries(map), `${path}/${keyword}`);
    if (found !== null) return found;
  }
  return null;
}

function findFirst(parts: Iterable<[number | string, unknown]>, path: string): string | null {
  for (const [name, part] of parts) {
    const found = findUnfillable(part, `${path}/${name}`);
    if (found !== null) return found;
  }
  return null;
}

function excludedName({ required, properties, patternProperties, additionalProperties }: Schema): string | undefined {
  if (additionalProperties !== false || !Array.isArray(required)) return undefined;
  // Whether a pattern lets a name in is not tried out here: patterns may be hostile.
  if (patternProperties && Object.keys(patternProperties).length > 0) return undefined;
  return required.find((name) => !Object.hasOwn((properties as object | undefined) ?? {}, name));
}
