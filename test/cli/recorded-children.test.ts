/** Child workflows over a chain of runs: whose text counts, and what they share. */
import { expect, it } from 'vitest';
import { makeProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';
import { run } from './support/runs.js';
import { makeShellAgent, usageLine } from './support/shell-agent.js';

const CHILD = '.claude/workflows/child.js';
const child = (version: number): string =>
  workflow(`return 'v${version}: ' + (await agent('do ${version}', { label: 'v${version}' }))`, 'child');

it('R13 by its id alone a run goes on with the child that it was given last; with a script the disk is read again', async () => {
  const project = makeProject({ files: { 'flow.js': workflow("return await workflow('child')"), [CHILD]: child(1) } });
  const agent = makeShellAgent(project, { '*': { reply: 'done' } });
  const first = await run(project, ['flow.js', ...agent.flags]);
  expect(first.result).toBe('v1: done');
  project.write(CHILD, child(2));
  const same = await run(project, ['--resume-from', first.id]);
  expect([same.result, agent.started(same.id)]).toEqual(['v1: done', []]);
  const second = await run(project, ['flow.js', '--resume-from', same.id]);
  expect([second.result, agent.started(second.id)]).toEqual(['v2: done', ['v2']]);
  project.write(CHILD, child(3));
  for (let id = second.id, i = 0; i < 2; i++) {
    const next = await run(project, ['--resume-from', id]);
    expect([next.result, agent.started(next.id)]).toEqual(['v2: done', []]);
    id = next.id;
  }
});

it('C143 what one child was given counts in the budget of its parent and its siblings, in a first run and in a resume', async () => {
  const early = workflow("await agent('early', { label: 'early' })\nreturn budget.spent()", 'early');
  const late = workflow(
    "for (const x of ['one', 'two']) await agent('late ' + x, { label: x })\nreturn budget.spent()",
    'late',
  );
  const body = `const both = await parallel(['early', 'late'].map((name) => () => workflow(name)))
return [...both, budget.spent()]`;
  const files = { '.claude/workflows/early.js': early, '.claude/workflows/late.js': late, 'flow.js': workflow(body) };
  const project = makeProject({ files });
  const agent = makeShellAgent(project, { '*': { says: usageLine(10) } });
  const first = await run(project, ['flow.js', '--concurrency', '1', ...agent.flags]);
  expect([first.result, agent.started()]).toEqual([
    [10, 30, 30],
    ['early', 'one', 'two'],
  ]);
  const second = await run(project, ['--resume-from', first.id]);
  expect([second.result, agent.started(second.id)]).toEqual([[10, 30, 30], []]);
});
