/** `wf doctor`: it names what a killed, damaged or stuck run left, changes nothing unless asked to, and never a record. */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type * as Library from '../../src/index.js';
import type { DoctorFinding, DoctorReport } from '../../src/index.js';
import { makeFakeBackend } from '../support/fake-backend.js';
import { waitForJournalLines } from '../support/journal.js';
import { isAlive, readProcess } from '../support/processes.js';
import { requireBuild, runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { MOCK, newestRun, THREE } from './cli-kit.js';
import { killRun, killWithGuard, snapshot } from './support/runs.js';
import { startThree } from './support/start-three.js';

const HOUR_MS = 3_600_000;

/** Runs it and reads what it found, without what is as it should be. */
async function diagnose(
  project: TestProject,
  ...flags: string[]
): Promise<{ code: number | null; found: DoctorFinding[] }> {
  const { code, stdout, stderr } = await runWf(['doctor', '--json', ...flags], {
    project,
    // A backend that can work everywhere: what this machine has is the matter of doctor-config.test.ts.
    env: { WF_BACKEND: 'mock' },
  });
  expect(stderr).toBe('');
  const { findings } = JSON.parse(stdout) as DoctorReport;
  return { code, found: findings.filter((finding) => finding.status !== 'ok') };
}

const checksOf = (found: readonly DoctorFinding[]): string[] =>
  found.map(({ check, status }) => `${check} ${status}`).sort();

const age = (path: string, ms: number): void => {
  const then = new Date(Date.now() - ms);
  utimesSync(path, then, then);
};

const setFields = (project: TestProject, id: string, change: object): void => {
  const file = join(project.runDir(id), 'run.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...change }));
};

/** A run killed while B was under way, with all that was started below it. */
async function makeKilledRun(project: TestProject): Promise<string> {
  const backend = makeFakeBackend(project, { gated: ['B'] });
  const wf = startWf(['run', 'flow.js', ...backend.flags], { project });
  await backend.waitForStart('B');
  await waitForJournalLines(project, 1);
  const socket = socketOf(project, newestRun(project));
  await waitFor('the control socket', () => existsSync(socket));
  return killRun(wf);
}

const socketOf = (project: TestProject, id: string): string =>
  join(project.env.XDG_RUNTIME_DIR as string, `wf-${process.getuid?.()}`, `${id}.sock`);

/** Damages one line in the middle, so that it is no torn tail. */
function damageLine(file: string, n: number): void {
  const lines = readFileSync(file, 'utf8').split('\n');
  lines[n - 1] = (lines[n - 1] as string).replace('"label"', '"lapel"');
  writeFileSync(file, lines.join('\n'));
}

it('M6: where all is well it says so and exits with 0, with runs and without', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  expect(await diagnose(project)).toEqual({ code: 0, found: [] });
  expect(existsSync(project.runsDir)).toBe(false);
  expect(await runWf(['run', 'flow.js', ...MOCK], { project })).toMatchObject({ code: 0 });
  expect(await diagnose(project)).toEqual({ code: 0, found: [] });
  const { code, stdout } = await runWf(['doctor'], { project, env: { WF_BACKEND: 'mock' } });
  expect(code).toBe(0);
  expect(stdout).toMatch(/ok {4}A sandbox starts under Node's permission model, with isolated-vm \d/);
  expect(stdout).toContain('0 faults, 0 warnings, 0 notes.');
});

it('M6 H1 H9: damage, leftovers and dead owners are named and nothing is touched; --fix mends what it may, and no status', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  expect(await runWf(['run', 'flow.js', ...MOCK], { project })).toMatchObject({ code: 0 });
  const damaged = newestRun(project);
  damageLine(join(project.runDir(damaged), 'journal.jsonl'), 2);
  const killed = await makeKilledRun(project);
  // A run that lasts a second has one.
  mkdirSync(join(project.runsDir, '.claims', killed, 'owner.lock'), { recursive: true });
  const temporary = join(project.runDir(killed), '.run.json.999999.0.tmp');
  writeFileSync(temporary, '{"half', { mode: 0o600 });
  age(temporary, HOUR_MS);
  for (const name of [`.new-${killed}-abc123`, `.trash-${killed}`]) {
    mkdirSync(join(project.runsDir, name));
    age(join(project.runsDir, name), 2 * HOUR_MS);
  }
  chmodSync(join(project.runDir(damaged), 'script.js'), 0o644);

  const before = snapshot(project.runsDir);
  const seen = await diagnose(project);
  expect(snapshot(project.runsDir)).toEqual(before);
  expect(seen.code).toBe(4);
  expect(checksOf(seen.found)).toEqual([
    'claims warn',
    'claims warn',
    'journals warn',
    'leftovers warn',
    'leftovers warn',
    'leftovers warn',
    'owners note',
    'runs-folder warn',
    'sockets note',
  ]);
  const of = (check: string): DoctorFinding => seen.found.find((finding) => finding.check === check) as DoctorFinding;
  expect(of('journals')).toMatchObject({ runId: damaged, fixable: true });
  expect(of('journals').message).toMatch(/1 unreadable line \(line 2: wrong checksum\); 2 answers can be reused/);
  expect(of('owners').message).toMatch(new RegExp(`${killed} .*no recorded end: process \\d+ is gone`));
  expect(of('owners').remedy).toContain(`wf run --resume-from ${killed}`);
  for (const word of ['failed', 'cancelled', 'never']) expect(of('owners').message).not.toContain(word);

  const folder = project.runDir(killed);
  const mtime = statSync(folder).mtimeMs;
  const journalBefore = readFileSync(join(project.runDir(damaged), 'journal.jsonl'));
  const mended = await diagnose(project, '--fix');
  expect(mended.code).toBe(0);
  expect(mended.found.filter(({ status, fixed }) => status === 'warn' && fixed === null)).toEqual([]);
  expect([temporary, socketOf(project, killed)].filter((path) => existsSync(path))).toEqual([]);
  expect(statSync(folder).mtimeMs).toBeCloseTo(mtime, 0);
  expect(readFileSync(join(project.runDir(damaged), 'journal.jsonl'))).toEqual(journalBefore);

  // History is as it was: nothing was started, and nobody has said how B ended.
  const shown = JSON.parse((await runWf(['show', killed, '--json'], { project })).stdout);
  expect(shown.status).toBe('interrupted');
  expect(shown.calls.map((call: { status: string }) => call.status)).toEqual(['ok', 'no-result']);
  const again = await diagnose(project);
  expect(again.code).toBe(0);
  expect(checksOf(again.found)).toEqual(['journals note', 'owners note']);
});

it('M6: a folder beside the runs folder is no leftover by its name; only one with nothing but our .gitignore is removed', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  expect(await runWf(['run', 'flow.js', ...MOCK], { project })).toMatchObject({ code: 0 });
  const beside = (ending: string): string =>
    `${join(dirname(project.runsDir), `.${basename(project.runsDir)}`)}.${ending}`;
  const [built, empty, backup, ignored] = ['aB3xY9', 'cD4zW8', 'backup', 'mine01'].map(beside) as [
    ...[string, string, string, string],
  ];
  for (const path of [built, empty, backup, ignored]) mkdirSync(path);
  writeFileSync(join(built, '.gitignore'), '*\n');
  mkdirSync(join(backup, 'run'));
  writeFileSync(join(backup, 'run', 'journal.jsonl'), 'paid for');
  writeFileSync(join(ignored, '.gitignore'), '*.log\n');
  for (const path of [built, empty, backup, ignored]) age(path, 2 * HOUR_MS);
  const { found } = await diagnose(project, '--fix');
  expect(found.map(({ check, path }) => [check, path])).toEqual([
    ['leftovers', built],
    ['leftovers', empty],
  ]);
  expect([built, empty, backup, ignored].map((path) => existsSync(path))).toEqual([false, false, true, true]);
  expect(readFileSync(join(backup, 'run', 'journal.jsonl'), 'utf8')).toBe('paid for');
});

