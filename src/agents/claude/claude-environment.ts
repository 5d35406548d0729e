/** What the `claude` program may see: the closed list of all agents, and what Claude Code itself is set up by. */
import { agentEnvironment } from '../agent-environment.js';
import type { AgentRequest } from '../backend.js';
import type { ClaudeSettings } from './claude-settings.js';

const OWN = /^(ANTHROPIC|CLAUDE)_|^(API_TIMEOUT_MS|IS_SANDBOX|MAX_THINKING_TOKENS|MCP_TIMEOUT|MCP_TOOL_TIMEOUT)$/;
/** Marks of a session that `wf` itself runs in; they would tie the new one to it. */
const FOREIGN = new Set(['CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SSE_PORT', 'CLAUDE_CODE_SESSION_ID']);
/** Needed only where a cloud's own sign-in is used. */
const CLOUDS: Record<string, RegExp> = {
  CLAUDE_CODE_USE_BEDROCK: /^AWS_/,
  CLAUDE_CODE_USE_VERTEX: /^(CLOUD_ML_REGION|VERTEX_REGION_\w+|GOOGLE_APPLICATION_CREDENTIALS|GOOGLE_CLOUD_PROJECT)$/,
};

const DEFAULT_RETRIES = 2;

/** Names of the variables of `source` that Claude Code is set up by. */
export function claudeVariables(source: NodeJS.ProcessEnv): string[] {
  const clouds = Object.entries(CLOUDS).flatMap(([name, needed]) => (source[name] ? [needed] : []));
  return Object.keys(source).filter(
    (name) => !FOREIGN.has(name) && (OWN.test(name) || clouds.some((needed) => needed.test(name))),
  );
}

export function claudeEnvironment(
  source: NodeJS.ProcessEnv,
  named: readonly string[],
  settings: ClaudeSettings,
  request: AgentRequest,
): Record<string, string> {
  const variables = [...claudeVariables(source), ...named, ...(settings.env ?? [])];
  return {
    // No look-ups and no reports beside the work itself.
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...agentEnvironment(source, variables, request),
    // Few, so that the shared gate and the limits around all calls learn of errors.
    CLAUDE_CODE_MAX_RETRIES: String(settings.maxRetries ?? DEFAULT_RETRIES),
    ...(settings.scrubEnv && { CLAUDE_CODE_SUBPROCESS_ENV_SCRUB: '1' }),
  };
}
