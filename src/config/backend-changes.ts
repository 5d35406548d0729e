/** What a resume can say of the settings of backends: a run records a digest of each, as they may hold what nobody should read there. */
import { hash } from 'node:crypto';
import { BACKEND_KINDS } from '../agents/backend-kinds.js';
import type { BackendSettings } from '../agents/choose-backend.js';
import { canonicalJson } from '../shared/canonical-json.js';

type Digests = Readonly<Record<string, string>>;

/** By the name of each backend that the config sets up. A project that was moved has the same settings as before. */
export function digestBackends(config: BackendSettings | undefined, root: string): Record<string, string> {
  const rootJson = JSON.stringify(root);
  const inRootJson = `${rootJson.slice(0, -1)}/`;
  const digest = (set: unknown): string =>
    hash('sha256', canonicalJson(set).replaceAll(inRootJson, '"').replaceAll(rootJson, '"."'));
  const named = Object.entries(config ?? {}).flatMap(([kind, settings]) =>
    BACKEND_KINDS[kind]?.many ? Object.entries(settings as object) : [[kind, settings] as const],
  );
  return Object.fromEntries(named.map(([name, set]) => [name, digest(set).slice(0, 16)]));
}

/** @param before of the run that is gone on from; undefined where it recorded none */
export function describeBackendChanges(before: Digests | undefined, now: Digests): string[] {
  if (before === undefined) return [];
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return names
    .filter((name) => before[name] !== now[name])
    .map((name) => {
      const what =
        before[name] === undefined
          ? `The config now sets up the backend ${name}; for the source run it did not`
          : now[name] === undefined
            ? `The config no longer sets up the backend ${name}, as it did for the source run`
            : `The settings of the backend ${name} differ from those of the source run`;
      return `${what}. Reused answers stay as they are.`;
    });
}
