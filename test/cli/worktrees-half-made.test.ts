/**
 * Worktrees as a SIGKILL in the first instant of `git worktree add`, or in the middle of a removal, leaves them. The states are made by
 * hand, step by step as git makes them: no test can kill it at one of these moments for certain.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import type { TestProject } from '../support/temp-project.js';
import { run, snapshot } from './support/runs.js';
import {
  branchesOf,
  doctorTrees,
  foldersOf,
  isolatedFan,
  makeRepository,
  SHELL,
  treesOf,
} from './support/worktrees.js';

/** What `git worktree add` does before it checks anything out, in its order. */
const STEPS = [
  'branch',
  'admin',
  'locked',
  'folder',
  'empty gitdir',
  'gitdir',
  'empty .git',
  '.git',
  'empty HEAD',
  'HEAD',
  'empty commondir',
  'commondir',
  'HEAD.lock',
  'branch in HEAD',
  'index.lock',
] as const;
type Step = (typeof STEPS)[number];

const treeOf = (project: TestProject, id: string, n: number): string =>
  project.path('.claude', 'worktrees', `${id}-${n}`);
const adminOf = (project: TestProject, id: string, n: number): string =>
  project.path('.git', 'worktrees', `${id}-${n}`);

/** A worktree of call `n` as git has it after the step. */
function begin(project: TestProject, id: string, n: number, last: Step): string {
  const tree = treeOf(project, id, n);
  const admin = adminOf(project, id, n);
  const write = (name: string, text: string) => () => writeFileSync(join(admin, name), text);
  const doing: Record<Step, () => unknown> = {
    branch: () => project.git('branch', `wf/${id}/${n}`),
    admin: () => mkdirSync(admin, { recursive: true }),
    locked: write('locked', 'initializing\n'),
    folder: () => mkdirSync(tree, { recursive: true }),
    'empty gitdir': write('gitdir', ''),
    gitdir: write('gitdir', `${tree}/.git\n`),
    'empty .git': () => writeFileSync(join(tree, '.git'), ''),
    '.git': () => writeFileSync(join(tree, '.git'), `gitdir: ${admin}\n`),
    'empty HEAD': write('HEAD', ''),
    HEAD: write('HEAD', `${'0'.repeat(40)}\n`),
    'empty commondir': write('commondir', ''),
    commondir: write('commondir', '../..\n'),
    'HEAD.lock': write('HEAD.lock', ''),
    'branch in HEAD': () => renameSync(join(admin, 'HEAD.lock'), join(admin, 'HEAD')),
    'index.lock': write('index.lock', ''),
  };
  for (const step of STEPS.slice(0, STEPS.indexOf(last) + 1)) {
    doing[step]();
    if (step === 'branch in HEAD') writeFileSync(join(admin, 'HEAD'), `ref: refs/heads/wf/${id}/${n}\n`);
  }
  return tree;
}

/** A run that is over and has left nothing, in whose name worktrees can be made. */
async function makeEndedRun(): Promise<{ project: TestProject; id: string }> {
  const project = makeRepository({ 'a.txt': 'a', 'flow.js': isolatedFan({ one: 'echo one' }) });
  const { id, code } = await run(project, ['flow.js', ...SHELL]);
  expect([code, foldersOf(project), branchesOf(project)]).toEqual([0, [], []]);
  return { project, id };
}

/** A whole worktree of ours in which no agent has worked. */
function makeWhole(project: TestProject, id: string, n: number): string {
  const tree = treeOf(project, id, n);
  project.git('worktree', 'add', '-q', '-b', `wf/${id}/${n}`, tree);
  return tree;
}

const adminsOf = (project: TestProject): boolean => existsSync(project.path('.git', 'worktrees'));

