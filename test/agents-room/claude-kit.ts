/** The `claude` backend with a program that speaks like Claude Code and asks no model. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { createClaudeBackend } from '../../src/agents/claude/claude-backend.js';
import type { ClaudeSettings } from '../../src/agents/claude/claude-settings.js';

const PROGRAM = join(import.meta.dirname, '..', '..', 'fixtures', 'agents', 'testing', 'scripted-claude.mjs');

const folder = mkdtempSync(join(tmpdir(), 'wf-claude-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

export interface ClaudeStart {
  argv: string[];
  env: Record<string, string>;
  setUp: { jsonSchema?: object; agents?: Record<string, { prompt: string; tools?: string[] }> };
  prompt: string;
}

/** @param steps what the program does in each attempt; see the program itself */
export function scriptedClaude(
  steps: readonly object[],
  settings: ClaudeSettings = {},
  env: NodeJS.ProcessEnv = {},
  stayMs?: number,
) {
  const file = join(folder, `steps-${files++}.json`);
  const log = `${file}.log`;
  writeFileSync(file, JSON.stringify(steps));
  const backend = createClaudeBackend({
    settings: { executable: PROGRAM, ...settings },
    folder,
    env: {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: folder,
      SCRIPTED_CLAUDE: file,
      SCRIPTED_CLAUDE_LOG: log,
      ...env,
    },
    stayMs,
    allowEnv: ['SCRIPTED_CLAUDE', 'SCRIPTED_CLAUDE_LOG'],
  });
  const starts = (): ClaudeStart[] =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [];
  return { backend, starts };
}
