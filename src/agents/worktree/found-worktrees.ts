/** Worktrees of ours that lie on the disk, whoever made them, and what is in them. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isGitEnd, readDirt } from './dirt.js';
import { type GitPlace, runGit } from './git.js';
import { judgeWorktree, type Verdict } from './judge-worktree.js';
import { branchName, parseFolderName, TRASH_PREFIX } from './names.js';
import { removeFiles, removeWorktree } from './remove-worktree.js';
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
  /** ms since the epoch. */
  madeAt: number;
}

/** Unordered. None where there is no such folder. */
export function listWorktrees(folder: string): FoundWorktree[] {
  return namesIn(folder).flatMap((name) => {
    const parsed = parseFolderName(name);
    if (parsed === undefined) return [];
    const path = join(realpathSync(folder), name);
    const madeAt = changedAt(path);
    if (madeAt === undefined) return [];
    const gitDir = findGitDir(path);
    const read = gitDir === undefined ? undefined : readWorktreeRecord(gitDir);
    const hasUnreadableRecord = read === 'unreadable';
    const record = hasUnreadableRecord ? undefined : read;
    const branch = record?.branch ?? branchName(parsed);
    return [{ path, runId: parsed.runId, n: parsed.n, branch, gitDir, record, hasUnreadableRecord, madeAt }];
  });
}

/** Folders that were being removed: their worktrees had been found unchanged. With the time since when, ms since the epoch. */
export const listTrash = (folder: string): { path: string; since: number }[] =>
  namesIn(folder)
    .filter((name) => name.startsWith(TRASH_PREFIX) && parseFolderName(name.slice(TRASH_PREFIX.length)) !== undefined)
    .flatMap((name) => {
      const since = changedAt(join(folder, name));
      return since === undefined ? [] : [{ path: join(folder, name), since }];
    });

export const removeTrash = (path: string): Promise<void> => removeFiles(path);

/** Never throws. In doubt something is in it. */
export async function judgeFound(place: GitPlace, found: FoundWorktree): Promise<Verdict> {
  const { path, branch, gitDir, record } = found;
  if (gitDir === undefined) return doubt('git does not know it');
  if (record !== undefined) return judgeWorktree(place, { path, gitDir, branch, base: record.base, dirt: record.dirt });
  if (found.hasUnreadableRecord) return doubt('its record cannot be read');
  // Half made: files that were not checked out yet may be missing, but nothing else may differ from the commit.
  const dirt = await readDirt(place, { path, gitDir });
  if (isGitEnd(dirt)) return doubt('it was never finished, and git cannot tell its state');
  // Git writes the index when all files are there; before that each of them counts as taken out of it.
  const missing = existsSync(join(gitDir, 'index')) ? undefined : 'D  gone';
  const own = Object.keys(dirt).filter((name) => dirt[name] !== missing);
  if (own.length > 0) return { changed: true, files: own.sort(), commits: 0 };
  const tip = await tipOf(place, found, gitDir);
  if (tip === undefined) return { changed: false };
  const others = ['--not', `--exclude=refs/heads/${branch}`, '--branches', '--tags', '--remotes', 'HEAD'];
  const count = await runGit(place, ['rev-list', '--count', tip, ...others], { cwd: commonOf(gitDir) });
  return count.code === 0 && Number(count.stdout) === 0 ? { changed: false } : doubt('it was never finished');
}

/**
 * Removes it with its branch after having looked at it once more. The caller has made sure that nobody works in it.
 *
 * @returns why it was not removed; `undefined` when it is gone. Never throws.
 */
export async function removeFound(place: GitPlace, found: FoundWorktree): Promise<string | undefined> {
  const { path, branch, gitDir, record } = found;
  if (gitDir === undefined) return 'git does not know it';
  if ((await judgeFound(place, found)).changed) return 'there is something in it now';
  const base = record?.base ?? (await tipOf(place, found, gitDir)) ?? '';
  return removeWorktree(place, { common: commonOf(gitDir) }, { path, branch, base });
}

const doubt = (why: string): Verdict => ({ changed: true, files: [], commits: 0, doubt: why });

/** `<common>/worktrees/<name>` */
const commonOf = (gitDir: string): string => dirname(dirname(gitDir));

async function tipOf(place: GitPlace, { branch }: FoundWorktree, gitDir: string): Promise<string | undefined> {
  const args = ['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`];
  return (await runGit(place, args, { cwd: commonOf(gitDir) })).stdout.trim() || undefined;
}

function findGitDir(path: string): string | undefined {
  try {
    const named = /^gitdir: (.+?)\s*$/.exec(readFileSync(join(path, '.git'), 'utf8'))?.[1];
    const gitDir = named === undefined ? undefined : resolve(path, named);
    return gitDir !== undefined && existsSync(join(gitDir, 'HEAD')) ? gitDir : undefined;
  } catch {
    return undefined;
  }
}

/** `undefined` for what was taken away since its name was read. */
const changedAt = (path: string): number | undefined => lstatIfThere(path)?.ctimeMs;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
