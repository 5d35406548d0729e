/** A run whose disk takes no line for a while, or does not confirm what it took: it goes on, and says so. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { journalFile } from '../support/journal.js';
import { runWf, startWf, type WfHandle } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { S3, THREE } from './cli-kit.js';
import { needTool } from './support/need-tool.js';
import { idOf, linesOf, run } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

/** The largest size that a file may grow to, as if the disk were full beyond. */
function limit(running: WfHandle, size: string): void {
  expect(spawnSync('prlimit', ['--pid', String(running.pid), `--fsize=${size}:`]).status).toBe(0);
}

/** A run that waits for B, and whose agents do not share the limit that will be set. */
async function startUntilB() {
  const project = makeProject({ files: { 'three.js': S3 } });
  const backend = makeFakeBackend(project, { gated: ['B'] });
  const argv = JSON.stringify(['prlimit', '--fsize=unlimited:', ...backend.argv]);
  const running = startWf(['run', 'three.js', '--backend', 'command', '--command', argv], { project });
  await backend.waitForStart('B');
  return { project, backend, running };
}

it('R5 R6 a journal that cannot grow for a while: warned once, the run goes on, later lines are sound, nothing is lost', async (context) => {
  needTool(context, 'prlimit');
  const project = makeProject({ files: { 'three.js': S3 } });
  const backend = makeFakeBackend(project, {
    gated: ['A', 'B', 'C'],
    rules: { A: { bytes: 20_000 }, B: { bytes: 20_000 } },
  });
  const running = startWf(['run', 'three.js', ...backend.flags], { project });
  await backend.waitForStart('A');
  // A fits, B ends in the middle of its line.
  limit(running, '30000');
  backend.openGate('A');
  await backend.waitForStart('B');
  backend.openGate('B');
  await running.waitForStderr(/The journal cannot be written \(EFBIG\)/);
  await backend.waitForStart('C');
  const file = journalFile(project) as string;
  expect(statSync(file).size).toBe(30_000);
  limit(running, 'unlimited');
  backend.openGate('C');
  const ended = await running.done;
  expect(ended.code).toBe(0);
  expect(ended.stderr.match(/The journal cannot be written/g)).toHaveLength(1);
  const texts = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  expect(texts).toHaveLength(4);
  const second = await run(project, ['--resume-from', idOf(ended.stderr)]);
  expect(second.result).toEqual(JSON.parse(ended.stdout));
  expect(second.state.counts).toMatchObject({ reused: 3, executed: 0 });
  expect(second.stderr).toContain('1 unreadable line (line 2: torn)');
});

it('R5 a journal that could not be written to the end: exit 0, the right result, and the record says so', async (context) => {
  needTool(context, 'prlimit');
  const project = makeProject({ files: { 'three.js': S3 } });
  const backend = makeFakeBackend(project, { gated: ['B'], rules: { A: { bytes: 20_000 }, B: { raw: 'short' } } });
  const running = startWf(['run', 'three.js', '--output', 'out.json', ...backend.flags], { project });
  await backend.waitForStart('B');
  // Its other files are smaller than the journal is by now; the result, which holds the long answer, is not.
  const size = statSync(journalFile(project) as string).size;
  expect(spawnSync('prlimit', ['--pid', String(running.pid), `--fsize=${size + 10}:`]).status).toBe(0);
  project.write('.keep', '');
  backend.openGate('B');
  const ended = await running.done;
  expect(ended.code).toBe(0);
  expect(ended.stderr.match(/The journal cannot be written/g)).toHaveLength(1);
  expect(ended.stderr).toMatch(/journal +incomplete/);
  const id = idOf(ended.stderr);
  const second = await run(project, ['--resume-from', id]);
  expect(second.state.counts).toMatchObject({ reused: 1, executed: 2 });
});

it('R5 an outcome that could not be written is told, and nobody is sent to a file that is not there', async (context) => {
  needTool(context, 'prlimit');
  const { project, backend, running } = await startUntilB();
  limit(running, '10');
  backend.openGate('B');
  const ended = await running.done;
  expect(ended.code).toBe(0);
  const id = idOf(ended.stderr);
  expect(existsSync(join(project.runDir(id), 'state.json'))).toBe(false);
  expect(ended.stderr).toMatch(/warning: WF_NOTICE: state\.json could not be written: EFBIG/);
  expect(ended.stderr).toMatch(/^ +result +stdout; state\.json could not be written$/m);
  const second = await run(project, ['--resume-from', id]);
  expect(second.state.counts).toMatchObject({ reused: 1, executed: 2 });
});

it('R5 a disk that is full when the run ends and free a moment later: nothing is missing', async (context) => {
  needTool(context, 'prlimit');
  const { project, backend, running } = await startUntilB();
  limit(running, String(statSync(journalFile(project) as string).size + 10));
  backend.openGate('B');
  // The last two answers come within milliseconds: the run ends while its lines wait for the disk.
  await running.waitForStderr(/The journal cannot be written/);
  limit(running, 'unlimited');
  const ended = await running.done;
  expect(ended.code).toBe(0);
  expect(ended.stderr).not.toMatch(/incomplete|could not be written/);
  const second = await run(project, ['--resume-from', idOf(ended.stderr)]);
  expect(second.state.counts).toMatchObject({ reused: 3, executed: 0 });
});

/** It takes the lines and does not confirm them: a real fault of the system call. */
const failingSync = (project: TestProject): string[] => [
  ...['strace', '-f', '-o', join(project.control, 'trace')],
  ...['-e', 'trace=fdatasync', '-e', 'inject=fdatasync:error=EIO'],
];

it.for(['group', 'each'])(
  'R5 a flush of the journal that fails is a warning, and the run goes on (--fsync %s)',
  async (sync, context) => {
    needTool(context, 'strace', ['-V']);
    const project = makeProject({ files: { 'flow.js': THREE } });
    const agent = makeShellAgent(project);
    const ended = await run(project, ['flow.js', '--fsync', sync, ...agent.flags], { under: failingSync(project) });
    expect(ended).toMatchObject({ code: 0, state: { status: 'completed', journal: { complete: true, unwritten: 0 } } });
    // Told once, in the outcome too.
    const told = expect.stringMatching(/^The disk has not confirmed what was written to the journal \(EIO\)/);
    expect(ended.state.notices).toEqual([told]);
    expect(ended.stderr.match(/has not confirmed/g)).toHaveLength(1);
    expect(linesOf(project, ended.id).map(({ label }) => label)).toEqual(['A', 'B', 'C']);
  },
);

it.for(['group', 'each'])(
  'R5 a resume that cannot flush what it takes over starts nothing (--fsync %s)',
  async (sync, context) => {
    needTool(context, 'strace', ['-V']);
    const project = makeProject({ files: { 'flow.js': THREE } });
    const agent = makeShellAgent(project, { C: { fail: 1 } });
    const { id } = await run(project, ['flow.js', ...agent.flags]);
    const started = agent.lines('start').length;
    const resume = ['run', '--resume-from', id, '--fsync', sync];
    const refused = await runWf(resume, { project, under: failingSync(project) });
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/WF_RUNS_DIR.*\(EIO\); nothing was started/),
    });
    expect([agent.lines('start').length, project.runIds()]).toEqual([started, [id]]);
    expect(await runWf(resume, { project })).toMatchObject({ code: 3 });
  },
);
