/** How the faults of a schema are told that is none: one for each place, since Ajv tells each way in which it could be right. */

/** Three are enough to see what is meant. */
const TOLD = 3;
const TYPES = 'string, number, integer, boolean, object, array, null';

/** @param lines such as `/properties/a/type must be array` */
export function tellSchemaFaults(lines: readonly string[]): string {
  const byPlace = new Map<string, string>();
  for (const line of lines) {
    const place = line.slice(0, line.indexOf(' '));
    if (!byPlace.has(place)) byPlace.set(place, line);
  }
  return [...byPlace.values()]
    .slice(0, TOLD)
    .map((line) =>
      line
        .replace(/ must be object,boolean$/, " must be a schema, such as { type: 'string' }")
        .replace(/\/type must be equal to one of the allowed values.*$/, `/type must be one of ${TYPES}`),
    )
    .join('; ');
}