it('M6: the copy that --fix makes of a damaged run holds its good lines and can be gone on from, also with --strict', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  const backend = makeFakeBackend(project);
  expect(await runWf(['run', 'flow.js', ...backend.flags], { project })).toMatchObject({ code: 0 });
  const id = newestRun(project);
  damageLine(join(project.runDir(id), 'journal.jsonl'), 2);
  expect(await runWf(['run', '--resume-from', id, '--strict'], { project })).toMatchObject({ code: 4 });
  expect(await diagnose(project, '--fix')).toMatchObject({ code: 0 });
  const place = ['--runs-dir', join(project.runsDir, '.repaired')];
  expect(await diagnose(project, ...place)).toEqual({ code: 0, found: [] });
  const resumed = await runWf(['run', '--resume-from', id, '--strict', ...place], { project });
  expect(resumed).toMatchObject({ code: 0 });
  expect(resumed.stderr).not.toContain('shorter than its record');
  expect(['A', 'B', 'C'].map((label) => backend.ledger.starts(label).length)).toEqual([1, 2, 1]);
});

describe('M6: a run that says nothing', () => {
  it('is named when its owner lives and its last event is more than 30 minutes old', async () => {
    const { project, backend, wf } = await startThree('A');
    const id = newestRun(project);
    expect(await diagnose(project)).toEqual({ code: 0, found: [] });

    // A run of the same live process, begun and last heard of long ago.
    const quiet = id.replace(/^......../, '00000000');
    const folder = project.runDir(quiet);
    mkdirSync(folder, { mode: 0o700 });
    for (const name of ['run.json', 'script.js', 'journal.jsonl']) {
      writeFileSync(join(folder, name), readFileSync(join(project.runDir(id), name)), { mode: 0o600 });
    }
    const heard = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
    setFields(project, quiet, { runId: quiet, startedAt: heard(90) });
    const events = join(folder, 'events.jsonl');
    writeFileSync(events, `{"t":"${heard(31)}","type":"log","message":"hello"}\n`, { mode: 0o600 });
    const { code, found } = await diagnose(project);
    expect(code).toBe(4);
    expect(found).toMatchObject([{ check: 'owners', status: 'warn', runId: quiet, fixable: false }]);
    expect(found[0]?.message).toMatch(new RegExp(`held by process ${wf.pid} on .*no event was recorded for 31 min`));
    appendFileSync(events, `{"t":"${heard(29)}","type":"log","message":"still here"}\n`);
    expect(await diagnose(project)).toEqual({ code: 0, found: [] });
    backend.openAllGates();
    expect(await wf.done).toMatchObject({ code: 0 });
  });
});

