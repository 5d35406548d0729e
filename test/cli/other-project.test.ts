/** A resume of a run that lies in another project: its agents work in the present one, and that must not go unsaid. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { MOCK, newestRun, workflow } from './cli-kit.js';

const FLOW = workflow("return [await agent('a'), await agent('b', { cache: false })]");

it('says which project a run lies in and in which one its agents work, also in a plan, and nothing from inside of it', async () => {
  const project = makeProject({ files: { 'flow.js': FLOW, 'deep/x': '' }, git: true });
  await runWf(['run', 'flow.js', ...MOCK], { project });
  const id = newestRun(project);
  const other = join(project.root, 'other');
  mkdirSync(join(other, '.git'), { recursive: true });
  const words = `The source run lies in the project ${project.dir}; agents work in the present one, ${other}.`;
  const there = ['--resume-from', id, '--runs-dir', project.runsDir];
  const plan = await runWf(['plan', ...there], { project, cwd: other });
  expect({ code: plan.code, stderr: plan.stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining(words) });
  const run = await runWf(['run', '-q', ...there], { project, cwd: other });
  expect({ code: run.code, stderr: run.stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining(words) });
  for (const [flags, cwd] of [
    [there, project.path('deep')],
    [['--resume-from', id], project.dir],
  ] as const) {
    const { code, stderr } = await runWf(['plan', ...flags], { project, cwd });
    expect({ code, lies: stderr.includes('lies in') }).toEqual({ code: 0, lies: false });
  }
});

it('a linked worktree is the same project, and runs that lie apart from any project are nobody’s', async () => {
  const project = makeProject({ files: { 'flow.js': FLOW }, git: true });
  const apart = join(project.root, 'apart');
  await runWf(['run', 'flow.js', ...MOCK, '--runs-dir', apart], { project });
  await runWf(['run', 'flow.js', ...MOCK], { project });
  const id = newestRun(project);
  const tree = join(project.root, 'tree');
  project.git('worktree', 'add', '-q', tree);
  const linked = await runWf(['plan', '--resume-from', id, '--runs-dir', project.runsDir], { project, cwd: tree });
  expect({ code: linked.code, lies: linked.stderr.includes('lies in') }).toEqual({ code: 0, lies: false });
  const [first = ''] = (await runWf(['ls', '-q', '--runs-dir', apart], { project })).stdout.split('\n');
  const lone = await runWf(['plan', '--resume-from', first, '--runs-dir', apart], { project });
  expect({ code: lone.code, lies: lone.stderr.includes('lies in') }).toEqual({ code: 0, lies: false });
});

it('a run that is found without --runs-dir, several working trees up, lies in no other project', async () => {
  const project = makeProject({ files: { 'flow.js': FLOW }, git: true });
  await runWf(['run', 'flow.js', ...MOCK], { project });
  const id = newestRun(project);
  project.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', project.dir, 'part');
  const tree = join(project.root, 'tree');
  project.git('-C', project.path('part'), 'worktree', 'add', '-q', tree);
  const { code, stderr } = await runWf(['plan', '--resume-from', id], { project, cwd: tree });
  expect({ code, lies: stderr.includes('lies in') }).toEqual({ code: 0, lies: false });
});
