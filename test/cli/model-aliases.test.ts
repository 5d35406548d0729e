import { chmodSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readJournal } from '../support/journal.js';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { newestRun, readState, workflow } from './cli-kit.js';

const FLOW = workflow(
  "return [await agent('a'), await agent('b', { model: 'fast' }), await agent('c', { model: 'own' })].join(' ')",
);

function makeTools(models: object): TestProject {
  const project = makeProject({ files: { 'flow.js': FLOW, 'tool.sh': '#!/bin/sh\necho "$WF_CALL_MODEL"\n' } });
  chmodSync(project.path('tool.sh'), 0o755);
  setModels(project, models);
  return project;
}

const setModels = (project: TestProject, models: object): void => {
  const backends = { command: { tool: { argv: ['./tool.sh'] } } };
  project.write('.claude/wf.json', JSON.stringify({ backend: 'tool', model: 'slow', models, backends }));
};

it('an alias means the model of the backend, by its name or its kind; any other name stays; the key keeps the alias', async () => {
  const project = makeTools({ fast: { tool: 'haiku', command: 'wrong' }, slow: { command: 'opus' } });
  expect(await runWf(['run', 'flow.js'], { project })).toMatchObject({ code: 0, stdout: 'opus haiku own\n' });
  const first = newestRun(project);
  expect(readJournal(`${project.runDir(first)}/journal.jsonl`).map((line) => line.opts)).toEqual([
    undefined,
    { model: 'fast' },
    { model: 'own' },
  ]);

  setModels(project, { fast: { tool: 'sonnet' }, slow: { command: 'opus' } });
  const again = await runWf(['run', '--resume-from', first], { project });
  expect(again.stdout).toBe('opus haiku own\n');
  expect(again.stderr).toMatch(
    /The model alias fast is now sonnet for tool; the source run had haiku\. Reused answers keep theirs/,
  );
  expect(readState(project)).toMatchObject({ counts: { reused: 3, executed: 0 } });
});

it('B-063: an alias without a model for the backend stops the run at the first such call, and says where to mend it', async () => {
  const project = makeTools({ fast: { codex: 'large' }, slow: { command: 'opus' } });
  const run = await runWf(['run', 'flow.js'], { project });
  expect(run.code).toBe(6);
  expect(run.stderr).toMatch(
    /WF_BACKEND_SETUP[\s\S]*alias "fast" names no model for the backend tool[\s\S]*models\.fast/,
  );
  expect(readState(project)).toMatchObject({ counts: { ok: 1, noResult: 1 } });
  setModels(project, { fast: { command: 'small' }, slow: { command: 'opus' } });
  const again = await runWf(['run', '--resume-from', newestRun(project)], { project });
  expect(again).toMatchObject({ code: 0, stdout: 'opus small own\n' });
});

it('an alias is no hindrance to a dry run', async () => {
  const project = makeTools({ fast: { codex: 'large' } });
  expect(await runWf(['run', 'flow.js', '--dry-run'], { project })).toMatchObject({ code: 0 });
});
