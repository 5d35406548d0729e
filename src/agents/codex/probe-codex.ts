/** Whether Codex can work here: its program, its version, and a sign-in. Asks no model. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allowedEnvironment } from '../agent-environment.js';
import type { ProbeResult } from '../backend.js';
import { codexVariables } from './codex-environment.js';
import type { CodexSettings } from './codex-settings.js';
import { findCodex, INSTALL_CODEX } from './find-codex.js';

export interface ProbedCodex {
  settings: CodexSettings;
  folder: string;
  env: NodeJS.ProcessEnv;
  allowEnv: readonly string[];
}

const PROBE_MS = 15_000;

export async function probeCodex({ settings, folder, env: source, allowEnv }: ProbedCodex): Promise<ProbeResult> {
  const program = findCodex({ executable: settings.executable, folder, env: source });
  if (program === undefined) return { ok: false, reason: 'there is no codex program', fix: INSTALL_CODEX };
  const { execa } = await import('execa');
  const env = allowedEnvironment(source, [...codexVariables(settings), ...allowEnv]);
  const run = (...args: string[]) =>
    execa(program, args, {
      ...{ cwd: folder, env, extendEnv: false, reject: false, stdin: 'ignore' as const },
      ...{ timeout: PROBE_MS, forceKillAfterDelay: 1_000 },
    });
  const [version, status] = await Promise.all([run('--version'), run('login', 'status')]);
  if (version.exitCode !== 0) {
    const words = version.stderr.trim().split('\n').at(-1) ?? '';
    return { ok: false, reason: `${program} does not start: ${words || version.shortMessage}`, fix: INSTALL_CODEX };
  }
  const name = `${version.stdout.trim().replace(/^codex-cli /, '')} (${program})`;
  if (status.exitCode === 0 || env.CODEX_API_KEY || hasOwnProvider(settings, env)) return { ok: true, version: name };
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
