/** Who holds a run, seen from outside: claims, the lock beside them, and owners of every kind of death. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { waitForJournalLines } from '../support/journal.js';
import { isAlive } from '../support/processes.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { newestRun, THREE } from './cli-kit.js';
import { killRun, listRuns, snapshot } from './support/runs.js';
import { startThree } from './support/start-three.js';

const claimsOf = (project: TestProject, root: string): string => join(project.runsDir, '.claims', root);
const lockOf = (project: TestProject, root: string): string => join(claimsOf(project, root), 'owner.lock');

interface Owner {
  host: string;
  bootId: string | null;
  pid: number;
  startTime: string | null;
  heartbeat: string;
}

function changeRecord(project: TestProject, id: string, change: (record: { owner: Owner | null }) => object): void {
  const file = join(project.runDir(id), 'run.json');
  const record = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...record, ...change(record) }));
}

const statusOf = async (project: TestProject, id: string): Promise<string> => {
  const runs = await listRuns(project);
  return runs.find((run) => run.runId === id)?.status ?? 'unknown';
};

/** A run that was killed while B was under way. */
async function makeKilledRun(project: TestProject): Promise<string> {
  const backend = makeFakeBackend(project, { gated: ['B'] });
  const wf = startWf(['run', 'flow.js', ...backend.flags], { project });
  await backend.waitForStart('B');
  await waitForJournalLines(project, 1);
  const id = await killRun(wf);
  backend.openAllGates();
  return id;
}

it('O4 O5: the lock of a live run is kept and its second owner refused by pid; that of a killed one is cleaned with one line', async () => {
  const { project, backend, wf } = await startThree('B');
  await waitForJournalLines(project, 1);
  const id = newestRun(project);
  await waitFor('the lock', () => existsSync(lockOf(project, id)));
  const refused = await runWf(['run', '--resume-from', id], { project });
  expect(refused).toMatchObject({ code: 5 });
  expect(refused.stderr).toContain(`process ${wf.pid} on `);
  expect(existsSync(lockOf(project, id))).toBe(true);
  expect(await runWf(['doctor'], { project })).toMatchObject({ code: 0 });

  await killRun(wf);
  expect(existsSync(lockOf(project, id))).toBe(true);
  expect((await runWf(['doctor'], { project })).stdout).toMatch(/warn +The lock .* is left over/);
  backend.openGate('B');
  const resumed = await runWf(['run', '--resume-from', id], { project });
  expect(resumed).toMatchObject({ code: 0 });
  expect(resumed.stderr.match(/held this lineage|left over/g)).toHaveLength(1);
  expect(readdirSync(claimsOf(project, id)).sort()).toEqual(['1.json', '2.json', '2.released']);
  expect(backend.ledger.starts().map(({ label }) => label)).toEqual(['A', 'B', 'B', 'C']);
});

it('O4: a malformed lock of a lineage that nobody holds stands in nobody’s way', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  const id = await makeKilledRun(project);
  writeFileSync(join(claimsOf(project, id), '1.released'), '');
  rmSync(lockOf(project, id), { recursive: true, force: true });
  writeFileSync(lockOf(project, id), 'no lock');
  const resumed = await runWf(['run', '--resume-from', id], { project });
  expect(resumed).toMatchObject({ code: 0 });
  expect(resumed.stderr.match(/The lock .* was left over: nobody holds its lineage\. It was removed\./g)).toHaveLength(
    1,
  );
  expect(existsSync(lockOf(project, id))).toBe(false);
});

describe('O3 H6: a run that says that it goes on', () => {
  const OWNERS: Record<string, { owner: (dead: Owner) => object | null; status: string }> = {
    'with a dead process is interrupted at once': { owner: (dead) => dead, status: 'interrupted' },
    'whose number belongs to another program by now is interrupted': {
      owner: (dead) => ({ ...dead, pid: process.pid }),
      status: 'interrupted',
    },
    'of another boot, with an old heartbeat, is interrupted': {
      owner: (dead) => ({ ...dead, bootId: 'another', pid: process.pid, heartbeat: '2020-01-01T00:00:00.000Z' }),
      status: 'interrupted',
    },
    'without an owner is interrupted': { owner: () => null, status: 'interrupted' },
    'of another host that was just heard is running: nobody here can say that it is dead': {
      owner: (dead) => ({ ...dead, host: 'elsewhere', heartbeat: new Date().toISOString() }),
      status: 'running',
    },
    'of another host whose clock is ahead is running': {
      owner: (dead) => ({ ...dead, host: 'elsewhere', heartbeat: new Date(Date.now() + 3_600_000).toISOString() }),
      status: 'running',
    },
    'of another host that was not heard for a minute is interrupted': {
      owner: (dead) => ({ ...dead, host: 'elsewhere', heartbeat: new Date(Date.now() - 61_000).toISOString() }),
      status: 'interrupted',
    },
  };
  it('is judged by its owner: dead, reused, of another boot or host, or none', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const id = await makeKilledRun(project);
    const dead = JSON.parse(readFileSync(join(project.runDir(id), 'run.json'), 'utf8')).owner as Owner;
    for (const [name, { owner, status }] of Object.entries(OWNERS)) {
      changeRecord(project, id, () => ({ owner: owner(dead) }));
      const before = snapshot(project.runsDir);
      expect([name, await statusOf(project, id)]).toEqual([name, status]);
      const shown = JSON.parse((await runWf(['show', id, '--json'], { project })).stdout);
      expect([name, shown.status]).toEqual([name, status]);
      expect(snapshot(project.runsDir)).toEqual(before);
    }
  });

  it('B-055: and is gone on from at once where its number belongs to another program', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const id = await makeKilledRun(project);
    const reuse = <T extends { owner: Owner | null }>(record: T): object => ({
      owner: { ...(record.owner as Owner), pid: process.pid },
    });
    changeRecord(project, id, reuse);
    const claim = join(claimsOf(project, id), '1.json');
    const record = JSON.parse(readFileSync(claim, 'utf8'));
    writeFileSync(claim, JSON.stringify({ ...record, ...reuse(record) }));
    const resumed = await runWf(['run', '--resume-from', id], { project });
    expect(resumed).toMatchObject({ code: 0 });
    expect(resumed.stderr).toContain('is gone');
  });
});

