/** The `codex` backend with a program that speaks like Codex and asks no model. */
import { type CodexOptions, createCodexBackend } from '../../src/agents/codex/codex-backend.js';
import type { Step } from './conformance.js';
import { scriptedProgram } from './scripted-program.js';

export interface CodexStart {
  argv: string[];
  env: Record<string, string>;
  prompt: string;
  schema?: object;
  cwd: string;
}

const { program, folder, variables, script } = scriptedProgram<CodexStart>('codex');
export { program as SCRIPTED_CODEX };

/** @param steps what the program does in each attempt; see the program itself */
export function scriptedCodex(steps: readonly object[], options: CodexOptions = {}) {
  const scripted = script(steps);
  const backend = createCodexBackend({
    ...options,
    settings: { executable: program, ...options.settings },
    folder: options.folder ?? folder,
    env: { ...scripted.env, CODEX_LOGGED_IN: '1', ...options.env },
    allowEnv: [...variables, 'CODEX_LOGGED_IN'],
  });
  return { backend, starts: scripted.starts };
}

const FAILURES: Record<string, string> = {
  auth: 'unexpected status 401 Unauthorized',
  rate_limit: 'exceeded retry limit, last status: 429 Too Many Requests',
  server: "We're currently experiencing high demand, which may cause temporary errors.",
  overloaded: 'unexpected status 529 <unknown status code>: Overloaded',
};

/** A step of the shared suite as the scripted program takes it. */
export function toCodexStep(step: Step): object {
  if (!('error' in step)) return step;
  const { error, message, retryAfterMs } = step;
  const limited = `rate limit exceeded: Rate limit reached for gpt-5. Please try again in ${(retryAfterMs ?? 0) / 1_000}s.`;
  return { fail: retryAfterMs ? limited : [FAILURES[error], message].filter(Boolean).join(': ') };
}
