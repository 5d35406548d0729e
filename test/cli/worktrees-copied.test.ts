/** A project that was copied with its runs and worktrees: what git and `wf` say there of worktrees leads to the original's. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DoctorFinding, DoctorReport } from '../../src/index.js';
import { runWf, startWf } from '../support/run-wf.js';
import type { TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { killRun, snapshot } from './support/runs.js';
import {
  branchesOf,
  doctorTrees,
  foldersOf,
  isolatedFan,
  makeRepository,
  SHELL,
  treesOf,
} from './support/worktrees.js';

/** Shell: waits until the test opens the gate. */
const GATE = 'while [ ! -e "$HOME/gate" ]; do sleep 0.02; done';

interface Copied {
  project: TestProject;
  /** Of the killed run. */
  id: string;
  folder: string;
}

/** A killed run whose first call has left nothing and whose second one has left work. */
async function makeKilled(): Promise<Copied> {
  const project = makeRepository({ 'a.txt': 'a' });
  const wait = (name: string): string => `touch "$HOME/${name}"; ${GATE}`;
  project.write('flow.js', isolatedFan({ clean: wait('one'), dirty: `echo x > x.txt; ${wait('two')}` }));
  const going = startWf(['run', 'flow.js', ...SHELL], { project, timeoutMs: 120_000 });
  await waitFor('both calls', () => ['one', 'two'].every((name) => existsSync(join(project.home, name))), {
    gaveUp: () => (going.ended ? going.stderr : undefined),
  });
  const id = await killRun(going);
  return { project, id, folder: project.path('.claude', 'worktrees') };
}

/** `cp -r`, as people copy. */
function copy(project: TestProject, to = join(project.root, 'copy')): string {
  execFileSync('cp', ['-r', project.dir, to]);
  return to;
}

async function doctorIn(project: TestProject, cwd: string, ...flags: string[]): Promise<DoctorFinding[]> {
  const { stdout } = await runWf(['doctor', '--json', ...flags], { project, cwd, timeoutMs: 120_000 });
  return (JSON.parse(stdout) as DoctorReport).findings.filter(
    ({ check, status }) => check === 'worktrees' && status !== 'ok',
  );
}

/** What the original has of worktrees, in its folders and in its repository, and its runs. */
const stateOf = (project: TestProject): unknown => [
  project.runIds(),
  snapshot(project.path('.claude', 'worktrees')),
  snapshot(project.path('.git')),
  branchesOf(project),
  treesOf(project),
];

