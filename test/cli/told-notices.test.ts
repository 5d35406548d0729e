/** What a plan and a resume say of themselves: it must hold for this script, these flags and these files. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ResumePlan } from '../../src/index.js';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { run } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

const workflow = (body: string, name = 'flow'): string =>
  `export const meta = { name: '${name}', description: 'A case' }\n${body}\n`;

it('with --match prefix nobody is told that what has the same text is reused, and a rule from the record is named', async () => {
  const steps = workflow("await agent('Write 1')\nawait agent('Write 2 ' + args.day)\nreturn await agent('Sum up')");
  const project = makeProject({ files: { 'flow.js': steps } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['flow.js', '--arg', 'day=mon', '--match', 'prefix', ...agent.flags]);
  project.write('flow.js', steps.replace('Write 2', 'Write two'));
  const second = await run(project, ['flow.js', '--resume-from', first.id, '--arg', 'day=tue']);
  expect(second.state.counts).toMatchObject({ reused: 1, executed: 2 });
  expect(second.stderr).toContain('--match prefix holds, as in the source run');
  expect(second.stderr).toMatch(/The script differs .* everything behind it runs/);
  expect(second.stderr).toMatch(/The args differ .* everything runs again/);
  expect(second.stderr).not.toMatch(/calls whose text is the same are reused|only calls whose text changed/);
  const third = await run(project, ['flow.js', '--resume-from', second.id, '--match', 'content']);
  expect(third.stderr).not.toContain('--match prefix holds');
});

it('the plan names calls that will be refused, and errors of the script that will become null', async () => {
  const script = workflow(`return await parallel([
  () => agent('do A', { label: 'A' }),
  () => agent('do B', { label: 'B', isolation: true, wordy: 1 }),
  () => workflow('nowhere'),
])`);
  const project = makeProject({ files: { 'flow.js': script } });
  const first = await run(project, ['flow.js', ...makeShellAgent(project).flags]);
  const { code, stdout, stderr } = await runWf(['plan', '--json', '--resume-from', first.id], { project });
  expect(code).toBe(0);
  expect((JSON.parse(stdout) as ResumePlan).calls.map(({ label }) => label)).toEqual(['A']);
  const told = stderr.trim().split('\n');
  expect(told).toContainEqual(expect.stringMatching(/^wf: #2 B is refused: WF_AGENT_OPTIONS: .*isolation/));
  expect(told).toContainEqual(expect.stringMatching(/^wf: parallel\[2\] becomes null: workflow\("nowhere"\)/));
  // The refused call is told once, not again as what its slot became.
  expect(told.filter((line) => line.includes('isolation'))).toHaveLength(1);
});

it('who gives wf plan a flag of wf run that it has not is told of wf run --plan, which takes it', async () => {
  const project = makeProject({ files: { 'flow.js': workflow("return await agent('do A')") } });
  const first = await run(project, ['flow.js', ...makeShellAgent(project).flags]);
  const flags = ['--resume-from', first.id, '--concurrency', '2', '--model', 'large'];
  const refused = await runWf(['plan', ...flags], { project });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('wf run --plan … takes every flag')]);
  const planned = await runWf(['run', '--plan', ...flags], { project });
  expect([planned.code, planned.stdout]).toEqual([0, expect.stringMatching(/^1 reused, 0 to run first/)]);
});

it('a plan that stops at a timer says so, and not that all is known because nothing runs first', async () => {
  const steps = workflow(`const a = await agent('do A', { label: 'A' })
await new Promise((resolve) => setTimeout(resolve, args.ms))
return [a, await agent('do B', { label: 'B' })]`);
  const project = makeProject({ files: { 'flow.js': steps } });
  const first = await run(project, ['flow.js', '--arg', 'ms:=10', ...makeShellAgent(project).flags]);
  const whole = await runWf(['plan', '--resume-from', first.id], { project });
  expect([whole.stdout, whole.stderr]).toEqual([expect.stringMatching(/^2 reused, 0 to run first, 0 .* yet\n/), '']);

  const other = ['--resume-from', first.id, '--arg', 'ms:=20'];
  const part = await runWf(['plan', ...other], { project });
  expect(part.stdout).toMatch(/^1 reused, 0 to run first, 1 .* yet; what comes after is not known yet\n/);
  expect(part.stderr).toContain('the script then waits for a timer');
  expect((await run(project, other)).state.counts).toMatchObject({ reused: 2, executed: 0 });
});

it('a child workflow that has changed is named once where the stored one runs; one that is gone is not', async () => {
  const parent = workflow("return await pipeline(['x', 'y'], (topic) => workflow('child', { topic }))");
  const child = workflow("return await agent('look at ' + args.topic, { label: args.topic })", 'child');
  const file = '.claude/workflows/child.js';
  const project = makeProject({ files: { 'flow.js': parent, [file]: child } });
  const first = await run(project, ['flow.js', ...makeShellAgent(project).flags]);
  const changed = /child has changed since; the stored one runs\. Name the script/g;
  expect((await run(project, ['--resume-from', first.id])).stderr).not.toMatch(changed);

  project.write(file, child.replace('look at', 'look well at'));
  const second = await run(project, ['--resume-from', first.id]);
  expect(second.state.counts).toMatchObject({ reused: 2, executed: 0 });
  expect(second.stderr.match(changed)).toHaveLength(1);
  const plan = await runWf(['plan', '--resume-from', first.id], { project });
  expect(plan.stderr.match(changed)).toHaveLength(1);

  rmSync(join(project.dir, file));
  expect((await run(project, ['--resume-from', first.id])).stderr).not.toMatch(changed);
});

it('what recorded answers take from the budget is told by the plan too; answers that the source run never gave do not count', async () => {
  const ask = (names: string): string =>
    workflow(`for (const name of '${names}') await agent('do ' + name, { label: name })\nreturn budget.spent()`);
  const project = makeProject({ files: { 'flow.js': ask('abc') } });
  const agent = makeShellAgent(project, { '*': { says: '{"wf":"usage","in":1,"out":20}' } });
  const spent = /answers of the source run have cost (\d+) output tokens/;
  const first = await run(project, ['flow.js', '--budget', '60', ...agent.flags]);
  const plan = await runWf(['plan', '--resume-from', first.id], { project });
  expect(spent.exec(plan.stderr)?.[1]).toBe('60');

  project.write('flow.js', ask('a'));
  const second = await run(project, ['flow.js', '--resume-from', first.id]);
  expect([second.result, spent.exec(second.stderr)?.[1]]).toEqual([20, '60']);
  // Two of its three answers were not asked for: a script that does as it did has budget left.
  const third = await run(project, ['--resume-from', second.id]);
  expect([third.result, third.stderr]).toEqual([20, expect.not.stringMatching(spent)]);
});
