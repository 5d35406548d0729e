/** Calls that nobody waits for any more: they start nothing, cost nothing, and take nothing from those that are awaited. */
import { expect, it } from 'vitest';
import { startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { readState, workflow } from './cli-kit.js';
import { linesOf, run } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

it('C191 a call that waits for its turn when its child workflow ends is never started', async () => {
  const body = `const first = agent('first', { label: 'first' })
await workflow('forgets')
log('the child is over')
await first
return await agent('last', { label: 'last' })`;
  const child = workflow(
    "agent('forgotten', { label: 'forgotten' })\nawait new Promise((resolve) => setTimeout(resolve, 1))",
    'forgets',
  );
  const project = makeProject({ files: { 'flow.js': workflow(body), '.claude/workflows/forgets.js': child } });
  const agent = makeShellAgent(project, { first: { gate: 'first' } });
  const wf = startWf(['run', 'flow.js', '--concurrency', '1', ...agent.flags], { project });
  await wf.waitForStderr(/the child is over/);
  agent.openGate('first');
  expect((await wf.done).code).toBe(0);
  expect(agent.started()).toEqual(['first', 'last']);
  expect(readState(project).counts).toMatchObject({ calls: 3, executed: 2, ok: 2, abandoned: 1, noResult: 0 });
});

it('J13 a call that was forgotten takes no recorded answer from one that is awaited', async () => {
  const ask = "agent('do x', { label: 'x' })";
  const project = makeProject({
    files: {
      'flow.js': workflow(`return await parallel([() => ${ask}])`),
      '.claude/workflows/forgets.js': workflow(`${ask}\nreturn 'done'`, 'forgets'),
    },
  });
  const agent = makeShellAgent(project);
  const first = await run(project, ['flow.js', ...agent.flags]);
  // Neither call stands where the answer was made, so both would take it at rest.
  project.write('flow.js', workflow(`await workflow('forgets')\nreturn [await ${ask}]`));
  const second = await run(project, ['flow.js', '--resume-from', first.id]);
  expect([second.result, agent.started(second.id)]).toEqual([first.result, []]);
  expect(second.state.counts).toMatchObject({ reused: 1, executed: 0, abandoned: 1 });
});

it('C191 what a child workflow starts or sets a timer for at its very end is not started, and leaves no line', async () => {
  const child = workflow(
    `const later = async (what) => { for (let i = 0; i < 100; i++) await null; what() }
later(() => agent('late', { label: 'late' }))
later(() => setTimeout(() => log('late'), 1))
setTimeout(() => log('never'), 1)
return 'done'`,
    'hasty',
  );
  const body = `await workflow('hasty')
await new Promise((resolve) => setTimeout(resolve, 50))
return await agent('last', { label: 'last' })`;
  const project = makeProject({ files: { 'flow.js': workflow(body), '.claude/workflows/hasty.js': child } });
  const agent = makeShellAgent(project);
  const { id, code, stderr, state } = await run(project, ['flow.js', ...agent.flags]);
  expect([code, agent.started(), state.counts.calls]).toEqual([0, ['last'], 1]);
  expect(stderr).not.toMatch(/never|late/);
  expect(linesOf(project, id).map(({ type }) => type)).toEqual(['script', 'timer', 'result']);
});
