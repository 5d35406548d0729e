/**
 * Branches of worktrees that were never made. `git worktree add` makes the branch first; one that was killed then leaves
 * it, and no folder names it. Nothing was ever done on such a branch, and in doubt a branch is none.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { messageOf } from '../../shared/errors.js';
import { readFoundBranch } from './found-branch.js';
import { type GitPlace, runGit } from './git.js';
import type { Home } from './home-repository.js';
import { branchName, folderName, parseBranchName, TRASH_PREFIX, type WorktreeName } from './names.js';
import { deleteBranch, removeFiles } from './remove-worktree.js';
import { takeTurn } from './repository-turns.js';

export interface LooseBranch {
  branch: string;
  name: WorktreeName;
}

/**
 * By name only, in the project's own repository: whether the run and the call are ours, the caller knows. None where git
 * cannot tell, or where the repository does not lie in the project: several projects may share it then.
 *
 * @param folder where worktrees are made
 */
export async function listLooseBranches(place: GitPlace, home: Home, folder: string): Promise<LooseBranch[]> {
  const { top, common } = home;
  if (common === undefined || !common.startsWith(top + sep)) return [];
  const end = await runGit(place, ['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/wf/'], { cwd: common });
  if (end.code !== 0) return [];
  return end.stdout.split('\n').flatMap((branch) => {
    const name = parseBranchName(branch);
    return name === undefined || hasPlace(common, folder, name) ? [] : [{ branch, name }];
  });
}

/** Whether it stands where it was made and is of no use to anybody. Never throws. */
export async function isUnused(place: GitPlace, home: Home, { branch }: LooseBranch): Promise<boolean> {
  return (await readUnused(place, home.common ?? home.top, branch)) !== undefined;
}

/**
 * Removes it after having looked at it once more.
 *
 * @returns why it stays; `undefined` when it is gone. Never throws.
 */
export async function removeLooseBranch(
  place: GitPlace,
  { common }: Home,
  folder: string,
  { name }: LooseBranch,
): Promise<string | undefined> {
  if (common === undefined) return 'git does not know it';
  const branch = branchName(name);
  const remove = async (): Promise<string | undefined> => {
    const tip = await readUnused(place, common, branch);
    if (tip === undefined || hasPlace(common, folder, name)) return 'it is in use now';
    await deleteBranch(place, common, branch, tip);
    await removeFiles(adminOf(common, name));
    return undefined;
  };
  try {
    return await takeTurn(common, remove, place.outlasted);
  } catch (error) {
    return messageOf(error);
  }
}

const adminOf = (common: string, name: WorktreeName): string => join(common, 'worktrees', folderName(name));

/** There is a worktree, what is left of one, or more of git's own folder for one than the mark that it was being made. */
function hasPlace(common: string, folder: string, name: WorktreeName): boolean {
  const places = ['', TRASH_PREFIX].map((prefix) => join(folder, `${prefix}${folderName(name)}`));
  const admin = adminOf(common, name);
  return (
    places.some((path) => existsSync(path)) ||
    (existsSync(admin) && readdirSync(admin).some((file) => file !== 'locked'))
  );
}

/** @returns where it stands; `undefined`: somebody has moved it, follows another branch with it, or is on it */
async function readUnused(place: GitPlace, common: string, branch: string): Promise<string | undefined> {
  const found = await readFoundBranch(place, common, branch);
  if (found?.tip === undefined || found.own > 0 || found.usedIn !== undefined) return undefined;
  const ref = `refs/heads/${branch}`;
  const [upstream, log] = await Promise.all([
    runGit(place, ['for-each-ref', '--format=%(upstream)', ref], { cwd: common }),
    runGit(place, ['rev-list', '--walk-reflogs', ref], { cwd: common }),
  ]);
  const moves = log.stdout.split('\n').filter((line) => line !== '').length;
  const isOurs = upstream.code === 0 && upstream.stdout.trim() === '' && log.code === 0 && moves <= 1;
  return isOurs ? found.tip : undefined;
}
