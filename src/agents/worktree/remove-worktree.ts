/**
 * Removes a worktree and its branch. First the folder is renamed, in one step, so that a kill on the way never leaves
 * half of one that looks like somebody's changes; git is then told of it, one removal at a time in a repository, since
 * it fails where another worktree vanishes while it looks; the files go last.
 */
import { existsSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../shared/errors.js';
import { findCheckout } from './branch-use.js';
import { type GitEnd, type GitPlace, runGit, saidBy } from './git.js';
import { TRASH_PREFIX } from './names.js';
import { takeTurn } from './repository-turns.js';
import type { Repository } from './repository.js';
import { tryAgain } from './try-again.js';

export interface RemovableWorktree {
  path: string;
  branch: string;
  /** The branch goes only while it stands there; `undefined`: it stays. */
  base: string | undefined;
}

/** @returns why it could not be removed, for people; `undefined` when it is gone. Never throws. */
export async function removeWorktree(
  place: GitPlace,
  repository: Pick<Repository, 'common'>,
  worktree: RemovableWorktree,
): Promise<string | undefined> {
  try {
    const trash = await takeTurn(repository.common, () => forget(place, repository, worktree), place.outlasted);
    if (trash !== undefined) await removeFiles(trash);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** @returns where the files lie now, if there are any */
async function forget(
  place: GitPlace,
  { common }: Pick<Repository, 'common'>,
  { path, branch, base }: RemovableWorktree,
): Promise<string | undefined> {
  const trash = join(dirname(path), `${TRASH_PREFIX}${basename(path)}`);
  const isThere = existsSync(path);
  if (isThere) {
    await removeFiles(trash);
    renameSync(path, trash);
  }
  const remove = (...force: string[]) =>
    tryAgain(place, () => runGit(place, ['worktree', 'remove', ...force, path], { cwd: common }));
  let removed = await remove('--force');
  // Git's own lock of one that it was making when it was killed.
  if (/lock reason: initializing/.test(removed.stderr)) removed = await remove('--force', '--force');
  if (removed.code !== 0 && !/is not a working tree/.test(removed.stderr)) {
    // Git may have failed over another worktree when it had made no more than the branch.
    if (!isThere && base !== undefined) await deleteBranch(place, common, branch, base);
    throw new Error(`git did not remove the worktree ${path}: ${explain(removed)}`);
  }
  if (base !== undefined) await deleteBranch(place, common, branch, base);
  return existsSync(trash) ? trash : undefined;
}

/** Only while it stands at the base and nobody stands on it: whoever uses it meanwhile keeps it. Throws where it stays. */
export async function deleteBranch(place: GitPlace, common: string, branch: string, base: string): Promise<void> {
  const used = await findCheckout(place, common, branch);
  if (used !== undefined) throw new Error(`the branch ${branch} is checked out in ${used}`);
  const ref = `refs/heads/${branch}`;
  const deleted = await tryAgain(place, () => runGit(place, ['update-ref', '-d', ref, base], { cwd: common }));
  if (
    deleted.code !== 0 &&
    (await runGit(place, ['rev-parse', '--verify', '--quiet', ref], { cwd: common })).code === 0
  )
    throw new Error(`git did not delete the branch ${branch}: ${explain(deleted)}`);
}

/** Git tells in many lines what to do about a lock; the one that `saidBy` gives has only its place. */
function explain(end: GitEnd): string {
  const isLocked = /Unable to create '.+\.lock': File exists/.test(end.stderr);
  return `${saidBy(end)}${isLocked ? ' A killed git leaves such a file: remove it, if no git is at work there' : ''}`;
}

export async function removeFiles(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  const { remove } = await import('fs-extra/esm');
  await remove(folder);
}
