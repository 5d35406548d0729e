/** Whether Codex can work here: its program, its version, and a sign-in. Asks no model. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allowedEnvironment } from '../agent-environment.js';
import type { ProbeResult } from '../backend.js';
import { type ProbedProgram, probeProgram } from '../probe-program.js';
import { codexVariables } from './codex-environment.js';
import type { CodexSettings } from './codex-settings.js';
import { findCodex, INSTALL_CODEX } from './find-codex.js';

export async function probeCodex(
  { settings, folder, env: source, allowEnv }: ProbedProgram<CodexSettings>,
  signal: AbortSignal | undefined,
): Promise<ProbeResult> {
  const program = findCodex({ executable: settings.executable, folder, env: source });
  if (program === undefined) return { ok: false, reason: 'there is no codex program', fix: INSTALL_CODEX };
  const env = allowedEnvironment(source, [...codexVariables(settings), ...allowEnv]);
  const told = await probeProgram(program, { cwd: folder, env }, ['login', 'status'], signal);
  if (typeof told === 'string') return { ok: false, reason: told, fix: INSTALL_CODEX };
  const name = `${told.version.replace(/^codex-cli /, '')} (${program})`;
  const signedIn = told.signIn.exitCode === 0 || env.CODEX_API_KEY || hasOwnProvider(settings, env);
  if (signedIn) return { ok: true, version: name };
  const fix = 'Sign in (codex login), or set CODEX_API_KEY.';
  return { ok: false, reason: `codex ${name} is not signed in`, fix };
}

/** A provider of one's own has its own way to sign in, or none. */
function hasOwnProvider({ config = {}, apiKeyEnv }: CodexSettings, env: Record<string, string>): boolean {
  if (apiKeyEnv !== undefined || config.model_provider !== undefined) return true;
  try {
    const home = env.CODEX_HOME ?? join(env.HOME ?? '', '.codex');
    return /^\s*model_provider\s*=/m.test(readFileSync(join(home, 'config.toml'), 'utf8'));
  } catch {
    return false;
  }
}
