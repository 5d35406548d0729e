/** Calls that nobody waits for any more: they start nothing, cost nothing, and take nothing from those that are awaited. */
import { expect, it } from 'vitest';
import { startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { readState, workflow } from './cli-kit.js';
import { run } from './support/runs.js';
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
