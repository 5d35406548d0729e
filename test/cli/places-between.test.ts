/** Where a recorded answer stands that was given while new ones already lay there: a resume sees the same order. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import type * as Library from '../../src/index.js';
import { requireBuild } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';

const ENTRY = pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'index.js')).href;

it('J13 a recorded answer that was given between two new ones keeps its place, so the same call wins the race again', async () => {
  requireBuild();
  const lib = (await import(ENTRY)) as typeof Library;
  const project = makeProject({ files: { 'flow.js': workflow("return await agent('B')") } });
  let openBoth = (): void => {};
  const both = new Promise<void>((resolve) => {
    openBoth = resolve;
  });
  const asked: string[] = [];
  const backend = lib.defineBackend({
    name: 'pairs',
    async run({ prompt }) {
      asked.push(prompt);
      // A and C are answered at the same moment: C lies there before the script has seen A.
      if (prompt === 'C') openBoth();
      if (prompt !== 'B') await both;
      return { text: prompt };
    },
  });
  const given = { backend, cwd: project.dir, home: project.home, env: project.env };
  const first = await lib.runWorkflow({ script: 'flow.js', ...given });
  project.write(
    'flow.js',
    workflow(`const a = agent('A')
const c = agent('C')
await a
return await Promise.race([agent('B'), c])`),
  );
  const second = await lib.runWorkflow({ script: 'flow.js', resumeFrom: first.runId, ...given });
  expect(second).toMatchObject({ result: 'B', counts: { executed: 2, reused: 1 } });
  const third = await lib.runWorkflow({ resumeFrom: second.runId, ...given });
  expect(third).toMatchObject({ result: 'B', counts: { executed: 0 } });
  expect(asked).toEqual(['B', 'A', 'C']);
});
