import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listMainWorkTrees, mainWorkTree } from '../../src/runs/main-work-tree.js';
import { findProjectRoot, resolveRunsFolder } from '../../src/runs/project-root.js';
import { tempFolder } from './support/sample-records.js';

const makeFolder = (...parts: string[]): string => {
  const folder = join(...parts);
  mkdirSync(folder, { recursive: true });
  return folder;
};

describe('findProjectRoot', () => {
  it('B-015 takes the nearest ancestor with a .git folder, from any depth', () => {
    const top = tempFolder();
    makeFolder(top, '.git');
    const inner = makeFolder(top, 'a');
    makeFolder(inner, '.git');
    const deep = makeFolder(inner, 'b', 'c');
    expect(findProjectRoot(deep, '/nowhere')).toBe(inner);
    expect(findProjectRoot(inner, '/nowhere')).toBe(inner);
    expect(findProjectRoot(makeFolder(top, 'x'), '/nowhere')).toBe(top);
  });

  it('takes a .git file too, and .git before a nearer .claude', () => {
    const top = tempFolder();
    writeFileSync(join(top, '.git'), 'gitdir: /somewhere\n');
    const inner = makeFolder(top, 'packages', 'one');
    makeFolder(inner, '.claude');
    expect(findProjectRoot(makeFolder(inner, 'src'), '/nowhere')).toBe(top);
  });

  it('without .git takes the nearest .claude, a folder and not a file', () => {
    const top = tempFolder();
    makeFolder(top, '.claude');
    const inner = makeFolder(top, 'a');
    writeFileSync(join(inner, '.claude'), '');
    expect(findProjectRoot(makeFolder(inner, 'b'), '/nowhere')).toBe(top);
  });

  it('never takes .claude of $HOME or above it', () => {
    const above = tempFolder();
    const home = makeFolder(above, 'home');
    makeFolder(home, '.claude');
    makeFolder(above, '.claude');
    const cwd = makeFolder(home, 'project', 'src');
    expect(findProjectRoot(cwd, home)).toBe(cwd);
    makeFolder(home, 'project', '.claude');
    expect(findProjectRoot(cwd, home)).toBe(join(home, 'project'));
    expect(findProjectRoot(home, home)).toBe(home);
  });

  it('knows $HOME also through a link', () => {
    const top = tempFolder();
    const real = makeFolder(top, 'real');
    makeFolder(real, '.claude');
    symlinkSync(real, join(top, 'home'));
    const cwd = makeFolder(real, 'work');
    expect(findProjectRoot(cwd, join(top, 'home'))).toBe(cwd);
  });

  it('is not misled by a sibling whose name begins like $HOME', () => {
    const top = tempFolder();
    makeFolder(top, 'me-too', '.claude');
    expect(findProjectRoot(makeFolder(top, 'me-too', 'x'), join(top, 'me'))).toBe(join(top, 'me-too'));
  });
});

describe('resolveRunsFolder', () => {
  it('puts runs below the root, or where --runs-dir says, relative to the cwd', () => {
    const top = tempFolder();
    makeFolder(top, '.git');
    const cwd = makeFolder(top, 'src');
    expect(resolveRunsFolder({ cwd, home: '/nowhere' })).toEqual({
      root: top,
      runsFolder: join(top, '.claude', 'workflow-runs'),
      alsoRead: [],
    });
    expect(resolveRunsFolder({ cwd, home: '/nowhere', runsDir: 'out' })).toEqual({
      root: top,
      runsFolder: join(cwd, 'out'),
      alsoRead: [],
    });
  });
});

describe('B-015 main working tree, with repositories that git itself made', () => {
  const git = (cwd: string, ...args: string[]): void => {
    const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' };
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'protocol.file.allow=always'];
    execFileSync('git', [...identity, ...args], { cwd, env, stdio: 'pipe' });
  };
  const makeRepository = (...parts: string[]): string => {
    const folder = makeFolder(...parts);
    git(folder, 'init', '-q');
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'first');
    return folder;
  };

  it('leads from a linked worktree to the main one', () => {
    const top = realpathSync(tempFolder());
    const main = makeRepository(top, 'main');
    git(main, 'worktree', 'add', '-q', join(top, 'linked'));
    expect(mainWorkTree(join(top, 'linked'))).toBe(main);
    expect(mainWorkTree(main)).toBeNull();
    expect(resolveRunsFolder({ cwd: makeFolder(top, 'linked', 'src'), home: '/nowhere' })).toEqual({
      root: join(top, 'linked'),
      runsFolder: join(top, 'linked', '.claude', 'workflow-runs'),
      alsoRead: [join(main, '.claude', 'workflow-runs')],
    });
  });

  it('leads from a submodule to its superproject, step by step when nested, and from a worktree of one', () => {
    const top = realpathSync(tempFolder());
    const leaf = makeRepository(top, 'leaf');
    const middle = makeRepository(top, 'middle');
    git(middle, 'submodule', '--quiet', 'add', leaf, 'sub/modules/leaf');
    git(middle, 'commit', '-q', '-m', 'leaf');
    const outer = makeRepository(top, 'outer');
    git(outer, 'submodule', '--quiet', 'add', middle, 'middle');
    git(outer, 'submodule', '--quiet', 'update', '--init', '--recursive');
    const inner = join(outer, 'middle', 'sub', 'modules', 'leaf');
    expect(mainWorkTree(join(outer, 'middle'))).toBe(outer);
    expect(listMainWorkTrees(inner)).toEqual([join(outer, 'middle'), outer]);
    git(join(outer, 'middle'), 'worktree', 'add', '-q', join(top, 'linked'));
    expect(listMainWorkTrees(join(top, 'linked'))).toEqual([join(outer, 'middle'), outer]);
  });

  it('is null for a repository whose folder was put elsewhere, a bare one, and a broken .git file', () => {
    const top = realpathSync(tempFolder());
    const apart = makeFolder(top, 'apart');
    git(apart, 'init', '-q', '--separate-git-dir', join(top, 'store'));
    expect(mainWorkTree(apart)).toBeNull();
    const main = makeRepository(top, 'main');
    git(top, 'clone', '-q', '--bare', main, 'bare.git');
    git(join(top, 'bare.git'), 'worktree', 'add', '-q', join(top, 'of-bare'));
    expect(mainWorkTree(join(top, 'of-bare'))).toBeNull();
    const broken = makeFolder(top, 'broken');
    for (const text of ['', 'gitdir:', 'gitdir: /no/where', 'hello']) {
      writeFileSync(join(broken, '.git'), text);
      expect(mainWorkTree(broken)).toBeNull();
    }
  });
});
