/** Worktrees in which a process is still at work when nobody waits for it any more: an agent's child that has a session of its own. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive, sendSignal } from '../support/processes.js';
import { runWf } from '../support/run-wf.js';
import type { TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { madeIn, run } from './support/runs.js';
import {
  branchesOf,
  doctorTrees,
  foldersOf,
  isolatedFan,
  keptIn,
  makeRepository,
  SHELL,
  treesOf,
} from './support/worktrees.js';

/** Shell: leaves a process with a session of its own in the folder, by name. What the agent is ended with does not reach it. */
const leave = (name: string, rest = 'exec sleep 600'): string =>
  `setsid sh -c 'echo $$ > "$HOME/${name}.new"; mv "$HOME/${name}.new" "$HOME/${name}"; ${rest}' > /dev/null 2>&1 < /dev/null & while [ ! -e "$HOME/${name}" ]; do sleep 0.02; done`;

const pidOf = (project: TestProject, name: string): number => Number(readFileSync(join(project.home, name), 'utf8'));

async function end(pid: number): Promise<void> {
  sendSignal(pid, 'SIGKILL');
  await waitFor('the process to be gone', () => !isAlive(pid));
}

const makeLeaving = (files: Record<string, string>) => makeRepository(files, { leavesProcesses: true });

describe('an unchanged worktree in which an agent has left a process', () => {
  it('is kept by the run, told of as others are, and goes with wf doctor --fix when that process has ended', async () => {
    const project = makeLeaving({ 'a.txt': 'a', 'deep/b.txt': 'b' });
    project.write(
      'flow.js',
      isolatedFan({
        quiet: 'echo fine',
        child: `${leave('child')}; echo fine`,
        deep: `cd deep; ${leave('deep')}; echo fine`,
      }),
    );
    const done = await run(project, ['flow.js', ...SHELL]);
    const [child, deep] = [pidOf(project, 'child'), pidOf(project, 'deep')];
    expect([done.code, isAlive(child), isAlive(deep)]).toEqual([0, true, true]);
    const kept = keptIn(done);
    expect(kept.map(({ label, files, commits, doubt }) => [label, files, commits, doubt]).sort()).toEqual([
      ['child', [], 0, `process ${child} has its working folder in it`],
      ['deep', [], 0, `process ${deep} has its working folder in it`],
    ]);
    expect(foldersOf(project)).toEqual([`${done.id}-2`, `${done.id}-3`]);
    expect(branchesOf(project)).toEqual([`wf/${done.id}/2`, `wf/${done.id}/3`]);
    const events = readFileSync(join(project.runDir(done.id), 'events.jsonl'), 'utf8');
    const told = events
      .split('\n')
      .filter((line) => line.includes('"call.worktree"') && line.includes('"state":"kept"'))
      .map((line) => JSON.parse(line).label);
    expect(told.sort()).toEqual(['child', 'deep']);
    expect(done.stderr).toContain(`process ${child} has its working folder in it`);
    const lines = madeIn(project, done.id).filter((line) => line.worktrees !== undefined);
    expect(lines.map(({ label }) => label).sort()).toEqual(['child', 'deep']);
    const shown = await runWf(['show', done.id], { project });
    expect(shown.stdout).toContain(`process ${child} has its working folder in it`);

    const used = await doctorTrees(project, '--fix');
    expect(used.map(({ status, path, fixable }) => [status, path, fixable])).toEqual(
      kept.map(({ path }) => ['note', path, false]).sort(),
    );
    for (const { message } of used) expect(message).toMatch(/is in use: process \d+ has its working folder in it/);
    expect(foldersOf(project)).toHaveLength(2);
    await end(child);
    await end(deep);
    expect((await doctorTrees(project)).map(({ fixable }) => fixable)).toEqual([true, true]);
    await doctorTrees(project, '--fix');
    expect([foldersOf(project), branchesOf(project), treesOf(project)]).toEqual([[], [], []]);
  }, 120_000);

  it('is not taken for the next attempt, which gets one of its own', async () => {
    const project = makeLeaving({ 'a.txt': 'a' });
    const prompt = `[ "$WF_ATTEMPT" = 2 ] && pwd && exit; ${leave('child')}; exit 75`;
    project.write('flow.js', isolatedFan({ retried: prompt }));
    const done = await run(project, ['flow.js', ...SHELL, '--retries', '1']);
    const tree = project.path('.claude', 'worktrees', `${done.id}-1`);
    expect(done.result).toEqual([`${tree}-2`]);
    expect(keptIn(done).map(({ path, doubt }) => [path, doubt])).toEqual([
      [tree, `process ${pidOf(project, 'child')} has its working folder in it`],
    ]);
    expect(foldersOf(project)).toEqual([`${done.id}-1`]);
  }, 120_000);
});

describe('what is half removed or half made', () => {
  it('stays while a process is in it, and where one has written into it since', async () => {
    const project = makeLeaving({ 'a.txt': 'a', 'flow.js': isolatedFan({ one: 'echo one' }) });
    const { id } = await run(project, ['flow.js', ...SHELL]);
    const folder = project.path('.claude', 'worktrees');
    const made = [1, 2, 3].map((n) => {
      const tree = join(folder, `${id}-${n}`);
      project.git('worktree', 'add', '-q', '-b', `wf/${id}/${n}`, tree);
      const trash = join(folder, `.trash-${id}-${n}`);
      renameSync(tree, trash);
      return trash;
    }) as [string, string, string];
    const half = join(folder, `${id}-4`);
    mkdirSync(half);
    writeFileSync(join(made[1], 'late.txt'), 'late');
    const holder = runWf(['--version'], {
      project,
      under: ['sh', '-c', `cd ${made[0]}; ${leave('a')}; cd ${half}; ${leave('b')}`],
    });
    await holder;
    const pids = ['a', 'b'].map((name) => pidOf(project, name));
    const found = await doctorTrees(project, '--fix');
    expect(found.map(({ path, fixable }) => [path, fixable])).toEqual([
      [made[0], false],
      [made[1], false],
      [made[2], true],
      [half, false],
    ]);
    expect(found[1]?.message).toContain('1 changed file');
    expect([...made, half].map((path) => existsSync(path))).toEqual([true, true, false, true]);
    for (const pid of pids) await end(pid);
    await doctorTrees(project, '--fix');
    expect([...made, half].map((path) => existsSync(path))).toEqual([false, true, false, false]);
    expect(readFileSync(join(made[1], 'late.txt'), 'utf8')).toBe('late');
  }, 120_000);
});
