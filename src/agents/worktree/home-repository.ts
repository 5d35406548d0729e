/**
 * Whose a worktree is that was found. A project may be copied with all its worktrees, and what a copy of one says of
 * its repository leads to the original's: nothing there is ours to change.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { type GitPlace, runGit } from './git.js';
import { commonOf, isGitDirOf, readGitFile } from './git-dir.js';
import { realOrSame } from '../../shared/real-or-same.js';

/** The project around a folder of worktrees. */
export interface Home {
  /** Its main working tree, or its root where it is no repository. */
  readonly top: string;
  /** What all worktrees of its repository share; `undefined`: it is in none. */
  readonly common: string | undefined;
}

export async function openHome(place: GitPlace, top: string): Promise<Home> {
  const end = await runGit(place, ['rev-parse', '--git-common-dir'], { cwd: top });
  const common = end.code === 0 ? realOrSame(resolve(top, end.stdout.replace(/\n$/, ''))) : undefined;
  return { top: realOrSame(top), common };
}

/** True of the project's repository, of its submodules and of those that lie in it. */
function isAtHome({ top, common }: Home, repository: string): boolean {
  const real = realOrSame(repository);
  return [top, common].some((folder) => folder !== undefined && (real === folder || real.startsWith(folder + sep)));
}

/** @returns why the worktree is not one of this project's, a clause; `undefined`: it is */
export function whyForeign(home: Home, path: string, gitDir: string): string | undefined {
  if (!isGitDirOf(gitDir, path)) return `it is a copy of one that belongs to ${commonOf(gitDir)}`;
  return isAtHome(home, commonOf(gitDir)) ? undefined : `it belongs to ${commonOf(gitDir)}`;
}

/**
 * What all worktrees share that one belongs to which git does not, or does no longer, take for one: by its `.git` file,
 * else the project's. A file that leads out of the project is a copied one, and says nothing.
 */
export function findCommon(home: Home, path: string): string | undefined {
  const named = readGitFile(path);
  if (named === undefined || basename(dirname(named)) !== 'worktrees') return home.common;
  const common = commonOf(named);
  return isAtHome(home, common) && existsSync(join(common, 'HEAD')) ? common : home.common;
}
