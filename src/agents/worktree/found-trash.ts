/** Folders of worktrees that were being removed: they had been found unchanged and were renamed, and then `wf` was killed. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readFoundBranch } from './found-branch.js';
import { listFolder } from './found-worktrees.js';
import type { GitPlace } from './git.js';
import { findCommon, findGitDir, isGitDirOf } from './git-dir.js';
import { branchName, parseFolderName, TRASH_PREFIX, type WorktreeName } from './names.js';
import { removeFiles, removeWorktree } from './remove-worktree.js';
import { readWorktreeRecord } from './worktree-record.js';
import { lstatIfThere } from '../../shared/stat-if-there.js';

export interface FoundTrash {
  path: string;
  name: WorktreeName;
  /** Since when, ms since the epoch. */
  since: number;
}

/** Unordered. None where there is no such folder. */
export const listTrash = (folder: string): FoundTrash[] =>
  listFolder(folder).flatMap((path) => {
    if (!basename(path).startsWith(TRASH_PREFIX)) return [];
    const name = parseFolderName(basename(path).slice(TRASH_PREFIX.length));
    // It may have been taken away since its name was read.
    const since = lstatIfThere(path)?.ctimeMs;
    return name === undefined || since === undefined ? [] : [{ path, name, since }];
  });

/**
 * Brings the removal to its end: git is told, the branch goes if nothing is on it alone, then the files.
 *
 * @returns why it was not removed, for people; `undefined` when it is gone
 */
export async function removeTrash(place: GitPlace, { path, name }: FoundTrash): Promise<string | undefined> {
  const original = join(dirname(path), basename(path).slice(TRASH_PREFIX.length));
  const gitDir = findGitDir(path);
  const isElsewhere = gitDir !== undefined && !isGitDirOf(gitDir, original);
  const common = isElsewhere || existsSync(original) ? undefined : await findCommon(place, path);
  if (common === undefined) {
    await removeFiles(path);
    return undefined;
  }
  const read = gitDir === undefined ? undefined : readWorktreeRecord(gitDir);
  const record = read === 'unreadable' ? undefined : read;
  const branch = record?.branch ?? branchName(name);
  const found = await readFoundBranch(place, common, branch);
  const isFree = found !== undefined && (found.own === 0 || found.tip === record?.base);
  return removeWorktree(place, { common }, { path: original, branch, base: isFree ? found.tip : undefined });
}
