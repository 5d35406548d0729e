import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCodexBackend } from '../../../src/agents/codex/codex-backend.js';
import type { CodexSettings } from '../../../src/agents/codex/codex-settings.js';
import { findCodex } from '../../../src/agents/codex/find-codex.js';
import type { AgentUnderTest, Place } from './agent-under-test.js';

const FOLDER = join(import.meta.dirname, '..');
const EXECUTABLE = findCodex({ executable: undefined, folder: FOLDER, env: {} });
export const CODEX_KEY = { CODEX_API_KEY: 'a-dummy-key-of-20-chars' };

/** Codex with a provider of its own on loopback, and nothing that asks other servers. */
export const codexSettings = (url: string, retries = 0): CodexSettings => ({
  ...(EXECUTABLE !== undefined && { executable: EXECUTABLE }),
  config: {
    model_provider: 'fake',
    'model_providers.fake': {
      ...{
        name: 'fake',
        base_url: `${url}/v1`,
        env_key: 'CODEX_API_KEY',
        wire_api: 'responses',
        supports_websockets: false,
      },
      ...{ request_max_retries: retries, stream_max_retries: retries },
    },
    ...{ 'features.plugins': false, 'features.remote_plugin': false, 'features.apps': false },
    'analytics.enabled': false,
  },
});

export const codexEnv = ({ project }: Pick<Place, 'project'>): Record<string, string> => ({
  ...project.env,
  ...CODEX_KEY,
  CODEX_HOME: project.home,
});

export const codexAgent: AgentUnderTest = {
  name: 'codex',
  runs: `codex ${versionOf()}`,
  // A name that Codex knows would be asked without its plain tools.
  model: 'gpt-5',
  missing: () => (EXECUTABLE === undefined ? 'codex is not installed in test/agents' : undefined),
  make: (place) => createCodexBackend({ settings: codexSettings(place.model.url), env: codexEnv(place) }),
  cli(place) {
    const { config, executable } = codexSettings(place.model.url);
    const lines = Object.entries(config ?? {}).map(([name, value]) => `${name} = ${toToml(value)}`);
    place.project.write('../home/config.toml', `${lines.join('\n')}\n`);
    // As npm puts it on the PATH: a script in front of the program.
    const script = join(FOLDER, 'node_modules', '.bin');
    const env = { ...CODEX_KEY, CODEX_HOME: place.project.home, PATH: `${script}:${place.project.env.PATH}` };
    if (executable === undefined) throw new Error('codex is not installed');
    return { flags: ['--backend', 'codex'], env };
  },
  cannot: {
    'rate limit with a time (429)': 'its error does not tell the time that the server asked for',
    cost: 'codex reports tokens only; a price comes from the table of the config',
    'agent type with tools': 'the definition is obeyed, its list of tools cannot be: that is said once',
  },
};

function toToml(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, entry]) => `${name} = ${toToml(entry)}`)
    .join(', ')} }`;
}

function versionOf(): string {
  try {
    return JSON.parse(readFileSync(join(FOLDER, 'node_modules/@openai/codex/package.json'), 'utf8')).version;
  } catch {
    return '(not installed)';
  }
}
