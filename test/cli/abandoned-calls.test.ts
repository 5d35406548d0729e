/** Calls that nobody waits for any more: what has not started by then never does, and costs nothing. */
import { expect, it } from 'vitest';
import { startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { readState, workflow } from './cli-kit.js';
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
