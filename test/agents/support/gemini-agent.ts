import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACP_PRESETS } from '../../../src/agents/acp/acp-presets.js';
import { createAcpBackend } from '../../../src/agents/acp/acp-backend.js';
import type { AcpSettings } from '../../../src/agents/acp/acp-settings.js';
import type { AgentUnderTest, Place } from './agent-under-test.js';

const FOLDER = join(import.meta.dirname, '..', 'node_modules');
const PACKAGE = join(FOLDER, '@google', 'gemini-cli', 'package.json');

/** The real Gemini CLI over the Agent Client Protocol, as `--backend gemini` starts it. */
export const geminiAgent: AgentUnderTest = {
  name: 'gemini',
  runs: `@google/gemini-cli ${versionOf(PACKAGE)}, gemini --acp`,
  model: 'gemini-2.5-pro',
  missing: () => (existsSync(PACKAGE) ? undefined : 'Gemini CLI is not installed in test/agents'),
  make(place) {
    const settings = ACP_PRESETS.gemini as AcpSettings;
    return createAcpBackend({ settings, folder: place.project.dir, env: { ...place.project.env, ...setUp(place) } });
  },
  cli: (place) => ({ flags: ['--backend', 'gemini'], env: setUp(place) }),
  // Its client takes a line separator for the end of an event.
  unreadable: '\u2028',
  cannot: {
    'rate limit with a time (429)': 'its error does not tell the time that the server asked for',
    'usage limit with its end': 'its API has no such answer',
    'agent type with tools': 'the tools are held to when it asks for them; the model is offered all of them',
    cost: 'it reports tokens only; a price comes from the table of the config',
  },
};

/** A home of its own, in which it neither updates itself nor reports, and gives up at once where it can be told to. */
function setUp({ project, model }: Place): Record<string, string> {
  const settings = {
    security: { auth: { selectedType: 'gemini-api-key' } },
    general: { disableAutoUpdate: true, disableUpdateNag: true, maxAttempts: 1 },
    // Equal lines are a loop to it, and the large answer is made of them.
    model: { disableLoopDetection: true },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
  };
  mkdirSync(join(project.home, '.gemini'), { recursive: true });
  writeFileSync(join(project.home, '.gemini', 'settings.json'), JSON.stringify(settings));
  return {
    PATH: `${join(FOLDER, '.bin')}:${project.env.PATH}`,
    GEMINI_API_KEY: 'a-dummy-key-of-20-chars',
    GOOGLE_GEMINI_BASE_URL: model.url,
    // Its second process of itself is of no use here.
    GEMINI_CLI_NO_RELAUNCH: 'true',
  };
}

function versionOf(file: string): string {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).version;
  } catch {
    return '(not installed)';
  }
}
