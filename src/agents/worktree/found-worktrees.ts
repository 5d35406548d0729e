/** Worktrees of ours that lie on the disk, whoever made them, and what is in them. */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isGitEnd, readDirt } from './dirt.js';
import { readFoundBranch } from './found-branch.js';
import type { GitPlace } from './git.js';
import { commonOf, findGitDir } from './git-dir.js';
import { findHalfMade, removeHalfMade } from './half-made.js';
import { isLocked, LOCKED } from './hidden-work.js';
import { type Home, whyForeign } from './home-repository.js';
import { judgeInhabited } from './inhabited.js';
import { judgeWorktree, type Verdict } from './judge-worktree.js';
import { branchName, parseFolderName } from './names.js';
import { removeWorktree } from './remove-worktree.js';
import { readWorktreeRecord, type WorktreeRecord } from './worktree-record.js';
import { lstatIfThere } from '../../shared/stat-if-there.js';

export interface FoundWorktree {
  path: string;
  runId: string;
  /** Number of the call in its run. */
  n: number;
  branch: string;
  /** The worktree's folder in the repository; `undefined` where git does not know it. */
  gitDir: string | undefined;
  /** `undefined`, unless it is there and cannot be read: it was never finished, so no agent ever worked in it. */
  record: WorktreeRecord | undefined;
  hasUnreadableRecord: boolean;
  /** Why it is none of this project's, a clause: then nothing that its repository has of it is ours to touch. */
  foreign: string | undefined;
  /** ms since the epoch. */
  madeAt: number;
}

/** Unordered. None where there is no such folder. */
export function listWorktrees(folder: string, home: Home): FoundWorktree[] {
  return listFolder(folder).flatMap((path) => {
    const parsed = parseFolderName(basename(path));
    if (parsed === undefined) return [];
    const madeAt = lstatIfThere(path)?.ctimeMs;
    // It was taken away since its name was read.
    if (madeAt === undefined) return [];
    const gitDir = findGitDir(path);
    const read = gitDir === undefined ? undefined : readWorktreeRecord(gitDir);
    const hasUnreadableRecord = read === 'unreadable';
    const record = hasUnreadableRecord ? undefined : read;
    const branch = record?.branch ?? branchName(parsed);
    const foreign = gitDir === undefined ? undefined : whyForeign(home, path, gitDir);
    return [{ path, runId: parsed.runId, n: parsed.n, branch, gitDir, record, hasUnreadableRecord, foreign, madeAt }];
  });
}

/** Never throws. In doubt something is in it. */
export async function judgeFound(place: GitPlace, home: Home, found: FoundWorktree): Promise<Verdict> {
  const { path, branch, gitDir, record, foreign } = found;
  if (foreign !== undefined) return doubt(foreign);
  if (gitDir !== undefined && record !== undefined) {
    return judgeWorktree(place, { path, gitDir, branch, base: record.base, dirt: record.dirt });
  }
  return judgeInhabited(path, () => judgeUnfinished(place, home, found));
}

async function judgeUnfinished(place: GitPlace, home: Home, found: FoundWorktree): Promise<Verdict> {
  const { path, gitDir } = found;
  if (found.hasUnreadableRecord) return doubt('its record cannot be read');
  const halfMade = findHalfMade(home, path);
  if (halfMade !== undefined) {
    return halfMade.common === undefined ? { changed: false } : judgeBranch(place, halfMade.common, found);
  }
  if (gitDir === undefined) return doubt('git does not know it');
  if (isLocked(gitDir)) return doubt(LOCKED);
  // Half made: files that were not checked out yet may be missing, but nothing else may differ from the commit.
  const dirt = await readDirt(place, { path, gitDir });
  if (isGitEnd(dirt)) return doubt('it was never finished, and git cannot tell its state');
  // Git writes the index when all files are there; before that each of them counts as taken out of it.
  const missing = existsSync(join(gitDir, 'index')) ? undefined : 'D  gone';
  const own = Object.keys(dirt).filter((name) => dirt[name] !== missing);
  if (own.length > 0) return { changed: true, files: own.sort(), commits: 0 };
  return judgeBranch(place, commonOf(gitDir), found);
}

/**
 * Removes it with its branch after having looked at it once more. The caller has made sure that nobody works in it.
 *
 * @returns why it was not removed; `undefined` when it is gone. Never throws.
 */
export async function removeFound(place: GitPlace, home: Home, found: FoundWorktree): Promise<string | undefined> {
  const { path, branch, gitDir, record } = found;
  const verdict = await judgeFound(place, home, found);
  if (verdict.changed) return verdict.doubt ?? 'there is something in it now';
  const halfMade = record === undefined ? findHalfMade(home, path) : undefined;
  const common = halfMade === undefined ? gitDir && commonOf(gitDir) : halfMade.common;
  let base = record?.base;
  if (record === undefined && common !== undefined) {
    const now = await readFoundBranch(place, common, branch);
    if (now?.own !== 0) return 'there is something on its branch now';
    base = now.tip;
  }
  if (halfMade !== undefined) return removeHalfMade(place, halfMade, branch, base);
  if (common === undefined) return 'git does not know it';
  return removeWorktree(place, { common }, { path, branch, base });
}

const doubt = (why: string, commits = 0): Verdict => ({ changed: true, files: [], commits, doubt: why });

/** Of one that was never finished: where it began is not known. */
async function judgeBranch(place: GitPlace, common: string, { path, branch }: FoundWorktree): Promise<Verdict> {
  const found = await readFoundBranch(place, common, branch);
  if (found === undefined) return doubt('it was never finished, and git cannot tell where its branch stands');
  const { own, usedIn } = found;
  if (own > 0) return doubt('it was never finished, and there are commits on its branch', own);
  return usedIn === undefined || usedIn === path ? { changed: false } : doubt(`its branch is checked out in ${usedIn}`);
}

/** Paths of what lies in a folder of worktrees, by its real path, as git knows them. */
export function listFolder(folder: string): string[] {
  try {
    const real = realpathSync(folder);
    return readdirSync(real).map((name) => join(real, name));
  } catch {
    return [];
  }
}
