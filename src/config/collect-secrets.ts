/** The values that must not leave a backend: of the variables that the config declares, and of the keys that backends are given. */
import { BACKEND_KINDS } from '../agents/backend-kinds.js';
import { KEY_VARIABLES, type Secrets } from '../agents/mask-secrets.js';
import type { Config } from './load-config.js';

/** Of the variables that a backend is given, those that hold a secret by their name. */
const SECRET_NAME = /^\w*(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?$/i;

/** One `Name: value` a line. */
const HEADERS = 'ANTHROPIC_CUSTOM_HEADERS';

export function collectSecrets({ data }: Config, env: Readonly<Record<string, string | undefined>>): Secrets {
  const keys = Object.values(BACKEND_KINDS).flatMap((kind) => kind.keys ?? []);
  const handed = Object.values(BACKEND_KINDS).flatMap((kind) => kind.handed?.(env) ?? []);
  const declared = new Set([...(data.secrets ?? []), ...keys, ...listKeyNames(data.backends)]);
  const names = new Set([...declared, ...KEY_VARIABLES, ...handed, ...listNames(data.backends)]);
  const secrets: Record<string, string> = {};
  for (const name of names) {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined || !(declared.has(name) || SECRET_NAME.test(name))) continue;
    secrets[name] = name === HEADERS ? withHeaderValues(value) : value;
  }
  return secrets;
}

/** Settings of a backend name its variables in fields of their own, or as `${NAME}`: each such word in them counts. */
function listNames(value: unknown): string[] {
  if (typeof value === 'string') return value.match(/[A-Za-z_]\w*/g) ?? [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listNames) : [];
}

/** A variable that `apiKeyEnv` names holds a key, whatever it is called. */
function listKeyNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([field, inner]) =>
    field === 'apiKeyEnv' && typeof inner === 'string' ? [inner] : listKeyNames(inner),
  );
}

/** Each line of a secret is one by itself; of a header that signs in, so is what stands behind its name. */
function withHeaderValues(headers: string): string {
  const values = [
    ...headers.matchAll(/^[^:\n]*(?:auth|key|token|secret|cookie)[^:\n]*:[ \t]*(?:(?:Bearer|Basic)[ \t]+)?(.+)$/gim),
  ];
  return [headers, ...values.map(([, value]) => value)].join('\n');
}
