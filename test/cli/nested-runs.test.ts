/** `wf` inside an agent of `wf`: on record, and not without end. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { MOCK, workflow } from './cli-kit.js';

const WF = JSON.stringify([process.execPath, join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js')]).slice(
  1,
  -1,
);
const OUTER = '00000000-0000-4000-8000-00000000000a';

const startedBy = (project: TestProject): Record<string, unknown> =>
  Object.fromEntries(
    project.runIds().map((id) => {
      const record = JSON.parse(readFileSync(join(project.runDir(id), 'run.json'), 'utf8'));
      return [record.workflow, record.startedBy];
    }),
  );

it('a run that an agent of a run starts is a run of its own, and its record says by which', async () => {
  const project = makeProject({
    files: {
      'outer.js': workflow("return await agent('x', { label: 'nested' })", 'outer'),
      'inner.js': workflow("return await agent('y')", 'inner'),
    },
  });
  const agent = `[${WF},"run","inner.js","--backend","mock","-q"]`;
  const outer = await runWf(['run', 'outer.js', '--command', agent, '-q', '--run-id', OUTER], { project });
  expect(outer).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Made-up answer to y/) });
  expect(startedBy(project)).toEqual({ outer: null, inner: { runId: OUTER, depth: 2 } });
});

it('deeper than three it is refused before anything starts, with cause and remedy', async () => {
  const project = makeProject({ files: { 'flow.js': workflow("return await agent('y')") } });
  const run = (env: Record<string, string>) => runWf(['run', 'flow.js', ...MOCK], { project, env });
  const refused = await run({ WF_RUN_ID: OUTER, WF_DEPTH: '3' });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(/^wf: WF_NESTED_TOO_DEEP: .*3 runs deep\.\n {2}→ .*3 deep.*\n$/);
  expect(project.runIds()).toEqual([]);
  expect(await run({ WF_RUN_ID: OUTER, WF_DEPTH: '2' })).toMatchObject({ code: 0, stderr: '' });
  expect(startedBy(project)).toEqual({ flow: { runId: OUTER, depth: 3 } });
});

it('a variable of that name that holds no run id says nothing', async () => {
  const project = makeProject({ files: { 'flow.js': workflow("return await agent('y')") } });
  const env = { WF_RUN_ID: 'nightly', WF_DEPTH: '9' };
  expect(await runWf(['run', 'flow.js', ...MOCK], { project, env })).toMatchObject({ code: 0, stderr: '' });
  expect(startedBy(project)).toEqual({ flow: null });
});
