/** The backend of a run, and those that single calls name. Each is made when it is first needed. */
import type { AgentBackend } from '../agents/backend.js';
import { type BackendSettings, createBackend, listBackends } from '../agents/choose-backend.js';
import { WfError } from '../shared/errors.js';
import type { PreparedRun } from './prepare-run.js';
import { type BackendInputs, backendOptions, holdBackend, openLater, type RunBackend } from './run-backend.js';
import type { RunWorkflowOptions } from './run-options.js';

/**
 * Refuses what can be refused without cost. A backend that comes from the record of an earlier run is made at the first
 * call that needs it: a run whose every call is recorded needs none, whatever has become of its program, rules or settings.
 *
 * @throws WfError `WF_BACKEND_UNKNOWN`, `WF_BACKEND_CONFIG`, `WF_MOCK_FILE`, `WF_USAGE`; `WF_CANCELLED` while one is looked for
 */
export async function chooseBackend(given: RunWorkflowOptions, run: BackendInputs): Promise<RunBackend> {
  if (typeof given.backend === 'object') return holdBackend(given.backend);
  const { options, sources, source, config } = run;
  refuseUnused(given, config.data.backends);
  if (options.backend === '') return (await import('./find-run-backend.js')).findRunBackend(run, given);
  const isNew = source === undefined || sources.backend.from === 'given' || given.command !== undefined;
  if (isNew || given.mock !== undefined) return holdBackend(await makeBackend(options.backend, run));
  const known = listBackends(config.data.backends).find(({ name }) => name === options.backend);
  return openLater(options.backend, known?.kind.madeUp ?? source?.record.madeUp === true, () =>
    makeBackend(options.backend, run),
  );
}

/** A program or rules that the named backend would never use: whoever gives them means something else. */
function refuseUnused({ backend, command, mock }: RunWorkflowOptions, settings: BackendSettings | undefined): void {
  // Where none is named, a program or rules themselves say which is meant, and calls may name another.
  const known = listBackends(settings).find(({ name }) => name === backend);
  if (known === undefined) return;
  const takes = known.settings === undefined ? known.kind.takes : undefined;
  for (const [what, value] of Object.entries({ command, mock })) {
    if (value === undefined || takes === what) continue;
    const why = known.kind.takes === what ? 'has its own in its settings' : 'takes none';
    throw new WfError('WF_USAGE', `--${what} has no effect with --backend ${known.name}, which ${why}.`, {
      remedy: `Leave one of them out; --${what} goes with ${what === 'command' ? '--backend command or acp' : '--backend mock'}.`,
    });
  }
}

const makeBackend = (name: string, run: BackendInputs): Promise<AgentBackend> =>
  createBackend(name, backendOptions(run), run.config.data.backends);

/**
 * A ceiling of money needs somebody who counts it.
 *
 * @throws WfError `WF_USAGE` before anything is spent
 */
export async function checkMoneyIsCounted(
  { budgetUsd }: PreparedRun['options'],
  backend: RunBackend,
  prices: RunWorkflowOptions['prices'],
): Promise<void> {
  if (budgetUsd == null || backend.madeUp || Object.keys(prices ?? {}).length > 0) return;
  // Which backends its calls name is not known yet: the first answer of unknown cost stops such a run.
  if (backend.name === '') return;
  if ((await backend.open()).capabilities.usd) return;
  throw new WfError(
    'WF_USAGE',
    `--budget-usd ${budgetUsd} cannot be held: the backend ${backend.name} reports no money, and no prices are configured.`,
    { remedy: 'Add "prices" of its models to the config, or limit tokens with --budget.' },
  );
}

/** Backends that single calls name: each is made once and closed with the run. */
export interface NamedBackends {
  /** A text says why there is none. */
  get(name: string): Promise<AgentBackend | string>;
  close(): Promise<void>;
}

export function openNamedBackends(own: RunBackend, run: BackendInputs): NamedBackends {
  const made = new Map<string, Promise<AgentBackend | string>>();
  return {
    async get(name) {
      if (name === own.name) return await own.open();
      const known = made.get(name) ?? make(name, run);
      made.set(name, known);
      return known;
    },
    async close() {
      for (const opened of made.values()) {
        const backend = await opened;
        if (typeof backend !== 'string') await backend.close?.();
      }
    },
  };
}

async function make(name: string, run: BackendInputs): Promise<AgentBackend | string> {
  try {
    return await makeBackend(name, run);
  } catch (error) {
    if (!WfError.is(error)) throw error;
    // The script sees this, and no script sees places of files.
    if (error.code === 'WF_MOCK_FILE') return `The rules of the backend ${name} cannot be used.`;
    return error.remedy === undefined ? error.message : `${error.message} ${error.remedy}`;
  }
}
