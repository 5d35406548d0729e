/** Whether Claude Code can work here: its program, its version, and a sign-in. Asks no model. */
import type { ProbeResult } from '../backend.js';
import { allowedEnvironment } from '../agent-environment.js';
import { type ProbedProgram, probeProgram } from '../probe-program.js';
import { claudeVariables } from './claude-environment.js';
import type { ClaudeSettings } from './claude-settings.js';
import { findClaude, INSTALL_CLAUDE } from './find-claude.js';

const SIGN_IN = 'Sign in (claude auth login), or set ANTHROPIC_API_KEY.';

export async function probeClaude(
  { settings, folder, env: source, allowEnv }: ProbedProgram<ClaudeSettings>,
  signal: AbortSignal | undefined,
): Promise<ProbeResult> {
  const program = findClaude({ executable: settings.executable, folder, env: source });
  if (program === undefined) return { ok: false, reason: 'there is no claude program', fix: INSTALL_CLAUDE };
  const env = {
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...allowedEnvironment(source, [...claudeVariables(source), ...allowEnv, ...(settings.env ?? [])]),
  };
  const told = await probeProgram(program, { cwd: folder, env }, ['auth', 'status', '--json'], signal);
  if (typeof told === 'string') return { ok: false, reason: told, fix: INSTALL_CLAUDE };
  const signedIn = readStatus(told.signIn.stdout);
  if (signedIn === false) return { ok: false, reason: `${program} is not signed in`, fix: SIGN_IN };
  const how = signedIn === undefined ? 'sign-in not known' : `signed in by ${signedIn}`;
  return { ok: true, version: `${told.version.replace(/ \(Claude Code\)$/, '')} (${program}; ${how})` };
}

/** How it is signed in; false when it is not; `undefined` from a version that does not say. */
function readStatus(stdout: string): string | false | undefined {
  try {
    const { loggedIn, authMethod } = JSON.parse(stdout) as { loggedIn?: boolean; authMethod?: string };
    if (loggedIn === undefined) return undefined;
    return loggedIn ? (authMethod ?? 'a login') : false;
  } catch {
    return undefined;
  }
}
