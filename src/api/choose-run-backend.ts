/** The backend of a run, and those that single calls name. */
import type { AgentBackend } from '../agents/backend.js';
import { BACKEND_NAMES, createBackend } from '../agents/choose-backend.js';
import type { RunOptions } from '../runs/records.js';
import { WfError } from '../shared/errors.js';
import type { RunWorkflowOptions } from './run-options.js';

/** @throws WfError `WF_BACKEND_UNKNOWN`, `WF_BACKEND_CONFIG`, `WF_MOCK_FILE` */
export async function chooseBackend(
  given: RunWorkflowOptions,
  options: RunOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<AgentBackend> {
  if (typeof given.backend === 'object') return given.backend;
  if (options.backend !== '') return createBackend(options.backend, { ...options, env });
  throw new WfError('WF_BACKEND_UNKNOWN', 'No backend was chosen: neither --backend nor WF_BACKEND names one.', {
    remedy: `Known backends: ${BACKEND_NAMES.join(', ')}. To try a script without an agent: --dry-run.`,
  });
}

/** A backend that one call names; undefined when there is none of that name. */
export async function openBackend(
  name: string,
  own: AgentBackend,
  options: RunOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<AgentBackend | undefined> {
  if (name === own.name) return own;
  try {
    return await createBackend(name, { ...options, env });
  } catch (error) {
    if (WfError.is(error)) return undefined;
    throw error;
  }
}
