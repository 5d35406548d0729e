/** Worktrees whose files and branch are as they were, and which hold or mean something to somebody all the same. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from './support/runs.js';
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

const commit = (name: string): string => `echo ${name} > ${name}.txt; git add -A; git commit -qm ${name}`;

it('a run and wf doctor --fix keep what git status does not show, and say why', async () => {
  const project = makeRepository({ 'a.txt': 'a', '.gitignore': 'nested/\n' });
  const cases: Record<string, [prompt: string, doubt: string | undefined]> = {
    locked: ['git worktree lock "$PWD"', 'it is locked (git worktree lock)'],
    nested: ['git worktree add -q -b inner nested; echo x > nested/x.txt', 'another worktree lies in it'],
    reset: [`${commit('undone')}; git reset -q --hard HEAD~1`, '1 commit is on no branch, only in its reflog'],
    detached: [
      `git checkout -q --detach; ${commit('one')}; ${commit('two')}; git checkout -q -`,
      '2 commits are on no branch, only in its reflog',
    ],
    saved: [`${commit('saved')}; git branch saved; git reset -q --hard HEAD~1`, undefined],
    moved: ['echo x > x.txt; git worktree move "$PWD" "$HOME/moved"', 'git has it in another place now'],
    taken: ['echo x > x.txt; mv "$PWD" "$HOME/taken"', 'its folder was taken away'],
    undone: ['echo x > x.txt; git stash -qu; git stash pop -q; rm x.txt', undefined],
    removed: ['t=$PWD; cd /; git -C "$t" worktree remove "$t"', undefined],
  };
  project.write(
    'flow.js',
    isolatedFan(Object.fromEntries(Object.entries(cases).map(([name, [prompt]]) => [name, prompt]))),
  );
  const done = await run(project, ['flow.js', ...SHELL, '--concurrency', '1']);
  expect(done.code).toBe(0);
  const kept = Object.entries(cases).filter(([, [, doubt]]) => doubt !== undefined);
  expect(keptIn(done).map(({ label, doubt }) => [label, doubt])).toEqual(
    kept.map(([name, [, doubt]]) => [name, doubt]),
  );
  const folders = kept.map(([name]) => name).filter((name) => name !== 'moved' && name !== 'taken');
  const names = folders.map((name) => `${done.id}-${Object.keys(cases).indexOf(name) + 1}`);
  const branches = kept.map(([name]) => `wf/${done.id}/${Object.keys(cases).indexOf(name) + 1}`);
  expect([foldersOf(project), branchesOf(project)]).toEqual([names, branches]);
  expect(done.stderr).not.toMatch(/WF_WORKTREE_LEFT/);
  const found = await doctorTrees(project, '--fix');
  expect(found.map(({ status, fixable }) => [status, fixable])).toEqual(names.map(() => ['note', false]));
  expect([foldersOf(project), branchesOf(project)]).toEqual([names, branches]);
  expect(readFileSync(project.path('.claude', 'worktrees', `${done.id}-2`, 'nested', 'x.txt'), 'utf8')).toBe('x\n');
  // In the place to which it was moved git still works.
  const status = (name: string): string =>
    execFileSync('git', ['status', '--porcelain'], {
      cwd: join(project.home, name),
      env: project.env,
      encoding: 'utf8',
    });
  expect([status('moved'), status('taken')]).toEqual(['?? x.txt\n', '?? x.txt\n']);
}, 120_000);

it('a branch that somebody has checked out elsewhere stays, with its worktree', async () => {
  const project = makeRepository({ 'a.txt': 'a' });
  const prompt = `b=$(git branch --show-current); git checkout -q --detach; git -C '${project.dir}' checkout -q "$b"`;
  project.write('flow.js', isolatedFan({ one: prompt }));
  const done = await run(project, ['flow.js', ...SHELL]);
  expect(project.git('symbolic-ref', '--short', 'HEAD').trim()).toBe(`wf/${done.id}/1`);
  expect(keptIn(done).map(({ doubt }) => doubt)).toEqual([`its branch is checked out in ${project.dir}`]);
  await doctorTrees(project, '--fix');
  expect(project.git('status', '--porcelain')).toBe('?? flow.js\n');
  expect(branchesOf(project)).toEqual([`wf/${done.id}/1`]);
}, 120_000);

it('nor does it go with what is half made or half removed', async () => {
  const project = makeRepository({ 'a.txt': 'a', 'flow.js': isolatedFan({ one: 'echo one' }) });
  const { id } = await run(project, ['flow.js', ...SHELL]);
  const folder = project.path('.claude', 'worktrees');
  const use = (n: number): string => {
    const path = join(project.root, `used-${n}`);
    project.git('worktree', 'add', '-q', '-b', `wf/${id}/${n}`, path);
    return path;
  };
  // Git had made no more than the branch and the folder.
  mkdirSync(join(folder, `${id}-1`));
  mkdirSync(join(folder, `.trash-${id}-2`));
  const used = [use(1), use(2)];
  await doctorTrees(project, '--fix');
  expect(foldersOf(project)).toEqual([`${id}-1`]);
  expect(branchesOf(project)).toEqual([`wf/${id}/1`, `wf/${id}/2`]);
  expect(treesOf(project)).toEqual(used);
  for (const cwd of used) execFileSync('git', ['rev-parse', 'HEAD'], { cwd, env: project.env });
}, 120_000);

it('a branch that is there already is neither taken nor taken away: the worktree gets another name', async () => {
  const project = makeRepository({ 'a.txt': 'a' });
  const id = 'b1400000-0000-4000-8000-000000000002';
  project.git('branch', `wf/${id}/1`);
  project.git('branch', `wf/${id}/1-2`);
  project.write('flow.js', isolatedFan({ one: 'echo x > x.txt; pwd' }));
  const done = await run(project, ['flow.js', '--run-id', id, ...SHELL]);
  expect(done.result).toEqual([project.path('.claude', 'worktrees', `${id}-1-3`)]);
  expect(keptIn(done).map(({ branch }) => branch)).toEqual([`wf/${id}/1-3`]);
  expect(branchesOf(project)).toEqual([`wf/${id}/1`, `wf/${id}/1-2`, `wf/${id}/1-3`]);
}, 120_000);

it('a worktree of whose reflog git can tell nothing stays until it can', async () => {
  const project = makeRepository({ 'a.txt': 'a' });
  const real = execFileSync('sh', ['-c', 'command -v git'], { env: project.env, encoding: 'utf8' }).trim();
  const bin = join(project.root, 'bin');
  mkdirSync(bin);
  const script = `#!/bin/sh\ncase "$*" in *--walk-reflogs*) exit 128;; esac\nexec ${real} "$@"\n`;
  writeFileSync(join(bin, 'git'), script, { mode: 0o755 });
  project.write('flow.js', isolatedFan({ one: 'echo fine' }));
  const done = await run(project, ['flow.js', ...SHELL], { env: { PATH: `${bin}:${project.env.PATH}` } });
  expect(keptIn(done).map(({ doubt }) => doubt)).toEqual(['git cannot tell what only its reflog names']);
  await doctorTrees(project, '--fix');
  expect([foldersOf(project), branchesOf(project)]).toEqual([[], []]);
}, 120_000);
