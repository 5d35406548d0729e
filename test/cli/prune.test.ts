/** Retention through `wf run` and `wf prune`: the right runs go, and nothing else is touched. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { MOCK, newestRun, readState, THREE, workflow } from './cli-kit.js';

const HOUR = 3_600_000;
const FLOW = workflow(`return await agent('do A', { label: 'A' })`);

/** A project in which `count` finished runs lie, each a minute older than the one before; ids, newest first. */
async function makeOldRuns(
  count: number,
  options: Parameters<typeof makeProject>[0] = {},
): Promise<{ project: TestProject; ids: string[] }> {
  const project = makeProject({ ...options, files: { 'flow.js': FLOW, ...options.files } });
  expect(await runWf(['run', 'flow.js', ...MOCK], { project })).toMatchObject({ code: 0 });
  const template = newestRun(project);
  const ids = Array.from({ length: count }, () => randomUUID() as string);
  for (const [i, id] of ids.entries()) {
    copyRun(project, template, id);
    age(project.runDir(id), HOUR + i * 60_000);
  }
  rmSync(project.runDir(template), { recursive: true });
  rmSync(join(project.runsDir, '.claims', template), { recursive: true, force: true });
  return { project, ids };
}

/** Copies a run folder and gives the copy an id of its own. */
function copyRun(project: TestProject, from: string, to: string): void {
  cpSync(project.runDir(from), project.runDir(to), { recursive: true });
  for (const name of ['run.json', 'state.json']) {
    const file = join(project.runDir(to), name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(from, to));
  }
}

function age(folder: string, ms: number): void {
  const time = new Date(Date.now() - ms);
  utimesSync(folder, time, time);
}

describe('P1: the newest 50 by folder mtime stay', () => {
  it.each([49, 50, 60])('with %i runs before a run', async (count) => {
    const { project, ids } = await makeOldRuns(count);
    const { code, stderr } = await runWf(['run', 'flow.js', ...MOCK], { project });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const left = project.runIds();
    expect(left).toHaveLength(50);
    const fresh = left.filter((id) => !ids.includes(id));
    expect(left.toSorted()).toEqual([...fresh, ...ids.slice(0, 49)].toSorted());
    expect(fresh).toHaveLength(1);
    expect(readdirSync(project.runsDir).filter((name) => /^\.(trash|new)-/.test(name))).toEqual([]);
  });

  it('P1 R9: --keep, and wf prune: a dry run says the same and touches nothing; what could be resumed is named', async () => {
    const { project, ids } = await makeOldRuns(5);
    const oldest = ids[4] as string;
    // Its owner died before it had an end.
    rmSync(join(project.runDir(oldest), 'state.json'));
    const record = join(project.runDir(oldest), 'run.json');
    writeFileSync(record, readFileSync(record, 'utf8').replace('"status": "completed"', '"status": "running"'));
    age(project.runDir(oldest), 2 * HOUR);

    const dry = await runWf(['prune', '--keep', '3', '--dry-run', '--json'], { project });
    expect(project.runIds()).toHaveLength(5);
    const real = await runWf(['prune', '--keep', '3', '--json'], { project });
    expect(real.stdout).toBe(dry.stdout);
    expect(JSON.parse(real.stdout)).toEqual({
      removed: [
        { runId: ids[3], workflow: 'flow', resumable: false },
        { runId: oldest, workflow: 'flow', resumable: true },
      ],
      kept: 3,
      warnings: [],
    });
    expect(project.runIds().toReversed()).toEqual(ids.slice(0, 3));
    const text = await runWf(['prune', '--keep', '1'], { project });
    expect(text.stdout).toMatch(/removed 2; 1 stays\./);
    const run = await runWf(['run', 'flow.js', '--keep', '1', ...MOCK], { project });
    expect(run.code).toBe(0);
    expect(project.runIds()).toEqual([newestRun(project)]);
  });
});

it('P2 R1: a pruned run has no cache: exit 2, nothing is started or made', async () => {
  const { project, ids } = await makeOldRuns(2);
  const [, pruned] = ids as [string, string];
  await runWf(['prune', '--keep', '1'], { project });
  const backend = makeFakeBackend(project);
  for (const args of [
    ['run', '--resume-from', pruned, ...backend.flags],
    ['run', 'flow.js', '--resume-from', pruned, ...backend.flags],
  ]) {
    const { code, stdout, stderr } = await runWf(args, { project });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`WF_RUN_UNKNOWN.*${pruned}`));
  }
  expect(project.runIds()).toEqual([ids[0]]);
  expect(backend.ledger.starts()).toEqual([]);
});

