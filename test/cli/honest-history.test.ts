/** What is said of runs that are over: what was recorded and what is seen now, and no more than that. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { waitForJournalLines } from '../support/journal.js';
import { isAlive, readProcess } from '../support/processes.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { MOCK, newestRun, P3, readState, THREE, workflow } from './cli-kit.js';
import { copyProject, killRun, killWithGuard, listRuns, snapshot } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';
import { startThree } from './support/start-three.js';

type Backend = ReturnType<typeof makeFakeBackend>;

/** A run that was killed while B was under way. */
async function makeKilledRun(project: TestProject, backend: Backend, script = 'flow.js'): Promise<string> {
  backend.gate('B');
  const before = backend.ledger.starts('B').length;
  const wf = startWf(['run', script, ...backend.flags], { project });
  await backend.waitForStart('B', { nth: before + 1 });
  await waitForJournalLines(project, 1);
  return killRun(wf);
}

interface Shown {
  status: string;
  calls: { label: string; status: string }[];
}
const show = async (project: TestProject, id: string): Promise<Shown> =>
  JSON.parse((await runWf(['show', id, '--json'], { project })).stdout);

it('H1 H5 H14: other commands start nothing of interrupted runs and leave their folders byte-identical', async () => {
  const project = makeProject({ files: { 'flow.js': THREE, 'other.js': workflow('return 1', 'other') } });
  const backend = makeFakeBackend(project);
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push(await makeKilledRun(project, backend));
  const before = ids.map((id) => snapshot(project.runDir(id)));
  const starts = backend.ledger.starts().length;
  backend.openAllGates();
  expect(await runWf(['run', 'other.js', ...MOCK], { project })).toMatchObject({ code: 0, stderr: '' });
  for (const words of [['ls'], ['show', ids[0] as string], ['explain', ids[1] as string], ['doctor', '--json']]) {
    expect((await runWf(words, { project })).code).not.toBe(1);
  }
  expect(ids.map((id) => snapshot(project.runDir(id)))).toEqual(before);
  expect(backend.ledger.starts()).toHaveLength(starts);
});

it('H3: history is listed and read by a new process, from a folder inside the project, and in a copy that cannot be written', async () => {
  const project = makeProject({ files: { 'flow.js': THREE, 'deep/inside/x': '' } });
  const backend = makeFakeBackend(project);
  const id = await makeKilledRun(project, backend);
  const copy = copyProject(project);
  spawnSync('chmod', ['-R', 'a-w', copy]);
  for (const cwd of [project.path('deep/inside'), copy, join(copy, 'deep')]) {
    expect(await listRuns(project, { cwd })).toMatchObject([{ runId: id, status: 'interrupted', counts: { ok: 1 } }]);
    const shown = await runWf(['show', id, '--json'], { project, cwd });
    expect(JSON.parse(shown.stdout)).toMatchObject({ calls: [{ label: 'A', status: 'ok' }, { label: 'B' }] });
  }
});

it('H6 H7 H8: of a killed run no command says that it is running, stopped or failed, nor of its open call that it never ran', async () => {
  const project = makeProject({ files: { 'flow.js': THREE }, leavesProcesses: true });
  const backend = makeFakeBackend(project, { gated: ['B'] });
  const wf = startWf(['run', 'flow.js', ...backend.flags], { project });
  const { pid } = await backend.waitForStart('B');
  await waitForJournalLines(project, 1);
  const id = newestRun(project);
  expect((await show(project, id)).status).toBe('running');
  const record = join(project.runDir(id), 'run.json');
  await waitFor('the heartbeat to know B', () => JSON.parse(readFileSync(record, 'utf8')).progress.counts.calls === 2);
  await killWithGuard(project, wf, id);
  // Its agent lives on: that is no sign of life of the run.
  expect(isAlive(pid)).toBe(true);
  const texts = [];
  for (const words of [['ls'], ['show', id], ['show', id, '#2'], ['doctor']]) {
    // Without the heads of columns, and what is said of the agent.
    const { stdout } = await runWf(words, { project });
    texts.push(stdout.replaceAll(/^RUN .*$|^.*agent process \d+ is alive.*$/gm, ''));
  }
  for (const text of texts) expect(text).not.toMatch(/\b(running|failed|cancelled|stopped|never|not run)\b/i);
  expect(texts[0]).toMatch(/interrupted +- +1 +0 +0 +1 /);
  expect(await listRuns(project)).toMatchObject([{ status: 'interrupted', counts: { calls: 2, ok: 1, noResult: 1 } }]);
  expect(texts[1]).toContain('interrupted (no end is recorded and its owner was not seen to live)');
  expect(texts[1]).toMatch(/#2 +B +no result recorded/);
  expect(await show(project, id)).toMatchObject({
    status: 'interrupted',
    calls: [
      { label: 'A', status: 'ok' },
      { label: 'B', status: 'no-result' },
    ],
  });
});

it('of a run that ended by itself nobody is sent to look after calls that were never started', async () => {
  const project = makeProject({ files: { 'flow.js': P3 } });
  const backend = makeFakeBackend(project, { gated: ['A'] });
  const wf = startWf(['run', 'flow.js', '--concurrency', '1', ...backend.flags], { project });
  await backend.waitForStart('A');
  wf.kill('SIGINT');
  expect(await wf.done).toMatchObject({ code: 130 });
  const { stdout } = await runWf(['show', newestRun(project)], { project });
  expect(stdout).toContain('\n2 calls had not been started.\n1 call has no result recorded: what was done outside');
});

it('H11: an agent that outlived its run is neither ended nor heard by the resume that does its work again', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  const backend = makeFakeBackend(project, { gated: ['B'] });
  const wf = startWf(['run', 'flow.js', ...backend.flags], { project });
  const orphan = readProcess((await backend.waitForStart('B')).pid);
  await waitForJournalLines(project, 1);
  const id = newestRun(project);
  await killWithGuard(project, wf, id);
  const resume = startWf(['run', '--resume-from', id], { project });
  const second = await backend.waitForStart('B', { nth: 2 });
  expect(isAlive(orphan?.pid as number, orphan?.startTime)).toBe(true);
  backend.openGate('B');
  const { code, stdout } = await resume.done;
  expect(code).toBe(0);
  const own = backend.ledger.ends('B').find((end) => end.pid === second.pid);
  expect(JSON.parse(stdout).b).toBe(`B answered #${own?.nonce}`);
});