describe('a worktree that git had hardly begun to make', () => {
  it('counts as unchanged from its folder on, and wf doctor --fix removes it with its branch and what git has of it', async () => {
    const { project, id } = await makeEndedRun();
    // `empty commondir` has a test of its own: git fails in the whole repository then.
    const steps = STEPS.slice(STEPS.indexOf('folder')).filter((step) => step !== 'empty commondir');
    const trees = steps.map((step, i) => begin(project, id, i + 1, step));
    const n = steps.length + 1;
    // Made to the end but for the lock.
    trees.push(makeWhole(project, id, n));
    writeFileSync(join(adminOf(project, id, n), 'locked'), 'initializing');
    // The branch and git's folder have gone already: a removal was killed.
    trees.push(begin(project, id, n + 1, '.git'));
    project.git('branch', '-D', `wf/${id}/${n + 1}`);
    rmSync(adminOf(project, id, n + 1), { recursive: true });
    const before = snapshot(project.path('.claude', 'worktrees'));
    const seen = await doctorTrees(project);
    expect(seen.map(({ path, fixable }) => [path, fixable])).toEqual(trees.sort().map((path) => [path, true]));
    expect(snapshot(project.path('.claude', 'worktrees'))).toEqual(before);
    const fixed = await doctorTrees(project, '--fix');
    expect(fixed.map(({ fixed, fixError }) => fixError ?? fixed?.slice(0, 10))).toEqual(trees.map(() => 'removed it'));
    expect([foldersOf(project), branchesOf(project), treesOf(project)]).toEqual([[], [], []]);
    expect(trees.filter((tree) => existsSync(project.path('.git', 'worktrees', basename(tree))))).toEqual([]);
  }, 120_000);

  it('and that makes git fail in the whole repository is removed first; until then a call says what is in its way', async () => {
    const { project, id } = await makeEndedRun();
    const whole = [1, 2, 3].map((n) => makeWhole(project, id, n));
    const broken = begin(project, id, 4, 'empty commondir');
    expect(() => project.git('worktree', 'list')).toThrow(/failed to read .*commondir/);
    const refused = await run(project, ['flow.js', ...SHELL]);
    expect([refused.code, refused.result]).toEqual([3, [null]]);
    expect(refused.stderr).toMatch(/stumbles over another worktree[\s\S]*wf doctor --fix/);
    const fixed = await doctorTrees(project, '--fix');
    expect(fixed.map(({ path, fixError }) => [path, fixError])).toEqual(
      [broken, ...whole].map((path) => [path, undefined]),
    );
    expect(fixed[0]?.message).toContain('fails in the whole repository until it is gone');
    expect([foldersOf(project), branchesOf(project), treesOf(project)]).toEqual([[], [], []]);
    expect((await run(project, ['flow.js', ...SHELL])).code).toBe(0);
  }, 120_000);

  it('stays and is named where there is anything else in it, on its branch, or in what git has of it', async () => {
    const { project, id } = await makeEndedRun();
    const put = (step: Step, add: (tree: string, admin: string, n: number) => void) => (n: number) => {
      add(begin(project, id, n, step), adminOf(project, id, n), n);
    };
    const commit = (n: number): void => {
      const tree = project.git('write-tree').trim();
      const sha = project.git('commit-tree', tree, '-p', 'HEAD', '-m', `own ${n}`).trim();
      project.git('update-ref', `refs/heads/wf/${id}/${n}`, sha);
    };
    const other = project.path('other.git');
    const cases: Record<string, (n: number) => void> = {
      'a file': put('folder', (tree) => writeFileSync(join(tree, 'mine'), '')),
      'a file beside .git': put('.git', (tree) => writeFileSync(join(tree, 'mine'), '')),
      'an empty folder': put('.git', (tree) => mkdirSync(join(tree, 'mine'))),
      'a repository': put('folder', (tree) => mkdirSync(join(tree, '.git'))),
      'a link for .git': put('folder', (tree) => symlinkSync(project.path('flow.js'), join(tree, '.git'))),
      'a .git that names another place': put('folder', (tree) =>
        writeFileSync(join(tree, '.git'), `gitdir: ${project.path('.git', 'worktrees', 'other')}\n`),
      ),
      'a .git that names no repository': put('folder', (tree) =>
        writeFileSync(join(tree, '.git'), `gitdir: ${other}/worktrees/x\n`),
      ),
      'a record': put('.git', (_, admin) => writeFileSync(join(admin, 'wf-worktree.json'), '')),
      'an index': put('folder', (_, admin) => writeFileSync(join(admin, 'index'), '')),
      'git has it elsewhere': put('gitdir', (_, admin) => writeFileSync(join(admin, 'gitdir'), '/elsewhere/.git\n')),
      'a commit': put('.git', (_tree, _admin, n) => commit(n)),
      'a commit, empty': put('folder', (_tree, _admin, n) => commit(n)),
    };
    const kept = Object.values(cases).map((make, i) => {
      make(i + 1);
      return treeOf(project, id, i + 1);
    });
    const before = [snapshot(project.path('.claude', 'worktrees')), snapshot(project.path('.git', 'worktrees'))];
    const branches = branchesOf(project);
    const found = await doctorTrees(project, '--fix');
    expect(found.map(({ path, status, fixable }) => [path, status, fixable])).toEqual(
      [...kept].sort().map((path) => [path, 'note', false]),
    );
    expect([snapshot(project.path('.claude', 'worktrees')), snapshot(project.path('.git', 'worktrees'))]).toEqual(
      before,
    );
    expect(branchesOf(project)).toEqual(branches);
    expect(found.filter(({ message }) => message.includes('there are commits on its branch'))).toHaveLength(2);
  }, 120_000);

  it('stays while its run goes on, or may have begun it just now', async () => {
    const { project, id } = await makeEndedRun();
    begin(project, id, 1, 'folder');
    const unknown = '00000000-0000-4000-8000-000000000001';
    begin(project, unknown, 1, '.git');
    await doctorTrees(project, '--fix');
    expect(foldersOf(project)).toEqual([`${unknown}-1`]);
    expect(branchesOf(project)).toEqual([`wf/${unknown}/1`]);
  }, 120_000);

  it('goes too where there is no repository around it that could know of it', async () => {
    const { project, id } = await makeEndedRun();
    begin(project, id, 1, 'folder');
    renameSync(project.path('.git'), project.path('away'));
    const fixed = await doctorTrees(project, '--fix');
    expect(fixed.map(({ fixError }) => fixError)).toEqual([undefined]);
    expect(foldersOf(project)).toEqual([]);
  }, 120_000);
});

