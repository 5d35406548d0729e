/** Calls on record for which no agent did anything: refused by a ceiling, or made up. That is no outcome of their work. */
import { expect, it } from 'vitest';
import { waitForJournalLines } from '../support/journal.js';
import { startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';
import { killRun, run } from './support/runs.js';
import { makeShellAgent, type ShellAgent } from './support/shell-agent.js';

const FAN = workflow(`return await parallel(['A', 'B', 'C'].map((x) => () => agent('do ' + x, { label: x })))`);

const keysOf = (agent: ShellAgent, label: string): string[] =>
  agent
    .lines('start')
    .filter((line) => line.label === label)
    .map(({ key }) => key);

it.each([
  ['the agent cap', ['--max-agents', '1'], ['--max-agents', '9']],
  ['the budget', ['--budget', '50'], ['--budget', '5k']],
])(
  'X4 R12 a call that was cut off and then refused by %s keeps its WF_CALL_KEY, and its first start is still named',
  async (_, small, large) => {
    const project = makeProject({ files: { 'flow.js': FAN } });
    const says = '{"wf":"usage","in":1,"out":100}';
    const agent = makeShellAgent(project, { A: { says }, '*': { gate: 'held' } });
    const first = startWf(['run', 'flow.js', ...agent.flags], { project });
    await waitForJournalLines(project, 1);
    await agent.waitForStarts(3);
    const killed = await killRun(first);
    agent.setRules({ '*': { says } });
    const second = await run(project, ['--resume-from', killed, '--concurrency', '1', ...small]);
    expect(second.state.counts).toMatchObject({ ok: 2, failed: 1, executed: 1 });
    const third = await run(project, ['--resume-from', second.id, ...large]);
    expect(third.state.counts).toMatchObject({ reused: 2, executed: 1 });
    expect(third.stderr).toMatch(new RegExp(`1 call of run ${killed}.* has no result recorded: #3 C\\.`));
    expect(new Set(keysOf(agent, 'C')).size).toBe(1);
    const fourth = await run(project, ['--resume-from', third.id]);
    expect(fourth.stderr).not.toContain('no result recorded');
  },
);

it('--match prefix: a run that only refused what had changed makes no recorded answer stale', async () => {
  const steps = (b: string): string =>
    workflow(`const out = []
for (const x of ['A', '${b}', 'C']) out.push(await agent('do ' + x, { label: x }))
return out`);
  const project = makeProject({ files: { 'flow.js': steps('B') } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['flow.js', ...agent.flags]);
  project.write('flow.js', steps('B2'));
  const prefix = ['--match', 'prefix', '--max-agents', '0'];
  const refused = await run(project, ['flow.js', '--resume-from', first.id, ...prefix]);
  expect([refused.code, refused.state.counts.executed]).toEqual([1, 0]);
  project.write('flow.js', steps('B'));
  const back = await run(project, ['flow.js', '--resume-from', refused.id]);
  expect(back.state.counts).toMatchObject({ reused: 3, executed: 0 });
});

it('X4 R12 nor is what mock made up: the call keeps its key, its first start is named, and no answer becomes stale', async () => {
  const project = makeProject({
    files: { 'flow.js': FAN, 'rules.json': '[{ "when": { "label": "C" }, "error": "failed" }]' },
  });
  const agent = makeShellAgent(project, { C: { gate: 'held' } });
  const first = startWf(['run', 'flow.js', '--concurrency', '3', ...agent.flags], { project });
  await waitForJournalLines(project, 2);
  await agent.waitForStarts(3);
  const killed = await killRun(first);
  agent.openAllGates();
  const tried = await run(project, ['--resume-from', killed, '--backend', 'mock', '--mock', 'rules.json']);
  expect(tried.state.counts).toMatchObject({ reused: 2, failed: 1 });
  const third = await run(project, ['--resume-from', tried.id, ...agent.flags, '--match', 'prefix']);
  expect(third.state.counts).toMatchObject({ reused: 2, executed: 1 });
  expect(third.stderr).toMatch(new RegExp(`1 call of run ${killed}.* has no result recorded: #3 C\\.`));
  expect(new Set(keysOf(agent, 'C')).size).toBe(1);
});
