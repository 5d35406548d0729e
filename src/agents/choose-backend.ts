/** Makes a backend by its name. It never takes another one instead, least of all `mock`. */
import { resolve } from 'node:path';
import { WfError } from '../shared/errors.js';
import { nearestWord } from '../shared/nearest-word.js';
import type { AgentBackend } from './backend.js';

export interface BackendOptions {
  /** For `command`: the command line as a person wrote it, or its words. */
  command?: string | readonly string[] | undefined;
  /** For `mock`: file with rules, JSON or YAML. */
  mock?: string | undefined;
  /** Folder that relative paths of `command` and `mock` start from (default: the present one). */
  folder?: string | undefined;
  /** For `command`: environment from which the allowed variables are taken (default `process.env`). */
  env?: NodeJS.ProcessEnv | undefined;
  /** For `command`: names of further variables that the program may see. */
  allowEnv?: readonly string[] | undefined;
}

const MAKERS: Record<string, (options: BackendOptions) => Promise<AgentBackend>> = {
  async command({ command, env, allowEnv, folder }) {
    const { createCommandBackend } = await import('./command/command-backend.js');
    const { parseCommandLine } = await import('./command/parse-command-line.js');
    const argv = typeof command === 'string' ? parseCommandLine(command) : (command ?? []);
    return createCommandBackend({ argv, env, allowEnv, folder });
  },
  async mock({ mock, folder }) {
    const { createMockBackend } = await import('./mock/mock-backend.js');
    return await createMockBackend(mock === undefined ? {} : { file: resolve(folder ?? '.', mock) });
  },
};

/** Names that `createBackend` knows. */
export const BACKEND_NAMES: readonly string[] = Object.keys(MAKERS);

/**
 * Makes the backend of that name; only its own code is loaded.
 *
 * @throws WfError `WF_BACKEND_UNKNOWN`, `WF_BACKEND_CONFIG`, `WF_MOCK_FILE`
 * @example await createBackend('command', { command: 'my-agent --print' })
 */
export async function createBackend(name: string, options: BackendOptions = {}): Promise<AgentBackend> {
  const make = Object.hasOwn(MAKERS, name) ? MAKERS[name] : undefined;
  if (make) return await make(options);
  const known = BACKEND_NAMES.join(', ');
  const nearest = nearestWord(name, BACKEND_NAMES);
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  throw new WfError('WF_BACKEND_UNKNOWN', `There is no backend named ${JSON.stringify(name)}.${meant}`, {
    remedy: `Known backends: ${known}. Choose one with --backend <name>.`,
  });
}
