/** The values that must not leave a backend: of the variables that the config declares, and of the keys that backends are given. */
import { BACKEND_KINDS } from '../agents/backend-kinds.js';
import { KEY_VARIABLES, type Secrets } from '../agents/mask-secrets.js';
import type { Config } from './load-config.js';

/** Of the variables that a backend is given, those that hold a secret by their name. */
const SECRET_NAME = /^\w*(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?$/i;

export function collectSecrets({ data }: Config, env: Readonly<Record<string, string | undefined>>): Secrets {
  const keys = Object.values(BACKEND_KINDS).flatMap((kind) => kind.keys ?? []);
  const names = [...(data.secrets ?? []), ...KEY_VARIABLES, ...keys, ...listNames(data.backends)];
  const declared = new Set([...(data.secrets ?? []), ...keys]);
  const secrets: Record<string, string> = {};
  for (const name of names) {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined && (declared.has(name) || SECRET_NAME.test(name))) secrets[name] = value;
  }
  return secrets;
}

/** Settings of a backend name its variables in fields of their own, or as `${NAME}`: each such word in them counts. */
function listNames(value: unknown): string[] {
  if (typeof value === 'string') return value.match(/[A-Za-z_]\w*/g) ?? [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listNames) : [];
}