describe('H9 H10', () => {
  it('a cancel is said to be requested; what became of the call is not made up, then or by doctor --fix', async () => {
    const { project, wf } = await startThree('B', { rules: { B: { hang: true, ignoreTerm: true } } });
    await waitForJournalLines(project, 1);
    wf.kill('SIGINT');
    const ended = await wf.done;
    expect(ended).toMatchObject({ code: 130 });
    expect(ended.stderr).toContain('cancel requested');
    const id = newestRun(project);
    const before = await show(project, id);
    expect(before).toMatchObject({
      status: 'cancelled',
      calls: [{ status: 'ok' }, { label: 'B', status: 'no-result' }],
    });
    expect(await runWf(['doctor', '--fix'], { project })).toMatchObject({ code: 0 });
    expect(await show(project, id)).toEqual(before);
  });
});

it('B-049: a deliberate stop is recorded with its time, listed as such later, and can be gone on from', async () => {
  const { project, backend, wf } = await startThree('B');
  await waitForJournalLines(project, 1);
  wf.kill('SIGINT');
  await wf.done;
  const id = newestRun(project);
  const { endedAt } = readState(project, id) as unknown as { endedAt: string };
  expect(await listRuns(project)).toMatchObject([{ runId: id, status: 'cancelled', endedAt }]);
  const shown = (await runWf(['show', id], { project })).stdout;
  expect(shown).toMatch(/^status +cancelled$/m);
  expect(shown).toContain(`ended      ${endedAt}`);
  expect(shown).toContain('The run was cancelled.');
  expect(await runWf(['doctor'], { project })).toMatchObject({ code: 0 });
  backend.openGate('B');
  expect(await runWf(['run', '--resume-from', id], { project })).toMatchObject({ code: 0 });
  expect(['A', 'B', 'C'].map((label) => backend.ledger.starts(label).length)).toEqual([1, 2, 1]);
});

describe('H12: what this wf does not understand', () => {
  it('is refused by name where a run is gone on from, and nothing is started; it is not taken for damage', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const backend = makeFakeBackend(project);
    const id = await makeKilledRun(project, backend);
    const file = join(project.runDir(id), 'run.json');
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), version: 99 }));
    const starts = backend.ledger.starts().length;
    for (const words of [
      ['run', '--resume-from', id],
      ['run', 'flow.js', '--resume-from', id, ...backend.flags],
      ['plan', '--resume-from', id],
    ]) {
      const { code, stderr } = await runWf(words, { project });
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/WF_VERSION_NEWER.*version 99/) });
    }
    for (const flag of ['--recover', '--continue-inflight', '--accept=B', '--rerun=B']) {
      expect(await runWf(['run', '--resume-from', id, flag], { project })).toMatchObject({ code: 2 });
    }
    expect(await runWf(['recover'], { project })).toMatchObject({ code: 2 });
    expect(backend.ledger.starts()).toHaveLength(starts);
    expect(project.runIds()).toEqual([id]);
    const listed = await listRuns(project);
    expect(listed).toMatchObject([{ runId: id, unsupported: expect.stringContaining('version 99') }]);
    expect(listed[0]).not.toHaveProperty('damaged');
  });
});

it('H18: a torn last line is dropped alone, and so is a bad line in the middle: what stands around them is reused', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  const backend = makeFakeBackend(project);
  expect(await runWf(['run', 'flow.js', ...backend.flags], { project })).toMatchObject({ code: 0 });
  const id = newestRun(project);
  const journal = join(project.runDir(id), 'journal.jsonl');
  const [a, b, c] = readFileSync(journal, 'utf8').split(/(?<=\n)/) as [string, string, string];
  for (const [text, live] of [
    [a + b + c.slice(0, 40), ['C']],
    [a + b.replace('do B', 'do X') + c, ['B']],
    [a.slice(0, 30) + b + c, ['A', 'B']],
  ] as const) {
    writeFileSync(journal, text);
    const starts = backend.ledger.starts().length;
    expect(await runWf(['run', '--resume-from', id], { project })).toMatchObject({ code: 0 });
    expect(
      backend.ledger
        .starts()
        .slice(starts)
        .map(({ label }) => label),
    ).toEqual(live);
  }
});