describe('processes of a dead run', () => {
  it('H8 H11: are listed by pid, ended only by --fix, and a later process of the same number is never taken for one', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const backend = makeFakeBackend(project, { rules: { A: { hang: true, ignoreTerm: true } } });
    const wf = startWf(['run', 'flow.js', ...backend.flags], { project });
    const { pid } = await backend.waitForStart('A');
    const id = newestRun(project);
    await killWithGuard(project, wf, id);
    const agent = readProcess(pid);
    expect(agent).toBeDefined();
    // What stands here does not fit the process that has this number: ours.
    const forged = {
      t: new Date().toISOString(),
      type: 'process.started',
      role: 'agent',
      pid: process.pid,
      startTime: '1',
    };
    appendFileSync(join(project.runDir(id), 'events.jsonl'), `${JSON.stringify(forged)}\n`);

    const listed = await diagnose(project);
    expect(listed.code).toBe(4);
    expect(listed.found.filter(({ check }) => check === 'survivors')).toMatchObject([
      { runId: id, fixable: true, message: expect.stringContaining(`agent process ${pid} is alive`) },
    ]);
    expect(isAlive(pid, agent?.startTime)).toBe(true);
    // Its run was not observed to run, whatever its agent does.
    expect((await runWf(['ls'], { project })).stdout).toMatch(/interrupted/);

    const mended = await diagnose(project, '--fix');
    expect(mended.found.find(({ check }) => check === 'survivors')?.fixed).toMatch(/^ended \d process/);
    await waitFor('the agent to end', () => !isAlive(pid, agent?.startTime));
    const shown = JSON.parse((await runWf(['show', id, '--json'], { project })).stdout);
    expect(shown.calls).toMatchObject([{ label: 'A', status: 'no-result' }]);
  });
});

