/** Who goes on from an older run of a chain is told of the newer ones before what they have is paid for again. */
import { expect, it } from 'vitest';
import type { RunView } from '../../src/index.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { killRun, run } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

const SCRIPT = `export const meta = { name: 'flow', description: 'A case' }
const a = await agent('do A', { label: 'A' })
const b = await agent('do B', { label: 'B' })
const c = await agent('do C', { label: 'C' })
return [a, b, c]
`;

const show = async (project: TestProject, id: string): Promise<RunView> =>
  JSON.parse((await runWf(['show', id, '--json'], { project })).stdout);

it('a plan, a resume and wf show of an older run name the run that went on from it and got furthest', async () => {
  const project = makeProject({ files: { 'flow.js': SCRIPT } });
  const agent = makeShellAgent(project, { B: { gate: 'b' }, C: { gate: 'c' } });
  const first = startWf(['run', 'flow.js', ...agent.flags], { project });
  await agent.waitFor('start', 'B');
  const one = await killRun(first);
  expect((await show(project, one)).resumeCommand).toBe(`wf run --resume-from ${one}`);

  agent.openGate('b');
  const second = startWf(['run', '--resume-from', one], { project });
  await agent.waitFor('start', 'C');
  const live = await runWf(['plan', '--resume-from', one], { project });
  const two = await killRun(second);
  expect(live.stderr).toMatch(new RegExp(`Run ${two} went on from .* It is in progress: wf show ${two}\n`));
  expect(live.stderr).not.toContain('To reuse them');
  const told = (answers: string): string =>
    `went on from ${one} and has ${answers} that ${one} has not: they are not reused here`;
  expect(second.stderr).not.toContain('went on from');
  const planned = await runWf(['plan', '--resume-from', one], { project });
  expect(planned.stderr).toContain(`wf: Run ${two} ${told('1 answer')}`);
  expect(planned.stderr).toContain(`To reuse them: wf run --resume-from ${two}\n`);
  expect(await show(project, one)).toMatchObject({
    wentOn: { runId: two, status: 'interrupted', answers: 1 },
    resumeCommand: `wf run --resume-from ${two}`,
  });

  agent.openGate('c');
  const third = await run(project, ['--resume-from', two]);
  expect(third.stderr).not.toContain('went on from');
  const shown = await show(project, one);
  expect(shown).toMatchObject({ wentOn: { runId: third.id, status: 'completed', answers: 2 }, resumeCommand: null });
  const text = await runWf(['show', one], { project });
  expect(text.stdout).toContain(
    `Run ${third.id} went on from it, is completed, and has 2 more answers. See it: wf show`,
  );

  // It is done all the same: who wants another branch may have it.
  const again = await run(project, ['--resume-from', one]);
  expect(again.stderr).toContain(`Run ${third.id} ${told('2 answers')}`);
  expect(again.state.counts).toMatchObject({ reused: 1, executed: 2 });
});

it('a replay and made-up answers are no reason to go on from another run', async () => {
  const project = makeProject({ files: { 'flow.js': SCRIPT } });
  const agent = makeShellAgent(project, { C: { fail: 1 } });
  const first = await run(project, ['flow.js', ...agent.flags]);
  const failing = await run(project, ['--resume-from', first.id]);
  expect(failing.state.counts).toMatchObject({ reused: 2, failed: 1 });
  await run(project, ['--resume-from', first.id, '--dry-run']);
  const shown = await show(project, first.id);
  expect([shown.wentOn, shown.resumeCommand]).toEqual([undefined, `wf run --resume-from ${first.id}`]);
  expect((await runWf(['plan', '--resume-from', first.id], { project })).stderr).not.toContain('went on from');
});
