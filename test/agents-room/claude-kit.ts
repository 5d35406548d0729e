/** The `claude` backend with a program that speaks like Claude Code and asks no model. */
import { createClaudeBackend } from '../../src/agents/claude/claude-backend.js';
import type { ClaudeSettings } from '../../src/agents/claude/claude-settings.js';
import { scriptedProgram } from './scripted-program.js';

export interface ClaudeStart {
  argv: string[];
  env: Record<string, string>;
  setUp: { jsonSchema?: object; agents?: Record<string, { prompt: string; tools?: string[] }> };
  prompt: string;
}

const { program, folder, variables, script } = scriptedProgram<ClaudeStart>('claude');

/** @param steps what the program does in each attempt; see the program itself */
export function scriptedClaude(
  steps: readonly object[],
  settings: ClaudeSettings = {},
  env: NodeJS.ProcessEnv = {},
  stayMs?: number,
) {
  const scripted = script(steps);
  const backend = createClaudeBackend({
    settings: { executable: program, ...settings },
    folder,
    env: { ...scripted.env, ...env },
    stayMs,
    allowEnv: variables,
  });
  return { backend, starts: scripted.starts };
}