describe('P3', () => {
  it('P3: a live run stays, however old its folder looks, and completes', async () => {
    const { project } = await makeOldRuns(60, { files: { 'live.js': THREE } });
    const backend = makeFakeBackend(project, { gated: ['A'] });
    const live = startWf(['run', 'live.js', ...backend.flags], { project });
    await backend.waitForStart('A');
    const liveId = newestRun(project);
    // Stopped, so that no heartbeat makes its folder young again.
    live.kill('SIGSTOP');
    age(project.runDir(liveId), 48 * HOUR);
    expect(await runWf(['run', 'flow.js', ...MOCK], { project })).toMatchObject({ code: 0 });
    expect(statSync(project.runDir(liveId)).mtimeMs).toBeLessThan(Date.now() - 47 * HOUR);
    expect(await runWf(['prune', '--keep', '0'], { project })).toMatchObject({ code: 0 });
    expect(project.runIds()).toEqual([liveId]);
    live.kill('SIGCONT');
    backend.openGate('A');
    expect(await live.done).toMatchObject({ code: 0 });
    expect(readState(project, liveId)).toMatchObject({ status: 'completed' });
  });

  it('P3: the source of a live resume stays while it is read, and the oldest of 60 gives its answers', async () => {
    const { project, ids } = await makeOldRuns(59, { files: { 'three.js': THREE } });
    const backend = makeFakeBackend(project, { rules: { B: { fail: 77 } } });
    expect(await runWf(['run', 'three.js', ...backend.flags, '--keep', '100'], { project })).toMatchObject({ code: 6 });
    const source = newestRun(project);
    age(project.runDir(source), 48 * HOUR);
    backend.setRules([]);
    backend.gate('B');
    const resume = startWf(['run', '--resume-from', source], { project });
    await backend.waitForStart('B', { nth: 2 });
    const pruned = await runWf(['prune', '--json'], { project });
    // 50, and the source on top of them.
    expect(JSON.parse(pruned.stdout)).toMatchObject({ kept: 51, warnings: [] });
    expect(existsSync(project.runDir(source))).toBe(true);
    expect(project.runIds()).not.toContain(ids.at(-1));
    backend.openGate('B');
    expect(await resume.done).toMatchObject({ code: 0 });
    expect(['A', 'B', 'C'].map((label) => backend.ledger.starts(label).length)).toEqual([1, 2, 1]);
    expect(project.runIds()).toHaveLength(50);
  });
});

it('P4: only run folders are touched; what a link leads to is not', async () => {
  const { project, ids } = await makeOldRuns(3);
  const [run] = ids as [string];
  const runs = project.runsDir;
  const outside = join(project.root, 'outside');
  cpSync(project.runDir(run), outside, { recursive: true });
  const link = join(runs, randomUUID());
  symlinkSync(outside, link);
  const file = join(runs, randomUUID());
  writeFileSync(file, 'a file');
  const foreign = join(runs, randomUUID());
  mkdirSync(foreign);
  writeFileSync(join(foreign, 'notes.txt'), 'somebody else’s');
  for (const name of ['not-a-uuid', '.hidden', randomUUID().toUpperCase()]) {
    cpSync(project.runDir(run), join(runs, name), { recursive: true });
  }
  const before = readdirSync(runs).filter((name) => !ids.includes(name) && name !== '.claims');
  for (const name of before) if (!lstatSync(join(runs, name)).isSymbolicLink()) age(join(runs, name), 48 * HOUR);

  const pruned = await runWf(['prune', '--keep', '0', '--json'], { project });
  expect(JSON.parse(pruned.stdout)).toMatchObject({ kept: 0, warnings: [] });
  expect(project.runIds().toSorted()).toEqual([foreign.split('/').at(-1)]);
  expect(readdirSync(runs).filter((name) => name !== '.claims')).toEqual(before);
  expect(readdirSync(outside).toSorted()).toEqual([
    'events.jsonl',
    'journal.jsonl',
    'run.json',
    'script.js',
    'state.json',
  ]);
});

describe('P5', () => {
  it('P5: what cannot be removed is a warning; the run is as good', async (context) => {
    const { project, ids } = await makeOldRuns(4);
    const locked = project.runDir(ids[3] as string);
    const chattr = (flag: string) => spawnSync('chattr', [flag, locked]).status === 0;
    project.onDispose(() => {
      chattr('-i');
    });
    context.skip(!chattr('+i'), 'this file system has no immutable folders');
    const { code, stdout, stderr } = await runWf(['run', 'flow.js', '--keep', '2', ...MOCK], { project });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Made-up answer/);
    expect(stderr).toMatch(new RegExp(`WF_PRUNE.*${ids[3]} could not be removed`));
    expect(existsSync(locked)).toBe(true);
    expect(project.runIds()).toHaveLength(3);
    expect(readState(project)).toMatchObject({ status: 'completed' });
  });

  it('P5: ten runs at once on 60 folders: no error, the right 50 are left', async () => {
    const { project, ids } = await makeOldRuns(60);
    const ends = await Promise.all(
      Array.from({ length: 10 }, () => runWf(['run', 'flow.js', ...MOCK], { project, timeoutMs: 60_000 })),
    );
    expect(ends.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      Array.from({ length: 10 }, () => ({ code: 0, stderr: '' })),
    );
    const left = project.runIds();
    expect(left).toHaveLength(50);
    expect(left.filter((id) => ids.includes(id)).toSorted()).toEqual(ids.slice(0, 40).toSorted());
  });
});