it('a place where runs cannot be written is a fault: exit 2, with what to do', async () => {
  const project = makeProject({ files: { 'flow.js': THREE, runs: 'a file' } });
  const { code, found } = await diagnose(project, '--runs-dir', 'runs');
  expect(code).toBe(2);
  expect(found).toMatchObject([
    { check: 'runs-folder', status: 'fault', remedy: expect.stringContaining('--runs-dir') },
  ]);
});

it.each([0o777, 0o775])(
  'a runs folder in which others can write (mode %o) is named, and --fix takes that away',
  async (mode) => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    expect(await runWf(['run', 'flow.js', ...MOCK], { project })).toMatchObject({ code: 0 });
    chmodSync(project.runsDir, mode);
    const { code, found } = await diagnose(project);
    expect(code).toBe(4);
    expect(found).toMatchObject([{ check: 'runs-folder', status: 'warn', fixable: true, path: project.runsDir }]);
    expect(found[0]?.message).toContain(`mode ${mode.toString(8)}`);
    expect(await diagnose(project, '--fix')).toMatchObject({ code: 0 });
    expect(statSync(project.runsDir).mode & 0o777).toBe(0o755);
    // One that is shared on purpose keeps what lies in it to its owners.
    chmodSync(project.runsDir, 0o1777);
    expect(await diagnose(project)).toEqual({ code: 0, found: [] });
  },
);

it('M6: in a git repository a runs folder that git would commit is named, and --fix makes git ignore it', async () => {
  const project = makeProject({ files: { 'flow.js': THREE }, git: true });
  mkdirSync(project.runsDir, { recursive: true, mode: 0o700 });
  expect(await runWf(['run', 'flow.js', ...MOCK], { project })).toMatchObject({ code: 0 });
  expect((await diagnose(project)).found).toMatchObject([{ check: 'runs-folder', status: 'warn' }]);
  expect(await diagnose(project, '--fix')).toMatchObject({ code: 0 });
  expect(project.git('status', '--porcelain')).toBe('');
  expect(await diagnose(project)).toEqual({ code: 0, found: [] });
});

it('H12: a run of a newer version is a note and no damage; nothing of it is mended', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  expect(await runWf(['run', 'flow.js', ...MOCK], { project })).toMatchObject({ code: 0 });
  const id = newestRun(project);
  setFields(project, id, { version: 99 });
  const before = snapshot(project.runDir(id));
  const { code, found } = await diagnose(project, '--fix');
  expect(code).toBe(0);
  expect(found).toMatchObject([{ check: 'records', status: 'note', message: expect.stringContaining('version 99') }]);
  expect(snapshot(project.runDir(id))).toEqual(before);
});

it('the library gives the same report as the command', async () => {
  requireBuild();
  const lib = (await import('../../dist/index.js' as string)) as typeof Library;
  const project = makeProject({ files: { 'flow.js': THREE } });
  await makeKilledRun(project);
  const where = { cwd: project.dir, home: project.home, env: project.env };
  const now = Date.now();
  const report = await lib.runDoctor({ ...where, now });
  const { stdout } = await runWf(['doctor', '--json'], { project });
  expect(report).toEqual(JSON.parse(stdout));
  expect(report.status).toBe('warn');
  expect(await lib.runDoctor({ ...where, fix: true })).toMatchObject({ status: 'note' });
});
