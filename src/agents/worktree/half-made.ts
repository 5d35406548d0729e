/**
 * What git leaves of a worktree when it is killed in the first instant of making it. It makes, in this order: the branch;
 * its own folder for the worktree, marked as locked; the worktree's folder; the files by which the two know each other;
 * the checked out files; the index. Before the checked out files nothing can be in the worktree, and yet git's commands do not, or not
 * yet, take it for one. While `commondir` is empty they even fail in the whole repository, so it is taken away by hand.
 */
import { existsSync, lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { messageOf } from '../../shared/errors.js';
import { statIfThere } from '../../shared/stat-if-there.js';
import type { GitPlace } from './git.js';
import { commonOf, isGitDirOf, readGitFile } from './git-dir.js';
import { findCommon, type Home } from './home-repository.js';
import { deleteBranch, removeFiles } from './remove-worktree.js';
import { takeTurn } from './repository-turns.js';
import { readWorktreeRecord } from './worktree-record.js';

export interface HalfMade {
  path: string;
  /** Shared by all worktrees of its repository; `undefined`: there is no repository around it that could know of it. */
  common: string | undefined;
  /** Git's folder for it, as far as it is there. */
  gitDir: string | undefined;
}

/** `undefined` for everything else: what has more in it than a `.git` file, what was finished, what belongs to another place. */
export function findHalfMade(home: Home, path: string): HalfMade | undefined {
  if (!holdsNothing(path)) return undefined;
  const named = readGitFile(path);
  const common = findCommon(home, path);
  if (common === undefined) return named === undefined ? { path, common, gitDir: undefined } : undefined;
  if (named !== undefined && commonOf(named) !== common) return undefined;
  const gitDir = named ?? join(common, 'worktrees', basename(path));
  // Git puts a number behind a name that is taken.
  if (!/^\d*$/.test(basename(gitDir).replace(basename(path), ''))) return undefined;
  if (!existsSync(gitDir)) return { path, common, gitDir: undefined };
  const isFinished = existsSync(join(gitDir, 'index')) || readWorktreeRecord(gitDir) !== undefined;
  return isFinished || !isGitDirOf(gitDir, path) ? undefined : { path, common, gitDir };
}

/**
 * The caller has made sure that nobody makes it any more. The worktree's folder goes last: a kill on the way leaves it to be found again.
 *
 * @param base where the branch stands; it goes only while it stands there. `undefined`: there is none
 * @returns why it was not removed, for people; `undefined` when it is gone. Never throws.
 */
export async function removeHalfMade(
  place: GitPlace,
  { path, common, gitDir }: HalfMade,
  branch: string,
  base: string | undefined,
): Promise<string | undefined> {
  const remove = async (): Promise<void> => {
    if (!holdsNothing(path)) throw new Error('there is something in it now');
    if (gitDir !== undefined) await removeFiles(gitDir);
    if (common !== undefined && base !== undefined) await deleteBranch(place, common, branch, base);
    rmSync(join(path, '.git'), { force: true });
    rmdirSync(path);
  };
  try {
    await (common === undefined ? remove() : takeTurn(common, remove, place.outlasted));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Git cannot be used in the repository for much as long as this is so: it stumbles over it when it looks at all worktrees. */
export const blocksGit = (gitDir: string): boolean => statIfThere(join(gitDir, 'commondir'))?.size === 0;

function holdsNothing(path: string): boolean {
  try {
    if (!lstatSync(path).isDirectory()) return false;
    const names = readdirSync(path);
    return names.length === 0 || (names.length === 1 && lstatSync(join(path, '.git')).isFile());
  } catch {
    return false;
  }
}
