import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createClaudeBackend } from '../../../src/agents/claude/claude-backend.js';
import type { ClaudeSettings } from '../../../src/agents/claude/claude-settings.js';
import type { AgentUnderTest, Place } from './agent-under-test.js';

const modules = join(import.meta.dirname, '..', 'node_modules');
/** As its platform package holds it: its install script, which only copies it, is not run here. */
export const CLAUDE = join(modules, '@anthropic-ai', `claude-code-${process.platform}-${process.arch}`, 'claude');
export const KEY = 'fake-key-for-tests-0123456789';
/** Of an account; in pieces, as a text of this form looks like a real one. */
const TOKEN = ['sk', 'ant', 'oat01', 'fake-token-for-tests'].join('-');

export function claudeEnv({ project, model }: Place, login: 'key' | 'account' = 'key'): Record<string, string> {
  return {
    ...project.env,
    ANTHROPIC_BASE_URL: model.url,
    ...(login === 'key' ? { ANTHROPIC_API_KEY: KEY } : { CLAUDE_CODE_OAUTH_TOKEN: TOKEN }),
    CLAUDE_CONFIG_DIR: join(project.home, '.claude'),
  };
}

export const makeClaude = (place: Place, settings: ClaudeSettings = {}, login?: 'key' | 'account') =>
  createClaudeBackend({
    settings: { executable: CLAUDE, maxRetries: 1, ...settings },
    folder: place.project.dir,
    env: claudeEnv(place, login),
  });

export const claudeAgent: AgentUnderTest = {
  name: 'claude',
  runs: `Claude Code ${readVersion()}`,
  model: 'claude-sonnet-4-5',
  definitionTools: ['Read', 'Grep'],
  missing: () => (existsSync(CLAUDE) ? undefined : 'Claude Code is not installed in test/agents'),
  // The end of a usage limit is told to accounts only.
  make: (place, scenario) => makeClaude(place, {}, scenario === 'usage limit with its end' ? 'account' : 'key'),
  cli: (place) => {
    const env = claudeEnv(place);
    return { flags: ['--backend', 'claude'], env: { ...env, PATH: `${dirname(CLAUDE)}:${env.PATH}` } };
  },
};

function readVersion(): string {
  try {
    return JSON.parse(readFileSync(join(modules, '@anthropic-ai', 'claude-code', 'package.json'), 'utf8')).version;
  } catch {
    return 'unknown';
  }
}
