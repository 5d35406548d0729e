/** Folders of worktrees that were being removed: they had been found unchanged and were renamed, and then `wf` was killed. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { compareDirt, isGitEnd, readDirt } from './dirt.js';
import { readFoundBranch } from './found-branch.js';
import { listFolder } from './found-worktrees.js';
import { type GitPlace, saidBy } from './git.js';
import { findGitDir, isGitDirOf } from './git-dir.js';
import { findCommon, type Home } from './home-repository.js';
import { judgeInhabited } from './inhabited.js';
import type { Verdict } from './judge-worktree.js';
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

const placeBefore = (path: string): string => join(dirname(path), basename(path).slice(TRASH_PREFIX.length));

/**
 * Whether anything has come into it since it was found unchanged: a process that was in it went along when it was renamed.
 * Told only as long as git still knows it. Never throws.
 */
export const judgeTrash = (place: GitPlace, { path }: FoundTrash): Promise<Verdict> =>
  judgeInhabited(path, async () => {
    const gitDir = findGitDir(path);
    const original = placeBefore(path);
    if (gitDir === undefined || !isGitDirOf(gitDir, original) || existsSync(original)) return { changed: false };
    const record = readWorktreeRecord(gitDir);
    const now = await readDirt(place, { path, gitDir });
    if (isGitEnd(now)) {
      const doubt = `it was being removed, and git cannot tell its state: ${saidBy(now)}`;
      return { changed: true, files: [], commits: 0, doubt };
    }
    const first = record === undefined || record === 'unreadable' ? {} : record.dirt;
    // What is missing was removed already.
    const files = compareDirt(first, now).filter((name) => existsSync(join(path, name)));
    return files.length === 0 ? { changed: false } : { changed: true, files, commits: 0 };
  });

/**
 * Brings the removal to its end: git is told, the branch goes if nothing is on it alone, then the files.
 *
 * @returns why it was not removed, for people; `undefined` when it is gone
 */
export async function removeTrash(place: GitPlace, home: Home, trash: FoundTrash): Promise<string | undefined> {
  const { path, name } = trash;
  const verdict = await judgeTrash(place, trash);
  if (verdict.changed) return verdict.doubt ?? 'there is something in it now';
  const original = placeBefore(path);
  const gitDir = findGitDir(path);
  const isElsewhere = gitDir !== undefined && !isGitDirOf(gitDir, original);
  const common = isElsewhere || existsSync(original) ? undefined : findCommon(home, path);
  if (common === undefined) {
    await removeFiles(path);
    return undefined;
  }
  const read = gitDir === undefined ? undefined : readWorktreeRecord(gitDir);
  const record = read === 'unreadable' ? undefined : read;
  const branch = record?.branch ?? branchName(name);
  const found = await readFoundBranch(place, common, branch);
  const isUsed = found?.usedIn !== undefined && found.usedIn !== original;
  const isFree = found !== undefined && !isUsed && (found.own === 0 || found.tip === record?.base);
  return removeWorktree(place, { common }, { path: original, branch, base: isFree ? found.tip : undefined });
}
