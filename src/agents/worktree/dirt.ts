/**
 * What differs from the commit in a working tree. A fresh worktree need not be clean: a hook may have prepared it, and
 * line ends or filters may make git see changes. Such files count as changed only when they have become others.
 */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { type GitEnd, type GitPlace, runGit } from './git.js';
import { tryAgain } from './try-again.js';

/** Path → its state in git's two letters, with size and time where it is a file. */
export type Dirt = Record<string, string>;

/** @returns the failed command where git cannot tell */
export async function readDirt(place: GitPlace, worktree: { gitDir: string; path: string }): Promise<Dirt | GitEnd> {
  const args = ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--ignore-submodules=none', '--no-renames'];
  const end = await tryAgain(place, () => runGit(place, args, { cwd: worktree.path, worktree }));
  if (end.code !== 0) return end;
  const dirt: Dirt = Object.create(null);
  for (const entry of end.stdout.split('\0')) {
    if (entry === '') continue;
    const path = entry.slice(3);
    dirt[path] = `${entry.slice(0, 2)} ${stampOf(join(worktree.path, path))}`;
  }
  return dirt;
}

export const isGitEnd = (value: Dirt | GitEnd): value is GitEnd => 'stderr' in value && 'startError' in value;

/** Paths whose state is not the one that they had at first, sorted. */
export function compareDirt(first: Dirt, now: Dirt): string[] {
  const paths = new Set([...Object.keys(first), ...Object.keys(now)]);
  return [...paths].filter((path) => first[path] !== now[path]).sort();
}

function stampOf(path: string): string {
  try {
    const { size, mtimeMs, mode } = lstatSync(path);
    return `${size} ${mtimeMs} ${mode}`;
  } catch {
    return 'gone';
  }
}
