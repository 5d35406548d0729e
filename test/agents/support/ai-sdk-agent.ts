import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createAiSdkBackend } from '../../../src/agents/ai-sdk/ai-sdk-backend.js';
import type { AiSdkSettings } from '../../../src/agents/ai-sdk/ai-sdk-settings.js';
import type { AgentUnderTest } from './agent-under-test.js';

const FOLDER = join(import.meta.dirname, '..');
const NO_SHELL = 'the model gets tools that read files, and no shell';

/** The AI SDK with one of its providers. */
export function makeAiSdkAgent(provider: NonNullable<AiSdkSettings['provider']>): AgentUnderTest {
  const env = { ANTHROPIC_API_KEY: 'a-dummy-key-of-20-chars', OPENAI_API_KEY: 'a-dummy-key-of-20-chars' };
  return {
    name: `ai-sdk, ${provider}`,
    runs: `ai ${versionOf('ai')}, @ai-sdk/${provider} ${versionOf(`@ai-sdk/${provider}`)}`,
    model: 'fake-model-1',
    missing: () => undefined,
    make: ({ model }) => createAiSdkBackend({ settings: { provider, baseURL: model.url }, env, folder: FOLDER }),
    cli({ model, project }) {
      // A user's project has the packages; the command finds them there.
      symlinkSync(join(FOLDER, 'node_modules'), project.path('node_modules'));
      const flags = ['--backend', 'ai-sdk'];
      return { flags, env: { ...env, WF_AI_SDK_PROVIDER: provider, WF_AI_SDK_BASE_URL: model.url } };
    },
    definitionTools: ['read_file', 'search_files'],
    cannot: {
      'tool use': NO_SHELL,
      'cancel while a tool runs': NO_SHELL,
      'working folder': NO_SHELL,
      cost: 'servers report tokens only; a price comes from the table of the config',
    },
  };
}

function versionOf(name: string): string {
  try {
    return JSON.parse(readFileSync(join(FOLDER, 'node_modules', name, 'package.json'), 'utf8')).version;
  } catch {
    return '(not installed)';
  }
}
