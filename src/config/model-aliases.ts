/** Aliases of models. The key of a call keeps the alias; what it means is looked up when the call is handed to a backend. */
import type { AgentBackend } from '../agents/backend.js';
import { listBackends } from '../agents/choose-backend.js';
import type { Config } from './load-config.js';

type Models = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** @returns the model for that backend; undefined for an alias that names none for it, neither by its name nor by its kind */
export function createModelResolver({ data }: Config): (name: string, backend: AgentBackend) => string | undefined {
  const models: Models = data.models ?? {};
  const kinds = new Map(listBackends(data.backends).map((known) => [known.name, known.kindName]));
  return (name, backend) => {
    const alias = Object.hasOwn(models, name) ? models[name] : undefined;
    // What makes its answers up has no models.
    if (alias === undefined || backend.capabilities.madeUp === true) return name;
    return alias[backend.name] ?? alias[kinds.get(backend.name) ?? ''];
  };
}

/** What a resume should say of aliases that meant something else in the run that it goes on from. */
export function describeAliasChanges(before: Models = {}, now: Models = {}): string[] {
  const notices: string[] = [];
  for (const [alias, models] of Object.entries(before)) {
    for (const [backend, model] of Object.entries(models)) {
      const meant = now[alias]?.[backend];
      if (meant === model) continue;
      notices.push(
        `The model alias ${alias} is now ${meant ?? 'not set'} for ${backend}; the source run had ${model}. Reused answers keep theirs.`,
      );
    }
  }
  return notices;
}
