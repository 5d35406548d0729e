/** What stays of worktrees when calls fail, runs are killed or stopped, and when somebody goes on from them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeOwner } from '../../src/runs/owner.js';
import { processStartTime } from '../../src/shared/process-info.js';
import { runWf, startWf, type WfHandle } from '../support/run-wf.js';
import type { TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { idOf, killRun, run } from './support/runs.js';
import {
  branchesOf,
  doctorTrees as doctor,
  foldersOf,
  isolatedFan,
  type Kept,
  keptIn,
  makeRepository,
  SHELL,
  treesOf,
} from './support/worktrees.js';

/** Shell: waits until the test opens the gate. */
const GATE = 'while [ ! -e "$HOME/gate" ]; do sleep 0.02; done';
const openGate = (project: TestProject): void => writeFileSync(join(project.home, 'gate'), '');

async function waitForFile(project: TestProject, handle: WfHandle, ...names: string[]): Promise<void> {
  for (const name of names) {
    await waitFor(`the file ${name}`, () => existsSync(join(project.home, name)), {
      gaveUp: () => (handle.ended ? `wf has ended:\n${handle.stderr}` : undefined),
    });
  }
}

describe('a resume', () => {
  it('B-012 reuses isolated calls like others, makes no worktree for them, and names the one that each had left', async () => {
    const project = makeRepository({ 'a.txt': 'a' });
    const outbox = join(project.home, 'outbox');
    const work = (label: string, rest = ''): string =>
      `echo ${label} >> "${outbox}"; echo ${label} > ${label}.txt; ${rest}echo did ${label}`;
    project.write(
      'flow.js',
      isolatedFan({ x: work('x'), y: work('y'), z: `[ -e "$HOME/fixed" ] || exit 1; ${work('z')}` }),
    );
    const first = await run(project, ['flow.js', ...SHELL, '--retries', '0']);
    expect([first.code, first.result]).toEqual([3, ['did x', 'did y', null]]);
    writeFileSync(join(project.home, 'fixed'), '');
    const second = await run(project, ['--resume-from', first.id]);
    expect(second.result).toEqual(['did x', 'did y', 'did z']);
    expect(second.state.counts).toMatchObject({ reused: 2, executed: 1 });
    expect(readFileSync(outbox, 'utf8').split('\n').sort()).toEqual(['', 'x', 'y', 'z']);
    const named = keptIn(second).map(({ label, from, branch }) => [label, from, branch]);
    expect(named.sort()).toEqual([
      ['x', first.id, `wf/${first.id}/1`],
      ['y', first.id, `wf/${first.id}/2`],
      ['z', undefined, `wf/${second.id}/3`],
    ]);
    expect(foldersOf(project)).toHaveLength(3);
    // A third run still knows, from the journal alone.
    const third = await run(project, ['--resume-from', second.id]);
    expect(third.state.counts).toMatchObject({ reused: 3, executed: 0 });
    expect(
      keptIn(third)
        .map(({ branch }) => branch)
        .sort(),
    ).toEqual(named.map(([, , branch]) => branch).sort());
    expect(third.stderr).toContain(`#1 x of run ${first.id}: 1 file, 0 commits, branch wf/${first.id}/1`);
    expect(third.stderr).not.toMatch(/whose folder is gone/);
  }, 120_000);

  it('B-071 gives a call that was cut off a fresh worktree, and keeps and names the one with the half-made file', async () => {
    const project = makeRepository({ 'a.txt': 'a' });
    const half = `[ -e half.txt ] && echo found it && exit; echo half > half.txt; touch "$HOME/half.$(basename $PWD | cut -c38-)"; ${GATE}; echo whole`;
    project.write(
      'flow.js',
      `${isolatedFan({ tree: half }).replace('])\n', `, () => agent(${JSON.stringify(`touch "$HOME/here"; ${GATE}; echo here`)}, { label: 'in place' })])\n`)}`,
    );
    const going = startWf(['run', 'flow.js', ...SHELL], { project, timeoutMs: 120_000 });
    await waitForFile(project, going, 'half.1', 'here');
    const first = await killRun(going);
    const old = join(project.dir, '.claude', 'worktrees', `${first}-1`);
    expect(readFileSync(join(old, 'half.txt'), 'utf8')).toBe('half\n');
    const shown = await runWf(['show', first], { project, timeoutMs: 120_000 });
    expect(shown.stdout).toContain(`branch wf/${first}/1, in ${old}`);
    openGate(project);
    const second = await run(project, ['--resume-from', first]);
    expect(second.result).toEqual(['whole', 'here']);
    expect(second.stderr).toContain(
      '2 calls of the source run were started and have no result recorded: #1 tree, #2 in place',
    );
    expect(second.stderr).toContain(`Kept as it was left: #1 in ${old}, branch wf/${first}/1`);
    expect(readFileSync(join(old, 'half.txt'), 'utf8')).toBe('half\n');
    expect(keptIn(second).map(({ path, from }) => [path, from])).toEqual([
      [old, first],
      [join(project.dir, '.claude', 'worktrees', `${second.id}-1`), undefined],
    ]);
  }, 120_000);

  it('B-146 says of a reused answer that its worktree is gone, and of a killed call where its work lies', async () => {
    const project = makeRepository({ 'a.txt': 'a' });
    project.write(
      'flow.js',
      isolatedFan({
        done: 'echo d > done.txt; git add -A; git commit -qm done; echo done',
        cut: `echo c > cut.txt; touch "$HOME/cut"; ${GATE}; echo cut`,
        never: 'echo never',
      }),
    );
    const going = startWf(['run', 'flow.js', '--concurrency', '2', ...SHELL], { project, timeoutMs: 120_000 });
    await waitForFile(project, going, 'cut');
    await going.waitForStderr(/#1 done: worktree kept, 1 file, 1 commit/);
    await going.waitForStderr(/#1 done: ok/);
    const first = await killRun(going);
    const tree = (id: string, n: number): string => join(project.dir, '.claude', 'worktrees', `${id}-${n}`);
    project.git('worktree', 'remove', '--force', tree(first, 1));
    openGate(project);
    const second = await run(project, ['--resume-from', first]);
    expect(second.state.counts).toMatchObject({ reused: 1 });
    expect(second.stderr).toContain(`whose folder is gone (#1 done: branch wf/${first}/1 is still there)`);
    const places = keptIn(second).map(({ label, path }) => [label, path]);
    expect(places).toContainEqual(['done', tree(first, 1)]);
    expect(places).toContainEqual(['cut', tree(first, 2)]);
    expect(places).toContainEqual(['cut', tree(second.id, 2)]);
    project.git('branch', '-D', `wf/${first}/1`);
    const third = await run(project, ['--resume-from', second.id]);
    expect(third.stderr).toContain(`branch wf/${first}/1 is gone too`);
    // Somebody has taken it over and removed it: it is not kept, and the summary does not say so.
    expect(keptIn(third).map(({ label }) => label)).not.toContain('done');
    expect(third.stderr).not.toMatch(/^ +#1 done of run/m);
  }, 120_000);

  it('does not say of a branch in a submodule that it is gone', async () => {
    const sub = makeRepository({ 'in.txt': 'sub' });
    const project = makeRepository({ 'a.txt': 'a' });
    project.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', sub.dir, 'sub');
    project.git('commit', '-qm', 'sub');
    project.write('flow.js', isolatedFan({ inner: 'echo x > x.txt; pwd' }, { cwd: 'sub' }));
    const first = await run(project, ['flow.js', ...SHELL]);
    const [path] = first.result as [string];
    project.git('-C', 'sub', 'worktree', 'remove', '--force', path);
    const second = await run(project, ['--resume-from', first.id]);
    expect(second.stderr).toContain(`#1 inner: branch wf/${first.id}/1 is not known`);
    expect(keptIn(second)).toMatchObject([{ label: 'inner', from: first.id }]);
  }, 120_000);
});

describe('a run that is ended', () => {
  it('B-141 by a signal keeps what its calls had changed and removes the rest', async () => {
    const project = makeRepository({ 'a.txt': 'a' });
    const wait = (name: string): string => `touch "$HOME/${name}"; ${GATE}`;
    project.write('flow.js', isolatedFan({ dirty: `echo x > x.txt; ${wait('one')}`, clean: wait('two') }));
    const going = startWf(['run', 'flow.js', ...SHELL], { project, timeoutMs: 120_000 });
    await waitForFile(project, going, 'one', 'two');
    going.kill('SIGINT');
    const done = await going.done;
    const id = idOf(done.stderr);
    expect(done.code).toBe(130);
    expect(foldersOf(project)).toEqual([`${id}-1`]);
    expect(branchesOf(project)).toEqual([`wf/${id}/1`]);
    const state = JSON.parse(readFileSync(join(project.runDir(id), 'state.json'), 'utf8')) as { worktrees: Kept[] };
    expect(state.worktrees).toMatchObject([{ label: 'dirty', files: ['x.txt'] }]);
  }, 120_000);

  it('a call that runs out of time, is skipped or gives an answer too late keeps its work', async () => {
    const project = makeRepository({ 'a.txt': 'a' });
    project.write('flow.js', isolatedFan({ slow: 'echo x > x.txt; sleep 60', idle: 'sleep 60' }, { timeoutMs: 1500 }));
    const done = await run(project, ['flow.js', ...SHELL, '--retries', '0']);
    expect(done.result).toEqual([null, null]);
    expect(keptIn(done).map(({ label, files }) => [label, files])).toEqual([['slow', ['x.txt']]]);
    expect(foldersOf(project)).toEqual([`${done.id}-1`]);
  }, 120_000);
});

describe('wf doctor', () => {
  it('removes empty worktrees of a killed run, never one with work in it, and none that is in use (B-143)', async () => {
    const project = makeRepository({ 'a.txt': 'a' });
    const wait = (name: string): string => `touch "$HOME/${name}"; ${GATE}; echo ok`;
    project.write('dead.js', isolatedFan({ dirty: `echo x > x.txt; ${wait('one')}`, clean: wait('two') }));
    project.write('live.js', isolatedFan({ idle: wait('three') }));
    const dying = startWf(['run', 'dead.js', ...SHELL], { project, timeoutMs: 120_000 });
    await waitForFile(project, dying, 'one', 'two');
    const dead = await killRun(dying);
    const living = startWf(['run', 'live.js', ...SHELL], { project, timeoutMs: 120_000 });
    await waitForFile(project, living, 'three');
    const live = idOf(living.stderr);
    // What a kill in the middle of a removal and of a start leaves.
    const folder = project.path('.claude', 'worktrees');
    mkdirSync(join(folder, `.trash-${dead}-7`));
    const half = join(folder, `${dead}-8`);
    project.git('worktree', 'add', '-q', '--no-checkout', '-b', `wf/${dead}/8`, half);
    // Git keeps one locked for as long as it makes it.
    writeFileSync(project.path('.git', 'worktrees', `${dead}-8`, 'locked'), 'initializing');
    const before = foldersOf(project);
    const seen = await doctor(project);
    expect(seen.map(({ path, fixable }) => [path, fixable])).toEqual([
      [join(folder, `.trash-${dead}-7`), true],
      [join(folder, `${dead}-1`), false],
      [join(folder, `${dead}-2`), true],
      [half, true],
    ]);
    expect(foldersOf(project)).toEqual(before);
    const other = project.git('worktree', 'add', '-q', join(project.root, 'mine'), '-b', 'mine');
    expect(other).toBe('');
    await doctor(project, '--fix');
    expect(foldersOf(project)).toEqual([`${dead}-1`, `${live}-1`].sort());
    expect(branchesOf(project)).toEqual([`wf/${dead}/1`, `wf/${live}/1`].sort());
    expect(treesOf(project)).toContain(join(project.root, 'mine'));
    expect(treesOf(project)).not.toContain(half);
    // Another run comes to its end, and old ones are pruned, while the live one idles.
    project.write('short.js', isolatedFan({ short: 'echo short' }));
    const short = await run(project, ['short.js', ...SHELL, '--keep', '1']);
    expect(short.result).toEqual(['short']);
    expect(short.stderr).toContain('Worktrees of pruned runs that stay in');
    await doctor(project, '--fix');
    expect(foldersOf(project)).toEqual([`${dead}-1`, `${live}-1`].sort());
    openGate(project);
    expect(JSON.parse((await living.done).stdout)).toEqual(['ok']);
    expect(foldersOf(project)).toEqual([`${dead}-1`]);
  }, 120_000);

  it('keeps a worktree whose record cannot be read, and one without a record in which anything was changed', async () => {
    const project = makeRepository({ 'a.txt': 'a', 'b.txt': 'b' });
    const change = 'echo x > a.txt';
    project.write(
      'flow.js',
      isolatedFan({
        broken: change,
        newer: change,
        edited: change,
        staged: 'echo x > a.txt; git add a.txt',
        deleted: 'git rm -q b.txt',
      }),
    );
    const { id } = await run(project, ['flow.js', ...SHELL]);
    const folder = project.path('.claude', 'worktrees');
    const recordOf = (n: number): string => project.path('.git', 'worktrees', `${id}-${n}`, 'wf-worktree.json');
    writeFileSync(recordOf(1), '');
    writeFileSync(recordOf(2), readFileSync(recordOf(2), 'utf8').replace('"version":1', '"version":2'));
    for (const n of [3, 4, 5]) rmSync(recordOf(n));
    const kept = [1, 2, 3, 4, 5].map((n) => `${id}-${n}`);
    const fixed = await doctor(project, '--fix');
    expect(foldersOf(project)).toEqual(kept);
    expect(branchesOf(project)).toEqual(kept.map((_, i) => `wf/${id}/${i + 1}`));
    expect(fixed.map(({ path, fixable }) => [path, fixable])).toEqual(kept.map((name) => [join(folder, name), false]));
    for (const { message } of fixed.slice(0, 2)) expect(message).toContain('its record cannot be read');
    for (const { message } of fixed.slice(2)) expect(message).toContain('1 changed file');
  }, 120_000);

  it('and what an agent had started and nobody could end: its worktree counts as in use as long as that is alive', async () => {
    const project = makeRepository({ 'a.txt': 'a', 'flow.js': isolatedFan({ one: 'echo one' }) });
    const { id } = await run(project, ['flow.js', ...SHELL]);
    project.git('worktree', 'add', '-q', '-b', `wf/${id}/1`, project.path('.claude', 'worktrees', `${id}-1`));
    const child = spawn('sleep', ['600'], { stdio: 'ignore' });
    try {
      const pid = child.pid as number;
      const left = { type: 'process.left', role: 'agent', pid, startTime: processStartTime(pid) };
      const { host, bootId, pidNamespace } = describeOwner();
      const line = JSON.stringify({ t: new Date().toISOString(), ...left, host, bootId, pidNamespace });
      appendFileSync(join(project.runDir(id), 'events.jsonl'), `${line}\n`);
      expect(await doctor(project)).toEqual([]);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    expect(await doctor(project)).toMatchObject([{ status: 'warn', runId: id, fixable: true }]);
  }, 120_000);

  it('and a run on another machine or in another container: without a sign of life it counts as dead after an hour only', async () => {
    const project = makeRepository({ 'a.txt': 'a', 'flow.js': isolatedFan({ one: `touch "$HOME/one"; ${GATE}` }) });
    const going = startWf(['run', 'flow.js', ...SHELL], { project, timeoutMs: 120_000 });
    await waitForFile(project, going, 'one');
    const id = await killRun(going);
    const file = join(project.runDir(id), 'run.json');
    const record = JSON.parse(readFileSync(file, 'utf8')) as { owner: object };
    const tellOwner = (minutesAgo: number): void => {
      const heartbeat = new Date(Date.now() - minutesAgo * 60_000).toISOString();
      writeFileSync(file, JSON.stringify({ ...record, owner: { ...record.owner, host: 'elsewhere', heartbeat } }));
    };
    tellOwner(50);
    expect(await doctor(project, '--fix')).toEqual([]);
    expect(foldersOf(project)).toEqual([`${id}-1`]);
    tellOwner(70);
    await doctor(project, '--fix');
    expect([foldersOf(project), branchesOf(project)]).toEqual([[], []]);
  }, 120_000);

  it('and a pruned run: its kept worktrees stay and are named', async () => {
    const project = makeRepository({ 'a.txt': 'a', 'flow.js': isolatedFan({ work: 'echo x > x.txt' }) });
    const first = await run(project, ['flow.js', ...SHELL]);
    const pruned = await runWf(['prune', '--keep', '0'], { project, timeoutMs: 120_000 });
    expect(pruned.stdout + pruned.stderr).toContain(`${first.id}-1`);
    expect(foldersOf(project)).toEqual([`${first.id}-1`]);
    expect((await doctor(project)).map(({ status, message }) => [status, message])).toEqual([
      ['note', expect.stringContaining('1 changed file, 0 commits')],
    ]);
  }, 120_000);
});

function isGitUsable(project: TestProject): boolean {
  try {
    treesOf(project);
    return true;
  } catch {
    return false;
  }
}

describe('a kill of wf at any moment', () => {
  it('loses no work, leaves git usable, and what is left can be cleared away', async () => {
    const project = makeRepository({ 'a.txt': 'a' });
    const prompts = Object.fromEntries(
      Array.from({ length: 8 }, (_, i) => [
        `c${i}`,
        i % 2 === 0 ? `echo ${i} > mine.txt; echo "$PWD" >> "$HOME/works"` : 'echo nothing',
      ]),
    );
    project.write('flow.js', isolatedFan(prompts));
    for (const pattern of [/tool git worktree/, /worktree made/, /worktree kept/, /worktree removed/]) {
      const going = startWf(['run', 'flow.js', '--concurrency', '8', ...SHELL], { project, timeoutMs: 120_000 });
      await going.waitForStderr(pattern);
      await killRun(going);
      // There is a moment at which a killed git leaves what keeps git from its work until `wf doctor --fix` was there.
      for (let looks = 0; looks < 20 && !isGitUsable(project); looks++) await doctor(project, '--fix');
    }
    const works = existsSync(join(project.home, 'works')) ? readFileSync(join(project.home, 'works'), 'utf8') : '';
    // Until the last of what a killed run had started is gone, its worktrees count as in use.
    let left = await doctor(project, '--fix');
    for (let looks = 0; looks < 20 && left.some(({ fixable }) => fixable); looks++) {
      await doctor(project, '--fix');
      left = await doctor(project);
    }
    // Every file that an agent had written and told of is where it was.
    for (const path of works.split('\n').filter((line) => line !== '')) {
      expect(existsSync(join(path, 'mine.txt')), path).toBe(true);
    }
    expect(left.filter(({ fixable }) => fixable)).toEqual([]);
    expect(project.git('status', '--porcelain')).toBe('?? flow.js\n');
    expect(treesOf(project).length).toBe(foldersOf(project).length);
    expect(branchesOf(project).length).toBe(foldersOf(project).length);
    const again = await run(project, ['flow.js', ...SHELL]);
    expect(again.code).toBe(0);
  }, 120_000);
});

it('two runs at once in one repository, 8 calls each: each has its own worktrees, and all empty ones go', async () => {
  const project = makeRepository({ 'a.txt': 'a' });
  const prompts = Object.fromEntries(
    Array.from({ length: 8 }, (_, i) => [`c${i}`, i === 0 ? 'echo x > x.txt; pwd' : 'pwd']),
  );
  project.write('flow.js', isolatedFan(prompts));
  const runs = await Promise.all([0, 1].map(() => run(project, ['flow.js', '--concurrency', '8', ...SHELL])));
  for (const { id, code, result, stderr } of runs) {
    expect([code, /WF_WORKTREE(_LEFT)?:/.test(stderr)]).toEqual([0, false]);
    expect(result).toEqual(Object.keys(prompts).map((_, i) => project.path('.claude', 'worktrees', `${id}-${i + 1}`)));
  }
  expect(foldersOf(project)).toEqual(runs.map(({ id }) => `${id}-1`).sort());
  expect(branchesOf(project)).toEqual(runs.map(({ id }) => `wf/${id}/1`).sort());
}, 90_000);
