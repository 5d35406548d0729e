/** What somebody reads who types something almost right for the first time. */
import { expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { MOCK, newestRun, THREE, workflow } from './cli-kit.js';

async function expectRefusal(project: TestProject, args: string[], words: RegExp): Promise<void> {
  const before = project.runIds();
  const { code, stdout, stderr } = await runWf(args, { project });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(words);
  expect(project.runIds()).toEqual(before);
}

it('a script without its ending is named with it', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  await expectRefusal(project, ['run', 'flow', ...MOCK], /WF_SCRIPT_NOT_FOUND[\s\S]*→ Did you mean `flow\.js`\?/);
});

it('a misspelt file is named by the nearest one beside it, a saved workflow also by its file name', async () => {
  const saved = { '.claude/workflows/nightly.js': workflow('return 1', 'all of it') };
  const project = makeProject({ files: { 'review.js': THREE, 'deep/summary.ts': THREE, 'review.md': '', ...saved } });
  for (const [typed, meant] of [
    ['reveiw.js', 'review.js'],
    ['review.jx', 'review.js'],
    ['deep/sumary.ts', 'deep/summary.ts'],
    ['nigthly', 'nightly'],
  ] as const)
    await expectRefusal(
      project,
      ['run', typed, ...MOCK],
      new RegExp(`WF_SCRIPT_NOT_FOUND[\\s\\S]*→ Did you mean \`${meant}\`\\?\n$`),
    );
  await expectRefusal(project, ['run', 'deep/none.js', ...MOCK], /WF_SCRIPT_NOT_FOUND(?![\s\S]*Did you mean)/);
});

it('the beginning of an id is no id for a resume, but the whole one is named where it is certain', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  await runWf(['run', 'flow.js', ...MOCK], { project });
  const id = newestRun(project);
  const certain = new RegExp(`WF_RUN_ID.*\n  → A resume takes the whole id\\. The run that begins so: ${id}\\.`);
  await expectRefusal(project, ['run', '--resume-from', id.slice(0, 8)], certain);
  await expectRefusal(project, ['plan', '--resume-from', id.slice(0, 8)], certain);
  await expectRefusal(project, ['run', '--resume-from', 'x'], /WF_RUN_ID.*\n {2}→ Give the whole UUID/);
});

it('--output that is a folder is refused before anything starts', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  await expectRefusal(
    project,
    ['run', 'flow.js', ...MOCK, '--output', '.'],
    /--output \. cannot be written: it is a folder/,
  );
  expect(await runWf(['run', 'flow.js', ...MOCK, '--output', '/dev/null'], { project })).toMatchObject({ code: 0 });
});

it('--output that names no file, as of a variable that is not set, is refused before anything starts', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  for (const path of ['', 'results/'])
    await expectRefusal(
      project,
      ['run', 'flow.js', ...MOCK, '--output', path],
      /--output \S+ cannot be written: it names no file/,
    );
});

it('stdin is the script or the args, not both', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  await expectRefusal(project, ['run', '-', ...MOCK, '--args-file', '-'], /WF_USAGE: .* both .*stdin/);
});

it('a missing word or an unknown flag has its code, and is followed by where to look', async () => {
  const project = makeProject();
  for (const args of [['show'], ['ls', '--bogus'], ['rnu']])
    await expectRefusal(
      project,
      args,
      /^wf: WF_USAGE: [\s\S]*→ wf -h lists the commands, wf <command> -h says what one takes\.\n$/,
    );
});

it('a verb that is not there is told also where its help is asked for: no help is shown as if it were', async () => {
  const project = makeProject();
  for (const args of [
    ['rnu', '--help'],
    ['rnu', '-h'],
    ['help', 'rnu'],
    ['rnu', '--bogus'],
  ])
    await expectRefusal(project, args, /^wf: WF_USAGE: unknown command 'rnu'\n\(Did you mean run\?\)\n/);
  expect(await runWf(['help', 'run'], { project })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Usage: wf run /),
  });
  expect(await runWf(['help'], { project })).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Usage: wf /) });
});

it('where no backend is found, each one that was looked for has a line with what to do', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  const { stderr } = await runWf(['run', 'flow.js'], { project, env: { PATH: '/nowhere' } });
  const lines = stderr.split('\n').filter((line) => line.startsWith('    For '));
  expect(lines.map((line) => line.split(':')[0]?.trim())).toEqual(expect.arrayContaining(['For claude', 'For codex']));
});

it('P1 a completed run whose calls did not all answer is named as one that could have been resumed', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  await runWf(['run', 'flow.js', '--command', 'false', '-q'], { project });
  const failed = newestRun(project);
  const { stderr } = await runWf(['run', 'flow.js', '--backend', 'mock', '--keep', '1'], { project });
  expect(stderr).toMatch(new RegExp(`WF_PRUNE.*${failed}`));
});

it('what cannot be taken as it is given is followed by what to do', async () => {
  const project = makeProject({ files: { 'flow.js': THREE, '.claude/agents/big.md': 'x'.repeat(1_100_000) } });
  project.write('typed.js', workflow("return await agent('x', { agentType: 'big' })"));
  for (const [code, ...flags] of [
    ['WF_ARGS', 'flow.js', '--args-file', 'none.json'],
    ['WF_ARGS', 'flow.js', '--arg', 'name'],
    ['WF_RUN_ID', 'flow.js', '--run-id', 'x'],
    ['WF_USAGE', 'flow.js', '--dry-run', '--backend', 'command'],
    ['WF_AGENT_DEFINITION', 'typed.js', '--command', 'cat'],
  ])
    await expectRefusal(project, ['run', ...flags], new RegExp(`^wf: ${code}[ :].*\n {2}→ \\S.*\\.\n$`));
});

it('wf ls says that no run has a status only where one was asked for', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  const ls = async (...flags: string[]) => (await runWf(['ls', ...flags], { project })).stdout;
  expect(await ls()).toMatch(/^No runs here yet/);
  await runWf(['run', 'flow.js', ...MOCK], { project });
  expect(await ls('--status', 'failed')).toBe('No run is failed.\n');
  expect(await ls('-n', '0')).toBe('');
});

it('--strict and --fork without a run to go on from are refused: they would do nothing', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  for (const flag of ['--strict', '--fork'])
    await expectRefusal(
      project,
      ['run', 'flow.js', ...MOCK, flag],
      new RegExp(`^wf: WF_USAGE: ${flag} says how a run goes on.*\n {2}→ Name it with --resume-from <uuid>, or leave`),
    );
});

it('an empty list of runs names the folder that was looked at, and says nothing of one that cannot be read', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  expect((await runWf(['ls'], { project })).stdout).toContain(`No runs here yet: ${project.runsDir} holds none.`);
  const away = await runWf(['ls', '--runs-dir', 'restored/runs'], { project });
  expect(away.stdout).toContain(`No runs here yet: ${project.path('restored', 'runs')} holds none.`);
  const file = await runWf(['ls', '--runs-dir', 'flow.js'], { project });
  expect(file).toMatchObject({ stdout: '', stderr: expect.stringContaining('flow.js cannot be listed') });
});
