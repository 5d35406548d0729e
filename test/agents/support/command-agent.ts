import { join } from 'node:path';
import { createCommandBackend } from '../../../src/agents/command/command-backend.js';
import type { AgentUnderTest } from './agent-under-test.js';

const argv = [process.execPath, join(import.meta.dirname, 'plain-agent.mjs')];

export const commandAgent: AgentUnderTest = {
  name: 'command',
  runs: 'a program of about 60 lines',
  model: 'plain-model',
  missing: () => undefined,
  make: ({ project, model }) =>
    createCommandBackend({
      argv,
      env: { ...project.env, FAKE_MODEL_URL: model.url },
      allowEnv: ['FAKE_MODEL_URL'],
    }),
  cli: ({ project, model }) => {
    // The environment of a command is closed: the address comes by its own words.
    const script = `#!/bin/sh\nFAKE_MODEL_URL=${model.url} exec ${argv.map((word) => `'${word}'`).join(' ')}\n`;
    return { flags: ['--backend', 'command', '--command', `sh ${project.write('.agent/plain.sh', script)}`] };
  },
  cannot: {
    'agent type with tools': 'a program is told the definition as text; it is up to it which tools it has',
  },
};
