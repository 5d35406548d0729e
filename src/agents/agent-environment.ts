/**
 * The environment of an agent process: a closed list of variables, what the user or the backend names besides, and what
 * tells it about its call.
 * Keys and tokens of the engine's own environment never reach an agent by accident.
 */
import type { AgentRequest } from './backend.js';

const ALLOWED = new Set([
  ...['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'SSH_AUTH_SOCK'],
  // Programs differ in which spelling of the proxies they read.
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'],
]);

/** One variable may hold at most 128 kB on Linux; a label is for people. */
const MAX_TEXT = 4_000;

/** What an agent process may see of the engine's own environment. */
export function allowedEnvironment(source: NodeJS.ProcessEnv, named: readonly string[]): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (value !== undefined && (ALLOWED.has(name) || name.startsWith('XDG_') || named.includes(name)))
      env[name] = value;
  }
  return env;
}

/** @param named further variables that may pass: the backend's own, and those that the config names */
export function agentEnvironment(
  source: NodeJS.ProcessEnv,
  named: readonly string[],
  request: AgentRequest,
  schemaFile?: string,
): Record<string, string> {
  const env = allowedEnvironment(source, named);
  env.WF_RUN_ID = request.runId;
  env.WF_CALL_KEY = request.callKey;
  env.WF_CALL_LABEL = clean(request.label);
  env.WF_ATTEMPT = String(request.attempt);
  // A `wf` started by this agent finds out that it is one, and how deep.
  env.WF_DEPTH = String((Number.parseInt(source.WF_DEPTH ?? '', 10) || 0) + 1);
  if (request.phase !== undefined) env.WF_CALL_PHASE = clean(request.phase);
  if (request.model !== undefined) env.WF_CALL_MODEL = clean(request.model);
  if (request.effort !== undefined) env.WF_CALL_EFFORT = clean(request.effort);
  env.WF_CALL_PERMISSION = request.permission;
  if (schemaFile !== undefined) env.WF_CALL_SCHEMA = schemaFile;
  return env;
}

/** A variable cannot hold NUL. */
const clean = (text: string): string => text.slice(0, MAX_TEXT).replaceAll('\0', '\u{fffd}');
