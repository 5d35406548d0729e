/** What the `codex` program may see, and what of that its commands may not. */
import { agentEnvironment } from '../agent-environment.js';
import type { AgentRequest } from '../backend.js';
import type { CodexSettings } from './codex-settings.js';

const KEYS = ['CODEX_API_KEY', 'OPENAI_API_KEY'];
const OWN = ['CODEX_HOME', 'CODEX_CA_CERTIFICATE', 'OPENAI_BASE_URL', 'OPENAI_ORGANIZATION', 'OPENAI_PROJECT'];

/** Names of the variables that codex is set up by. */
export const codexVariables = ({ apiKeyEnv, env = [] }: CodexSettings): string[] => [
  ...OWN,
  ...KEYS,
  ...(apiKeyEnv === undefined ? [] : [apiKeyEnv]),
  ...env,
];

export interface CodexEnvironment {
  env: Record<string, string>;
  /** Keys that are set: an agent's commands have no use for them. */
  hidden: string[];
}

export function codexEnvironment(
  source: NodeJS.ProcessEnv,
  allowEnv: readonly string[],
  settings: CodexSettings,
  request: AgentRequest,
  schemaFile: string | undefined,
): CodexEnvironment {
  const env = agentEnvironment(source, [...codexVariables(settings), ...allowEnv], request, schemaFile);
  const asked = [...(settings.env ?? []), ...allowEnv];
  const hidden = [...KEYS, settings.apiKeyEnv].filter(
    (name): name is string => name !== undefined && env[name] !== undefined && !asked.includes(name),
  );
  return { env, hidden };
}
