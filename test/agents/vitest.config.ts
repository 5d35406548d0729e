import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const root = join(import.meta.dirname, '..', '..');

/** The suite with real agents: see `scripts/agents.mjs`. */
export default defineConfig({
  root,
  test: {
    include: ['test/agents/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
    globalSetup: ['test/support/global-setup.ts', 'test/agents/support/write-results.ts'],
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    // One agent takes a core for most of its second.
    maxWorkers: 2,
    execArgv: ['--no-node-snapshot'],
    // Some agents take seconds to start, more than once in a test, and other work may be going on.
    testTimeout: 180_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
  },
});
