/** Makes a backend by its name. It never takes another one instead, least of all `mock`. */
import { WfError } from '../shared/errors.js';
import { nearestWord } from '../shared/nearest-word.js';
import type { AgentBackend } from './backend.js';
import { BACKEND_KINDS, type BackendKind, type BackendOptions } from './backend-kinds.js';

export type { BackendOptions } from './backend-kinds.js';

/** Kinds of backends, which are also names. */
export const BACKEND_NAMES: readonly string[] = Object.keys(BACKEND_KINDS);

/** `backends` of the config: settings of a kind, or for a kind of which there are many those of each by name. */
export type BackendSettings = Readonly<Record<string, unknown>>;

/** A backend that can be chosen by this name. */
export interface KnownBackend {
  name: string;
  /** Key of `BACKEND_KINDS`. */
  kindName: string;
  kind: BackendKind;
  settings: unknown;
}

/** Everything that a name may mean: the kinds, and what the config has set up under names of its own. */
export function listBackends(config: BackendSettings = {}): KnownBackend[] {
  return Object.entries(BACKEND_KINDS).flatMap(([kindName, kind]): KnownBackend[] => {
    const set = config[kindName];
    if (!kind.many) return [{ name: kindName, kindName, kind, settings: set }];
    const own = set as Record<string, unknown> | undefined;
    // What was set up stands first, also where it takes the place of a preset.
    const named = Object.entries({ ...own, ...kind.presets, ...own });
    return [
      { name: kindName, kindName, kind, settings: undefined },
      ...named.map(([name, settings]) => ({ name, kindName, kind, settings })),
    ];
  });
}

/** Those that stand for a backend by themselves: without `mock`, and without kinds that need a name or a command line. */
export const listNamedBackends = (config?: BackendSettings): KnownBackend[] =>
  listBackends(config).filter(({ name, kindName, kind }) => !kind.madeUp && !(kind.many && name === kindName));

/** @throws WfError `WF_BACKEND_UNKNOWN` */
function findBackend(name: string, config: BackendSettings = {}): KnownBackend {
  const all = listBackends(config);
  const found = all.find((known) => known.name === name);
  if (found !== undefined) return found;
  const names = all.map((known) => known.name);
  const nearest = nearestWord(name, names);
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  throw new WfError('WF_BACKEND_UNKNOWN', `There is no backend named ${JSON.stringify(name)}.${meant}`, {
    remedy: `Known backends: ${names.join(', ')}. Choose one with --backend <name>; the config can set up more.`,
  });
}

/**
 * Makes the backend of that name; only its own code is loaded.
 *
 * @throws WfError `WF_BACKEND_UNKNOWN`, `WF_BACKEND_CONFIG`, `WF_MOCK_FILE`
 * @example await createBackend('command', { command: 'my-agent --print' })
 */
export async function createBackend(
  name: string,
  options: Omit<BackendOptions, 'settings'> = {},
  config: BackendSettings = {},
): Promise<AgentBackend> {
  const { kind, settings } = findBackend(name, config);
  const backend = await kind.make({ ...options, settings });
  return backend.name === name ? backend : rename(backend, name);
}

/** Journal, gates and messages know a backend by the name it was chosen by. */
function rename(backend: AgentBackend, name: string): AgentBackend {
  const renamed: AgentBackend = {
    name,
    get capabilities() {
      return backend.capabilities;
    },
    probe: (signal) => backend.probe(signal),
    run: (request, context) => backend.run(request, context),
  };
  if (backend.close) renamed.close = () => backend.close?.() ?? Promise.resolve();
  return renamed;
}