it('the folder of worktrees stays hidden from git where a kill had left its .gitignore empty', async () => {
  const { project } = await makeEndedRun();
  project.write('.claude/worktrees/.gitignore', '');
  expect(project.git('status', '--porcelain')).toContain('.claude/');
  await run(project, ['flow.js', ...SHELL]);
  expect(project.git('status', '--porcelain')).toBe('');
}, 60_000);

describe('a removal that was killed', () => {
  /** As `wf` renames a worktree that it removes. */
  function trash(project: TestProject, tree: string): string {
    const path = join(project.path('.claude', 'worktrees'), `.trash-${basename(tree)}`);
    renameSync(tree, path);
    return path;
  }

  it('is brought to its end: git forgets the worktree, and its branch goes if nothing is on it alone', async () => {
    const { project, id } = await makeEndedRun();
    const [known, forgotten, committed] = [1, 2, 3].map((n) => makeWhole(project, id, n)) as [string, string, string];
    execFileSync('git', ['commit', '-q', '--allow-empty', '-m', 'own'], { cwd: committed, env: project.env });
    for (const tree of [known, forgotten, committed]) trash(project, tree);
    rmSync(adminOf(project, id, 2), { recursive: true });
    const fixed = await doctorTrees(project, '--fix');
    expect(fixed.map(({ fixable, fixError }) => [fixable, fixError])).toEqual(Array(3).fill([true, undefined]));
    expect([foldersOf(project), treesOf(project)]).toEqual([[], []]);
    expect(branchesOf(project)).toEqual([`wf/${id}/3`]);
    expect(adminsOf(project)).toBe(false);
  }, 120_000);

  it('whose place another worktree has taken costs that one nothing', async () => {
    const { project, id } = await makeEndedRun();
    trash(project, makeWhole(project, id, 1));
    project.git('worktree', 'prune');
    project.git('branch', '-D', `wf/${id}/1`);
    writeFileSync(join(makeWhole(project, id, 1), 'mine'), 'x');
    await doctorTrees(project, '--fix');
    expect([foldersOf(project), branchesOf(project)]).toEqual([[`${id}-1`], [`wf/${id}/1`]]);
    expect(treesOf(project)).toHaveLength(1);
  }, 120_000);
});

it('a lock of git that a killed one has left is waited for once, not at each worktree, and is named', async () => {
  const { project, id } = await makeEndedRun();
  for (const n of [1, 2, 3]) makeWhole(project, id, n);
  const lock = project.write('.git/packed-refs.lock', '');
  // How long git itself waits for it, at each try.
  project.git('config', 'core.packedRefsTimeout', '0');
  const calls = join(project.home, 'calls');
  const bin = join(project.root, 'bin');
  mkdirSync(bin);
  const real = execFileSync('sh', ['-c', 'command -v git'], { env: project.env, encoding: 'utf8' }).trim();
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "$1" >> "${calls}"\nexec ${real} "$@"\n`, { mode: 0o755 });
  const env = { PATH: `${bin}:${project.env.PATH}` };
  const { stdout } = await runWf(['doctor', '--fix'], { project, env, timeoutMs: 120_000 });
  expect(stdout.match(/not mended: git did not delete the branch/g)).toHaveLength(3);
  expect(stdout).toContain(`Unable to create '${project.path('.git')}/`);
  expect(stdout).toContain('remove it, if no git is at work there');
  const tries = execFileSync('grep', ['-c', '^update-ref$', calls], { encoding: 'utf8' }).trim();
  expect(Number(tries)).toBe(10 + 1 + 1);
  rmSync(lock);
  await doctorTrees(project, '--fix');
  expect([foldersOf(project), branchesOf(project), treesOf(project)]).toEqual([[], [], []]);
}, 120_000);
