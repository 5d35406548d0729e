/** Once a test run: builds dist/ when it is stale, and says which seed the tests use. */
import { spawnSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';
import { DEFAULT_SEED } from './seeds.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Why dist/ is not what the sources say; empty when it is. Tests that need dist/ fail with it, others go on. */
    buildFailure: string;
    seed: number;
  }
}

export default function setup(project: TestProject): void {
  const seed = Number(process.env.WF_TEST_SEED ?? DEFAULT_SEED);
  if (!Number.isSafeInteger(seed))
    throw new Error(`WF_TEST_SEED must be a whole number, not ${process.env.WF_TEST_SEED}`);
  console.log(`test seed: ${seed} (WF_TEST_SEED=${seed} repeats this run)`);
  project.provide('seed', seed);

  const build = spawnSync(process.execPath, ['scripts/build.mjs', '--if-stale'], {
    cwd: project.config.root,
    encoding: 'utf8',
  });
  const output = `${build.stdout}${build.stderr}`.trim();
  const failure = build.status === 0 ? '' : `The build failed, so dist/ is missing or old:\n${output.slice(0, 800)}`;
  if (failure) console.error(`${failure}\nTests that need dist/ will fail; the others go on.`);
  project.provide('buildFailure', failure);
}
