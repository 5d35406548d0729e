/** Replaces secrets in what a backend hands over, once and before anybody else sees it. */

/** Values by the names of their variables. */
export type Secrets = Readonly<Record<string, string | undefined>>;

/** Shorter values stand in ordinary text too often. */
export const SHORTEST_SECRET = 12;

/** Keys of the services that agents speak to: never of use in an answer, so masked without being declared. */
export const KEY_VARIABLES = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'OPENAI_API_KEY',
  'CODEX_API_KEY',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
] as const;

export type Mask = (text: string) => string;

/**
 * Makes a mask that turns each value into `[secret:NAME]`. Values shorter than 12 characters are left alone.
 *
 * @returns `undefined` when there is nothing to mask
 * @example createMask({ API_TOKEN: 'abcdefghijkl' })?.('token abcdefghijkl') // 'token [secret:API_TOKEN]'
 */
export function createMask(secrets: Secrets): Mask | undefined {
  const list = listForms(secrets);
  if (list.length === 0) return undefined;
  return (text) => list.reduce((masked, [form, name]) => masked.replaceAll(form, () => `[secret:${name}]`), text);
}

/** Name of a secret whose value stands in the text. */
export function findSecret(secrets: Secrets, text: string): string | undefined {
  return listForms(secrets).find(([form]) => text.includes(form))?.[1];
}

/** What is looked for, with the name of its secret; longer ones first, as one may hold another. */
function listForms(secrets: Secrets): [form: string, name: string][] {
  const forms = new Map<string, string>();
  for (const [name, value] of Object.entries(secrets)) {
    // Progress comes line by line, so each line of a key file is a secret by itself. A last line end is none.
    for (const part of [value?.trim() ?? '', ...(value?.split(/\r?\n/).map((line) => line.trim()) ?? [])]) {
      if (part.length < SHORTEST_SECRET) continue;
      // The second as it stands inside of JSON text.
      for (const form of [part, JSON.stringify(part).slice(1, -1)]) if (!forms.has(form)) forms.set(form, name);
    }
  }
  return [...forms].sort(([a], [b]) => b.length - a.length);
}
