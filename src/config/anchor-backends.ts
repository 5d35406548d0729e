/** Takes the relative paths of a config from the folder that it speaks for. Done before files are merged: each has its own. */
import { BACKEND_KINDS, type BackendKind } from '../agents/backend-kinds.js';
import type { ConfigData } from './check-config.js';

export function anchorBackends(data: ConfigData, folder: string): ConfigData {
  if (data.backends === undefined) return data;
  const kinds = Object.entries(data.backends).map(([kindName, settings]) => {
    const kind = BACKEND_KINDS[kindName];
    return [kindName, anchorKind(kind, settings as object | undefined, folder)];
  });
  return { ...data, backends: Object.fromEntries(kinds) };
}

function anchorKind(kind: BackendKind | undefined, settings: object | undefined, folder: string): unknown {
  if (settings === undefined || kind?.anchor === undefined) return settings;
  if (!kind.many) return kind.anchor(settings, folder);
  return Object.fromEntries(Object.entries(settings).map(([name, set]) => [name, kind.anchor?.(set, folder)]));
}
