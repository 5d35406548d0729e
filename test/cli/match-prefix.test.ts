/** `--match prefix` over chains of runs: what an earlier run asked anew stays in front of what was made before it. */
import { expect, it } from 'vitest';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { killRun, madeIn, run } from './support/runs.js';
import { makeShellAgent, type ShellAgent } from './support/shell-agent.js';

const steps = (...names: string[]): string =>
  `export const meta = { name: 'steps', description: 'A case' }
const out = []
for (const x of ${JSON.stringify(names)}) out.push(await agent('do ' + x, { label: x }))
return out
`;

interface Chain {
  project: TestProject;
  agent: ShellAgent;
  /** Killed at D after it had asked B2 and C anew. */
  killed: string;
}

/** A, B, C, D, E with answers; then B is edited, and a resume with that rule is killed at D. */
async function makeChain(match: 'prefix' | 'content'): Promise<Chain> {
  const project = makeProject({ files: { 'steps.js': steps('A', 'B', 'C', 'D', 'E') } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['steps.js', ...agent.flags]);
  project.write(
    'steps.js',
    match === 'prefix' ? steps('A', 'B2', 'C', 'D', 'E') : steps('A', 'B2', 'C2', 'X', 'D', 'E'),
  );
  const label = match === 'prefix' ? 'D' : 'X';
  agent.setRules({ [label]: { gate: 'held' } });
  const second = startWf(['run', 'steps.js', '--resume-from', first.id, '--match', match], { project });
  await agent.waitFor('start', label, match === 'prefix' ? 2 : 1);
  const killed = await killRun(second);
  agent.openAllGates();
  return { project, agent, killed };
}

it('what a run with --match prefix had not come to when it was killed is not answered from before its changed call', async () => {
  const { project, agent, killed } = await makeChain('prefix');
  const plan = await runWf(['plan', '--resume-from', killed, '--json'], { project });
  expect(JSON.parse(plan.stdout)).toMatchObject({ hits: 3, live: 1, unreached: 4, complete: false });
  expect(JSON.parse(plan.stdout).calls[3].reason).toContain('made before what an earlier run had asked anew');
  const third = await run(project, ['--resume-from', killed]);
  expect(agent.started(third.id)).toEqual(['D', 'E']);
  expect(third.state.counts).toMatchObject({ reused: 3, executed: 2 });
  const fourth = await run(project, ['--resume-from', third.id]);
  expect(fourth.state.counts).toMatchObject({ reused: 5, executed: 0 });
  expect(fourth.result).toEqual(third.result);
});

it('nor over a further run that was killed before it had an answer of its own', async () => {
  const { project, agent, killed } = await makeChain('prefix');
  agent.closeAllGates();
  const third = startWf(['run', '--resume-from', killed], { project });
  await agent.waitFor('start', 'D', 3);
  const again = await killRun(third);
  expect(madeIn(project, again)).toEqual([]);
  agent.openAllGates();
  const fourth = await run(project, ['--resume-from', again]);
  expect(agent.started(fourth.id)).toEqual(['D', 'E']);
  expect((await runWf(['explain', fourth.id, 'E'], { project })).stdout).toContain('--match prefix reuses none such');
});

it('--match content still answers them, and what it gave counts for a prefix afterwards', async () => {
  const { project, agent, killed } = await makeChain('prefix');
  const third = await run(project, ['--resume-from', killed, '--match', 'content']);
  expect(agent.started(third.id)).toEqual([]);
  expect(third.state.counts).toMatchObject({ reused: 5, executed: 0 });
  const fourth = await run(project, ['--resume-from', third.id, '--match', 'prefix']);
  expect(fourth.state.counts).toMatchObject({ reused: 5, executed: 0 });
});

it('a prefix after a run by content that was killed holds the same rule', async () => {
  const { project, agent, killed } = await makeChain('content');
  project.write('steps.js', steps('A', 'B2', 'C2', 'D', 'E'));
  const third = await run(project, ['steps.js', '--resume-from', killed, '--match', 'prefix']);
  expect(agent.started(third.id)).toEqual(['D', 'E']);
});

it('a call that is asked again although its answer is on record keeps its WF_CALL_KEY', async () => {
  const { agent } = await makeChain('prefix');
  const keys = agent.lines('start').flatMap(({ label, key }) => (label === 'C' ? [key] : []));
  expect(keys).toHaveLength(2);
  expect(keys[0]).toBe(keys[1]);
});

it('a run that was killed before a call of its own had ended has left no mark: with the old text all is answered', async () => {
  const project = makeProject({ files: { 'steps.js': steps('A', 'B', 'C') } });
  const agent = makeShellAgent(project, { B2: { gate: 'held' } });
  const first = await run(project, ['steps.js', ...agent.flags]);
  project.write('steps.js', steps('A', 'B2', 'C'));
  const second = startWf(['run', 'steps.js', '--resume-from', first.id, '--match', 'prefix'], { project });
  await agent.waitFor('start', 'B2');
  const killed = await killRun(second);
  agent.openAllGates();
  project.write('steps.js', steps('A', 'B', 'C'));
  const third = await run(project, ['steps.js', '--resume-from', killed]);
  expect([agent.started(third.id), third.result]).toEqual([[], first.result]);
  project.write('steps.js', steps('A', 'B2', 'C'));
  const fourth = await run(project, ['steps.js', '--resume-from', killed]);
  expect(agent.started(fourth.id)).toEqual(['B2', 'C']);
});

it('behind a call with cache: false, which is never a hit, nothing is reused', async () => {
  const script = `export const meta = { name: 'steps', description: 'A case' }
const ask = (x, more) => agent('do ' + x, { label: x, ...more })
return [await ask('A'), await ask('B', { cache: false }), await ask('C')]
`;
  const project = makeProject({ files: { 'steps.js': script } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['steps.js', ...agent.flags]);
  const prefix = await run(project, ['--resume-from', first.id, '--match', 'prefix']);
  expect(agent.started(prefix.id)).toEqual(['B', 'C']);
  const content = await run(project, ['--resume-from', first.id, '--match', 'content']);
  expect(agent.started(content.id)).toEqual(['B']);
});

it('calls that stand elsewhere now, in the same order and with nothing new among them, are still answered', async () => {
  const calls = (wrap: string): string =>
    `export const meta = { name: 'steps', description: 'A case' }
const ask = (x) => agent('do ' + x, { label: x })
return [${wrap}ask('A'), ${wrap}ask('B'), ${wrap}ask('C')]
`;
  const project = makeProject({ files: { 'steps.js': calls('await ') } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['steps.js', ...agent.flags]);
  project.write('steps.js', calls('() => ').replace('return [', 'return await parallel([').replace(/\]\n$/, '])\n'));
  const second = await run(project, ['steps.js', '--resume-from', first.id, '--match', 'prefix']);
  expect(agent.started(second.id)).toEqual([]);
  expect(second.result).toEqual(first.result);
});
