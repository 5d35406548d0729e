/** History is read as history: nothing of it starts again by itself, and a resume brings no old runtime back. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { findOldNode } from '../support/old-node.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { newestRun, readState, workflow } from './cli-kit.js';

const LOGGED = workflow(
  "log('from the first line'); await agent('do A', { label: 'A' }); return await agent('do B', { label: 'B' })",
);

it('H2 H5: a resume runs the script from its first line; nothing else starts a cut-off call', async () => {
  const project = makeProject({ files: { 'flow.js': LOGGED, 'other.js': workflow('return 1') } });
  const backend = makeFakeBackend(project, { gated: ['B'] });
  const wf = startWf(['run', 'flow.js', ...backend.flags], { project });
  await backend.waitForStart('B');
  wf.killTree();
  await wf.done;
  const first = newestRun(project);
  expect(readdirSync(join(project.runsDir, first)).sort()).toEqual([
    'events.jsonl',
    'journal.jsonl',
    'run.json',
    'script.js',
  ]);

  for (const words of [['ls'], ['show', first], ['check', 'flow.js'], ['run', 'other.js', '--backend', 'mock']]) {
    expect(await runWf(words, { project })).toMatchObject({ code: 0 });
  }
  expect(backend.ledger.starts('B')).toHaveLength(1);

  backend.openGate('B');
  const resumed = await runWf(['run', '--resume-from', first], { project });
  expect(resumed).toMatchObject({ code: 0 });
  expect(resumed.stderr).toContain('from the first line');
  expect(['A', 'B'].map((label) => backend.ledger.starts(label).length)).toEqual([1, 2]);
});

it('H4: a resume has an id and a ceiling of its own; what it reuses costs nothing', async () => {
  const script = workflow(
    "const a = await agent('a'); const b = await agent('b'); return [a, b, budget.spent(), budget.remaining()]",
  );
  const rules = [{ reply: 'ten', usage: { inputTokens: 1, outputTokens: 10 } }];
  const project = makeProject({ files: { 'flow.js': script, 'rules.json': JSON.stringify(rules) } });
  const mock = ['--backend', 'mock', '--mock', 'rules.json'];
  // The ceiling is looked at before each dispatch: the first call passes it, the second is refused.
  expect(await runWf(['run', 'flow.js', '--budget', '10', ...mock], { project })).toMatchObject({ code: 1 });
  const first = newestRun(project);
  expect(readState(project)).toMatchObject({ usage: { outputTokens: 10 } });

  const resumed = await runWf(['run', '--resume-from', first], { project });
  expect(newestRun(project)).not.toBe(first);
  // The answer that it reuses was paid by the first run, so the second call fits under the same ceiling.
  expect(resumed).toMatchObject({ code: 0 });
  expect(JSON.parse(resumed.stdout)).toEqual(['ten', 'ten', 20, 0]);
  expect(readState(project)).toMatchObject({
    counts: { reused: 1, executed: 1 },
    usage: { outputTokens: 10, savedOutputTokens: 10 },
  });
});

it('B-115: a Node that is too old is told so in one line, before anything is loaded', async (context) => {
  const old = findOldNode();
  if (old === undefined) return context.skip('no Node older than 22 is on the PATH of this machine');
  const main = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');
  const { status, stderr } = spawnSync(old, [main, 'ls'], { encoding: 'utf8' });
  expect(status).toBe(2);
  expect(stderr).toMatch(/^wf: WF_NODE_VERSION: wf needs Node 22\.13 or newer; this is v\d+\.\d+\.\d+\.\n/);
});
