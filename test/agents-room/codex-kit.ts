/** The `codex` backend with a program that speaks like Codex and asks no model. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { type CodexOptions, createCodexBackend } from '../../src/agents/codex/codex-backend.js';
import type { Step } from './conformance.js';

export const SCRIPTED_CODEX = join(
  ...[import.meta.dirname, '..', '..', 'fixtures', 'agents', 'testing', 'scripted-codex.mjs'],
);

const folder = mkdtempSync(join(tmpdir(), 'wf-codex-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

export interface CodexStart {
  argv: string[];
  env: Record<string, string>;
  prompt: string;
  schema?: object;
  cwd: string;
}

/** @param steps what the program does in each attempt; see the program itself */
export function scriptedCodex(steps: readonly object[], options: CodexOptions = {}) {
  const file = join(folder, `steps-${files++}.json`);
  const log = `${file}.log`;
  writeFileSync(file, JSON.stringify(steps));
  const backend = createCodexBackend({
    ...options,
    settings: { executable: SCRIPTED_CODEX, ...options.settings },
    folder: options.folder ?? folder,
    env: {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: folder,
      SCRIPTED_CODEX: file,
      CODEX_LOGGED_IN: '1',
      SCRIPTED_CODEX_LOG: log,
      ...options.env,
    },
    allowEnv: ['SCRIPTED_CODEX', 'SCRIPTED_CODEX_LOG', 'CODEX_LOGGED_IN'],
  });
  const starts = (): CodexStart[] =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [];
  return { backend, starts };
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