describe('B-056: a claim that was begun and never written', () => {
  it('is passed over with a notice when it is old', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const id = await makeKilledRun(project);
    writeFileSync(join(claimsOf(project, id), '2.json'), '');
    const then = new Date(Date.now() - 60_000);
    utimesSync(join(claimsOf(project, id), '2.json'), then, then);
    const resumed = await runWf(['run', '--resume-from', id], { project });
    expect(resumed).toMatchObject({ code: 0 });
    expect(resumed.stderr).toContain('Claim 2 of this lineage was never finished and is passed over');
  });

  it('an empty lock folder, fresh or old, keeps nobody waiting', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const id = await makeKilledRun(project);
    mkdirSync(lockOf(project, id), { recursive: true });
    expect(await runWf(['run', '--resume-from', id], { project })).toMatchObject({ code: 0 });
    expect(existsSync(lockOf(project, id))).toBe(false);
  });
});

describe('B-052: a wf that was stopped for long, as by a laptop that sleeps', () => {
  /** Stopped while B is under way, when it has its lock. */
  async function makeStoppedRun(project: TestProject) {
    const backend = makeFakeBackend(project, { gated: ['B'] });
    const wf = startWf(['run', 'flow.js', ...backend.flags], { project, timeoutMs: 60_000 });
    const agent = await backend.waitForStart('B');
    await waitForJournalLines(project, 1);
    const id = newestRun(project);
    const lock = lockOf(project, id);
    await waitFor('the lock', () => existsSync(lock));
    wf.kill('SIGSTOP');
    const long = new Date(Date.now() - 90_000);
    utimesSync(lock, long, long);
    changeRecord(project, id, ({ owner }) => ({ owner: { ...(owner as Owner), heartbeat: long.toISOString() } }));
    return { backend, wf, agent, id, lock, long };
  }

  it('goes on without a word when nobody took over', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const { backend, wf, id, lock, long } = await makeStoppedRun(project);
    // Its process is there, so that it is not taken for dead.
    expect(await runWf(['run', '--resume-from', id], { project })).toMatchObject({ code: 5 });
    wf.kill('SIGCONT');
    await waitFor('the lock to be held anew', () => {
      const mtime = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
      return mtime !== undefined && mtime > long.getTime() + 60_000;
    });
    backend.openGate('B');
    const ended = await wf.done;
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stderr).not.toMatch(/warning|lock/i);
    expect(readdirSync(claimsOf(project, id)).sort()).toEqual(['1.json', '1.released']);
  });

  it('stops, writes nothing more and ends its agents when somebody else has the lineage by now', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const { wf, agent, id, lock } = await makeStoppedRun(project);
    const claims = claimsOf(project, id);
    const mine = JSON.parse(readFileSync(join(claims, '1.json'), 'utf8'));
    const theirs = { ...mine.owner, host: 'elsewhere', token: 'another', heartbeat: new Date().toISOString() };
    writeFileSync(join(claims, '2.json'), JSON.stringify({ ...mine, owner: theirs }), { flag: 'wx' });
    rmdirSync(lock);
    mkdirSync(lock);
    const record = (name: string): string => readFileSync(join(project.runDir(id), name), 'utf8');
    const before = [record('run.json'), record('journal.jsonl')];
    wf.kill('SIGCONT');
    const ended = await wf.done;
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(/WF_OWNER_LOST: Another process has taken over/);
    expect([record('run.json'), record('journal.jsonl')]).toEqual(before);
    expect(existsSync(join(project.runDir(id), 'state.json'))).toBe(false);
    await waitFor('the agent to be gone', () => !isAlive(agent.pid));
    // The lock is theirs.
    expect(existsSync(lock)).toBe(true);
  });
});
