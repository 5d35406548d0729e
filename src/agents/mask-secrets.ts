/** Replaces secrets in what a backend hands over, once and before anybody else sees it. */

/** Shorter values stand in ordinary text too often. */
const SHORTEST = 12;

export type Mask = (text: string) => string;

/**
 * Makes a mask that turns each value into `[secret:NAME]`. Values shorter than 12 characters are left alone.
 *
 * @returns `undefined` when there is nothing to mask
 * @example createMask({ API_TOKEN: 'abcdefghijkl' })?.('token abcdefghijkl') // 'token [secret:API_TOKEN]'
 */
export function createMask(secrets: Readonly<Record<string, string | undefined>>): Mask | undefined {
  const replacements = new Map<string, string>();
  for (const [name, value] of Object.entries(secrets)) {
    if (value === undefined || value.length < SHORTEST) continue;
    replacements.set(value, `[secret:${name}]`);
    // As it stands inside of JSON text.
    replacements.set(JSON.stringify(value).slice(1, -1), `[secret:${name}]`);
  }
  if (replacements.size === 0) return undefined;
  // Longer ones first: one may hold another.
  const list = [...replacements].sort(([a], [b]) => b.length - a.length);
  return (text) => list.reduce((masked, [value, word]) => masked.replaceAll(value, () => word), text);
}
