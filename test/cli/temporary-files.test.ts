/** What a killed `wf` leaves in the temp folder: named by `wf doctor`, and nothing of a live one is touched. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DoctorFinding, DoctorReport } from '../../src/index.js';
import { makeFakeBackend } from '../support/fake-backend.js';
import { runWf, startWf, type WfHandle } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { newestRun, workflow } from './cli-kit.js';
import { killRun, snapshot } from './support/runs.js';

const HOURS_AGO = new Date(Date.now() - 2 * 3_600_000);

async function leftoversIn(project: TestProject, ...flags: string[]): Promise<DoctorFinding[]> {
  const { stdout } = await runWf(['doctor', '--json', ...flags], { project, env: { WF_BACKEND: 'mock' } });
  const { findings } = JSON.parse(stdout) as DoctorReport;
  return findings.filter(({ check, status }) => check === 'leftovers' && status !== 'ok');
}

const tmpOf = (project: TestProject): string => project.env.TMPDIR as string;
const inTmp = (project: TestProject): string[] =>
  readdirSync(tmpOf(project)).filter((name) => name !== 'node-compile-cache');

describe('the file that holds the schema of a call', () => {
  const SCHEMA_CALL = workflow(
    "return await agent('do A', { label: 'A', schema: { type: 'object', properties: { ok: { type: 'boolean' } } } })",
  );
  const schemasOf = (project: TestProject, id: string): string[] =>
    inTmp(project)
      .filter((name) => name.startsWith(`wf-schema-${id}-`))
      .map((name) => join(tmpOf(project), name));

  it('lies in the temp folder and is gone with the call; that of a killed run is named, and removed by --fix', async () => {
    const project = makeProject({ files: { 'flow.js': SCHEMA_CALL } });
    const backend = makeFakeBackend(project, { gated: ['A'], rules: { A: { value: { ok: true } } } });
    const killed = startWf(['run', 'flow.js', ...backend.flags], { project });
    await backend.waitForStart('A');
    const id = newestRun(project);
    const [file = ''] = schemasOf(project, id);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ type: 'object' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    // Of a live run, however old it is.
    utimesSync(file, HOURS_AGO, HOURS_AGO);
    expect(await leftoversIn(project)).toEqual([]);

    await killRun(killed);
    const [found] = await leftoversIn(project);
    expect(found).toMatchObject({ status: 'note', path: file, runId: id, fixable: true });
    const goesOn = startWf(['run', '--resume-from', id], { project });
    await backend.waitForStart('A', { nth: 2 });
    expect(await leftoversIn(project, '--fix')).toMatchObject([
      { path: file, fixed: expect.stringContaining('removed') },
    ]);
    expect(existsSync(file)).toBe(false);
    const next = newestRun(project);
    expect(schemasOf(project, next)).toHaveLength(1);
    backend.openAllGates();
    expect(await goesOn.done).toMatchObject({ code: 0 });
    expect(schemasOf(project, next)).toEqual([]);
    expect(inTmp(project)).toEqual([]);
  });

  it("is removed without touching the times of the temp folder: it is another user's in most places", async () => {
    const project = makeProject({ files: { 'flow.js': workflow('return 1') } });
    await runWf(['run', 'flow.js', '--backend', 'mock'], { project });
    const id = newestRun(project);
    const file = join(tmpOf(project), `wf-schema-${id}-left.json`);
    writeFileSync(file, '{}');
    utimesSync(tmpOf(project), HOURS_AGO, HOURS_AGO);
    expect(await leftoversIn(project, '--fix')).toMatchObject([
      { path: file, fixed: expect.stringContaining('removed') },
    ]);
    expect(existsSync(file)).toBe(false);
    expect(statSync(tmpOf(project)).mtimeMs).toBeGreaterThan(HOURS_AGO.getTime());
  });

  it('is left alone where nobody here can say that the owner of its run is dead', async () => {
    const project = makeProject({ files: { 'flow.js': SCHEMA_CALL } });
    const backend = makeFakeBackend(project, { gated: ['A'] });
    const wf = startWf(['run', 'flow.js', ...backend.flags], { project });
    await backend.waitForStart('A');
    const id = await killRun(wf);
    const record = join(project.runDir(id), 'run.json');
    const run = JSON.parse(readFileSync(record, 'utf8'));
    const owner = { ...run.owner, pidNamespace: 'pid:[1]', heartbeat: HOURS_AGO.toISOString() };
    writeFileSync(record, JSON.stringify({ ...run, owner }));
    expect(await leftoversIn(project)).toEqual([]);
    expect(schemasOf(project, id)).toHaveLength(1);
  });
});

describe('the runs of wf test', () => {
  /** Resolves when its run waits for an answer. */
  async function startTest(project: TestProject): Promise<{ wf: WfHandle; folder: string }> {
    const before = new Set(inTmp(project));
    const wf = startWf(['test', 'flow.js'], { project });
    const hasStarted = (name: string): boolean =>
      readdirSync(join(tmpOf(project), name), { recursive: true, encoding: 'utf8' }).some(
        (file) =>
          file.endsWith('events.jsonl') &&
          readFileSync(join(tmpOf(project), name, file), 'utf8').includes('call.started'),
      );
    const name = await waitFor('the first call to start', () =>
      inTmp(project).find((entry) => entry.startsWith('wf-test-runs-') && !before.has(entry) && hasStarted(entry)),
    );
    return { wf, folder: join(tmpOf(project), name) };
  }
  const makeTest = (): TestProject =>
    makeProject({
      files: {
        'flow.js': workflow("return await agent('do A', { label: 'A' })"),
        'flow.test.json': JSON.stringify({ answers: [{ hang: true }], calls: 1 }),
      },
    });

  it('that was killed are named and removed by --fix; those of a live one, and what only looks like them, stay', async () => {
    const project = makeTest();
    const killed = await startTest(project);
    const alive = await startTest(project);
    killed.wf.killTree();
    await killed.wf.done;
    const own = join(tmpOf(project), 'wf-test-runs-mine00');
    mkdirSync(own, { mode: 0o700 });
    writeFileSync(join(own, 'notes.txt'), 'mine');
    utimesSync(own, HOURS_AGO, HOURS_AGO);
    utimesSync(alive.folder, HOURS_AGO, HOURS_AGO);

    const before = snapshot(killed.folder);
    expect(await leftoversIn(project)).toMatchObject([{ status: 'note', path: killed.folder, fixable: true }]);
    expect(snapshot(killed.folder)).toEqual(before);
    expect(await leftoversIn(project, '--fix')).toMatchObject([{ fixed: expect.stringContaining('removed') }]);
    expect([killed.folder, alive.folder, own].map((path) => existsSync(path))).toEqual([false, true, true]);
    alive.wf.kill('SIGINT');
    expect(await alive.wf.done).toMatchObject({ code: 130 });
    expect(inTmp(project)).toEqual(['wf-test-runs-mine00']);
  });

  it('of another machine, boot or container are named, and only a person can say that they are left over', async () => {
    const project = makeTest();
    const { wf, folder } = await startTest(project);
    wf.killTree();
    await wf.done;
    const file = join(folder, 'owner.json');
    const owner = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...owner, bootId: 'another', heartbeat: HOURS_AGO.toISOString() }));
    expect(await leftoversIn(project, '--fix')).toMatchObject([{ path: folder, fixable: false, fixed: null }]);
    expect(existsSync(folder)).toBe(true);
    // Of one that was made just now nothing is said.
    writeFileSync(file, JSON.stringify({ ...owner, bootId: 'another', heartbeat: new Date().toISOString() }));
    expect(await leftoversIn(project)).toEqual([]);
  });
});
