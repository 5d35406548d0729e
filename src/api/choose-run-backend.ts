/** The backend of a run, and those that single calls name. */
import type { AgentBackend } from '../agents/backend.js';
import { createBackend, listBackends } from '../agents/choose-backend.js';
import type { Config } from '../config/load-config.js';
import { WfError } from '../shared/errors.js';
import type { PreparedRun } from './prepare-run.js';
import type { RunWorkflowOptions } from './run-options.js';

/** @throws WfError `WF_BACKEND_UNKNOWN`, `WF_BACKEND_CONFIG`, `WF_MOCK_FILE` */
export async function chooseBackend(given: RunWorkflowOptions, run: BackendInputs): Promise<AgentBackend> {
  if (typeof given.backend === 'object') return given.backend;
  if (run.options.backend !== '') return makeBackend(run.options.backend, run);
  throw new WfError(
    'WF_BACKEND_UNKNOWN',
    'No backend was chosen: neither --backend nor WF_BACKEND nor a config names one.',
    {
      remedy: `Known backends: ${listNames(run.config)}. To try a script without an agent: --dry-run.`,
    },
  );
}

const listNames = ({ data }: Config): string =>
  listBackends(data.backends)
    .map(({ name }) => name)
    .join(', ');

/** What a backend of the run is made from. */
export type BackendInputs = Pick<PreparedRun, 'options' | 'startFolder' | 'config' | 'places'>;

function makeBackend(name: string, { options, startFolder, config, places }: BackendInputs): Promise<AgentBackend> {
  return createBackend(name, { ...options, env: places.env, folder: startFolder }, config.data.backends);
}

/**
 * A ceiling of money needs somebody who counts it.
 *
 * @throws WfError `WF_USAGE` before anything is spent
 */
export function checkMoneyIsCounted(
  { budgetUsd }: PreparedRun['options'],
  { name, capabilities }: AgentBackend,
  prices: RunWorkflowOptions['prices'],
): void {
  if (budgetUsd == null || capabilities.usd || capabilities.madeUp || Object.keys(prices ?? {}).length > 0) return;
  throw new WfError(
    'WF_USAGE',
    `--budget-usd ${budgetUsd} cannot be held: the backend ${name} reports no money, and no prices are configured.`,
    { remedy: 'Add "prices" of its models to the config, or limit tokens with --budget.' },
  );
}

/** Backends that single calls name: each is made once and closed with the run. */
export interface NamedBackends {
  /** Undefined when there is none of that name, or it is not set up. */
  get(name: string): Promise<AgentBackend | undefined>;
  close(): Promise<void>;
}

export function openNamedBackends(own: AgentBackend, run: BackendInputs): NamedBackends {
  const made = new Map<string, Promise<AgentBackend | undefined>>();
  return {
    get(name) {
      if (name === own.name) return Promise.resolve(own);
      const known = made.get(name) ?? make(name, run);
      made.set(name, known);
      return known;
    },
    async close() {
      for (const backend of made.values()) await (await backend)?.close?.();
    },
  };
}

async function make(name: string, run: BackendInputs): Promise<AgentBackend | undefined> {
  try {
    return await makeBackend(name, run);
  } catch (error) {
    if (WfError.is(error)) return undefined;
    throw error;
  }
}
