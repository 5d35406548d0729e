/**
 * JSON text with sorted keys, so that equal values have equal text.
 * Own enumerable properties only; array order is kept; members that are `undefined` are left out, as JSON does.
 * Works on parsed JSON: no getters, no `toJSON`, no cycles.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) {
    let text = '[';
    for (let i = 0; i < value.length; i++) text += (i === 0 ? '' : ',') + canonicalJson(value[i]);
    return `${text}]`;
  }
  const members = value as Record<string, unknown>;
  let text = '{';
  for (const name of Object.keys(members).sort()) {
    const member = members[name];
    if (member === undefined) continue;
    text += `${text.length === 1 ? '' : ','}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `${text}}`;
}