it('B-050: a live run is seen from another process with its pid, host and last sign of life; nobody takes it over or prunes it', async () => {
  const { project, backend, wf } = await startThree('A');
  const id = newestRun(project);
  expect(await listRuns(project)).toMatchObject([
    { runId: id, status: 'running', owner: { pid: wf.pid, host: expect.any(String), heartbeat: expect.any(String) } },
  ]);
  expect((await runWf(['show', id], { project })).stdout).toMatch(
    new RegExp(`owner +pid ${wf.pid} on .+, last heartbeat \\d{4}-`),
  );
  const refused = await runWf(['run', '--resume-from', id], { project });
  expect(refused).toMatchObject({ code: 5 });
  expect(refused.stderr).toContain(`process ${wf.pid} on `);
  expect(await runWf(['prune', '--keep', '0'], { project })).toMatchObject({ code: 0 });
  expect(project.runIds()).toEqual([id]);
  expect(backend.ledger.starts()).toHaveLength(1);

  const twin = await runWf(['run', 'flow.js', ...makeShellAgent(project).flags], { project });
  expect(twin).toMatchObject({ code: 0 });
  expect(twin.stderr).toMatch(new RegExp(`Run ${id} of the same script is in progress \\(process ${wf.pid} on `));
  const other = workflow('return 1', 'other');
  project.write('other.js', other);
  expect((await runWf(['run', 'other.js', '--backend', 'mock'], { project })).stderr).not.toContain('in progress');
  backend.openGate('A');
  expect(await wf.done).toMatchObject({ code: 0 });
});

it('B-047: a copy whose times are all equal is pruned by the recorded starts; a folder that is not clearly a run stays', async () => {
  const project = makeProject({ files: { 'flow.js': workflow('return 1') } });
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) {
    expect(await runWf(['run', 'flow.js', ...MOCK], { project })).toMatchObject({ code: 0 });
    ids.push(newestRun(project));
  }
  const [oldest, ...newer] = ids as [string, ...string[]];
  const same = '2026-01-01T00:00:00Z';
  for (const id of newer) spawnSync('touch', ['-d', same, project.runDir(id)]);
  // A future time counts as now, so this one is the newest.
  spawnSync('touch', ['-d', '2100-01-01', project.runDir(oldest)]);
  const unclear = project.runDir('00000000-0000-4000-8000-000000000000');
  mkdirSync(unclear);
  appendFileSync(join(unclear, 'notes'), '');
  expect(await runWf(['prune', '--keep', '2'], { project })).toMatchObject({ code: 0 });
  expect(project.runIds().sort()).toEqual([unclear.split('/').at(-1), oldest, newer.at(-1)].sort());
});

it('B-155: of a run that stands still one command says what it waits for: calls with age and last sign, retries, the queue, the owner', async () => {
  const body = "await parallel(['hangs', 'again', 'q1', 'q2', 'q3'].map((x) => () => agent('do ' + x, { label: x })))";
  const project = makeProject({ files: { 'flow.js': workflow(body) } });
  const backend = makeFakeBackend(project, {
    rules: { hangs: { stderr: ['{"wf":"progress","text":"reading"}'], gate: true }, again: { fail: 75 } },
  });
  const wf = startWf(['run', 'flow.js', '--concurrency', '2', '--retries', '20', ...backend.flags], { project });
  await backend.waitForStart('hangs');
  await wf.waitForStderr(/again: tried again in/);
  const id = newestRun(project);
  const text = await waitForShown(project, id, /tried again at/);
  expect(text).toMatch(new RegExp(`owner +pid ${wf.pid} on .+, last heartbeat `));
  expect(text).toMatch(/^now +1 running, 1 waiting for another try, 3 waiting for their turn$/m);
  expect(text).toMatch(/#1 +hangs +running for [\d.]+ \w+, attempt 1, last sign [\d.]+ \w+ ago/);
  expect(text).toMatch(/#2 +again +attempt \d failed \(server\), tried again at \d{4}-.*Z/);
  expect(text).toMatch(/#3 +q1 +waiting for its turn/);
  wf.kill('SIGINT');
  expect(await wf.done).toMatchObject({ code: 130 });
  // Of a run that is over nothing is said to go on.
  const over = (await runWf(['show', id], { project })).stdout;
  expect(over).not.toMatch(/^now |last sign|tried again at/m);
});

/** Events are written in batches. */
async function waitForShown(project: TestProject, id: string, pattern: RegExp): Promise<string> {
  for (let tries = 0; ; tries++) {
    const { stdout } = await runWf(['show', id], { project });
    if (pattern.test(stdout) || tries === 20) return stdout;
  }
}