/** Branches of the copy's own repository. */
const branchesIn = (project: TestProject, cwd: string): string[] =>
  execFileSync('git', ['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/wf/'], {
    cwd,
    env: project.env,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((name) => name !== '')
    .sort();

describe('wf doctor --fix in a copy of the project', () => {
  it.each([
    ['beside it', (project: TestProject) => join(project.root, 'a copy')],
    ['inside of it', (project: TestProject) => project.path('copy')],
  ])(
    '%s touches nothing of the original, and names the copied worktrees',
    async (_, place) => {
      const { project, id } = await makeKilled();
      const to = place(project);
      execFileSync('cp', ['-r', project.dir, `${project.root}/elsewhere`]);
      renameSync(`${project.root}/elsewhere`, to);
      const before = stateOf(project);
      const files = readdirSync(join(to, '.claude', 'worktrees')).sort();
      const found = await doctorIn(project, to, '--fix');
      expect(stateOf(project)).toEqual(before);
      const copied = [1, 2].map((n) => join(to, '.claude', 'worktrees', `${id}-${n}`));
      expect(found.map(({ path, status, fixable }) => [path, status, fixable])).toEqual(
        copied.map((path) => [path, 'note', false]),
      );
      for (const { message, remedy, path } of found) {
        expect(message).toContain(`it is a copy of one that belongs to ${project.path('.git')}`);
        expect(remedy).not.toMatch(/branch|git/);
        // To be copied into a shell as it is.
        expect(remedy?.endsWith(`: rm -r ${path?.includes(' ') ? `'${path}'` : path}`), remedy ?? '').toBe(true);
      }
      expect(readdirSync(join(to, '.claude', 'worktrees')).sort()).toEqual(files);
      expect(branchesIn(project, to)).toEqual([`wf/${id}/1`, `wf/${id}/2`]);
      // The original's own doctor does what it does everywhere.
      await doctorTrees(project, '--fix');
      expect([foldersOf(project), branchesOf(project)]).toEqual([[`${id}-2`], [`wf/${id}/2`]]);
      expect(branchesIn(project, to)).toEqual([`wf/${id}/1`, `wf/${id}/2`]);
    },
    120_000,
  );

  it('nor while the original is still at work, by a live run or by a person', async () => {
    const { project, id, folder } = await makeKilled();
    const live = makeLive(project);
    const liveId = await live.started;
    // A person has looked at the empty one and is about to use it.
    const to = copy(project);
    const before = stateOf(project);
    await doctorIn(project, to, '--fix');
    expect(stateOf(project)).toEqual(before);
    // What the copy runs of its own is its own.
    const env = { HOME: project.home };
    writeFileSync(join(to, 'own.js'), isolatedFan({ own: 'echo own > own.txt', none: 'echo none' }));
    const own = await runWf(['run', 'own.js', ...SHELL], { project, cwd: to, env, timeoutMs: 60_000 });
    expect(own.code).toBe(0);
    const names = readdirSync(join(to, '.claude', 'worktrees')).filter((name) => !name.startsWith(id));
    expect(names.filter((name) => /-\d+$/.test(name) && !name.startsWith(liveId))).toHaveLength(1);
    expect(stateOf(project)).toEqual(before);
    writeFileSync(join(project.home, 'gate'), '');
    await live.done;
    expect(existsSync(join(folder, `${id}-1`))).toBe(true);
  }, 120_000);

  it('nor what is half made or half removed: of the copy only folders that hold nothing go', async () => {
    const { project, id, folder } = await makeKilled();
    // The removal of the empty one was killed when git had forgotten it, but for its branch.
    renameSync(join(folder, `${id}-1`), join(folder, `.trash-${id}-1`));
    project.git('worktree', 'prune');
    // Of another one git had made no more than the branch and the file that names its folder.
    project.git('branch', `wf/${id}/8`);
    mkdirSync(join(folder, `${id}-8`));
    writeFileSync(join(folder, `${id}-8`, '.git'), `gitdir: ${project.path('.git', 'worktrees', `${id}-8`)}\n`);
    const to = copy(project);
    const before = stateOf(project);
    await doctorIn(project, to, '--fix');
    expect(stateOf(project)).toEqual(before);
    const tree = join(to, '.claude', 'worktrees');
    expect(existsSync(join(tree, `${id}-2`, 'x.txt'))).toBe(true);
  }, 120_000);

  it('whose .claude is a link to that of the original leaves what lies there to the original', async () => {
    const { project, id } = await makeKilled();
    const to = copy(project);
    rmSync(join(to, '.claude'), { recursive: true });
    symlinkSync(project.path('.claude'), join(to, '.claude'));
    const before = stateOf(project);
    const found = await doctorIn(project, to, '--fix');
    expect(stateOf(project)).toEqual(before);
    expect(found.map(({ fixable, message }) => [fixable, message.includes('it belongs to')])).toEqual([
      [false, true],
      [false, true],
    ]);
    expect(branchesIn(project, to)).toEqual([`wf/${id}/1`, `wf/${id}/2`]);
  }, 120_000);

  it('ends with its own worktrees in order where its repository and they know each other', async () => {
    const { project, id } = await makeKilled();
    const to = copy(project);
    // As git has it with relative paths, or after a repair by hand.
    for (const n of [1, 2]) {
      const tree = join(to, '.claude', 'worktrees', `${id}-${n}`);
      const gitDir = join(to, '.git', 'worktrees', `${id}-${n}`);
      writeFileSync(join(tree, '.git'), `gitdir: ${gitDir}\n`);
      writeFileSync(join(gitDir, 'gitdir'), `${tree}/.git\n`);
    }
    const before = stateOf(project);
    await doctorIn(project, to, '--fix');
    expect(stateOf(project)).toEqual(before);
    expect(branchesIn(project, to)).toEqual([`wf/${id}/2`]);
    expect(readdirSync(join(to, '.claude', 'worktrees')).filter((name) => name !== '.gitignore')).toEqual([`${id}-2`]);
  }, 120_000);
});

it('a project that was moved keeps its worktrees, which git does not know any more', async () => {
  const { project, id } = await makeKilled();
  const to = join(project.root, 'moved');
  renameSync(project.dir, to);
  const found = await doctorIn(project, to, '--fix');
  expect(found.map(({ fixable }) => fixable)).toEqual([false, false]);
  expect(branchesIn(project, to)).toEqual([`wf/${id}/1`, `wf/${id}/2`]);
  expect(readdirSync(join(to, '.claude', 'worktrees')).sort()).toEqual(['.gitignore', `${id}-1`, `${id}-2`]);
}, 120_000);

/** A run that goes on in the original. */
function makeLive(project: TestProject): { started: Promise<string>; done: Promise<unknown> } {
  project.write('live.js', isolatedFan({ live: `touch "$HOME/three"; ${GATE}; echo ok` }));
  const going = startWf(['run', 'live.js', ...SHELL], { project, timeoutMs: 120_000 });
  const started = waitFor('the live call', () => existsSync(join(project.home, 'three')), {
    gaveUp: () => (going.ended ? going.stderr : undefined),
  }).then(() => /[0-9a-f-]{36}/.exec(going.stderr)?.[0] as string);
  return { started, done: going.done };
}
