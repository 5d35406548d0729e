/** Whether a worktree holds anything that its repository had not before. In doubt it does: what is kept can be removed, not the reverse. */
import { existsSync } from 'node:fs';
import { compareDirt, type Dirt, isGitEnd, readDirt } from './dirt.js';
import { type GitEnd, type GitPlace, type GitStart, runGit, saidBy } from './git.js';
import { commonOf, isGitDirOf } from './git-dir.js';
import { findHiddenWork } from './hidden-work.js';
import { judgeInhabited } from './inhabited.js';
import { tryAgain } from './try-again.js';

export interface JudgedWorktree {
  path: string;
  gitDir: string;
  branch: string;
  base: string;
  /** What already differed when it was made. */
  dirt: Dirt;
}

/** As `runGit`, tried again where another program is in the way. */
const ask = (place: GitPlace, args: readonly string[], start: GitStart): Promise<GitEnd> =>
  tryAgain(place, () => runGit(place, args, start));

export type Verdict =
  | { changed: false }
  | {
      changed: true;
      /** Files that differ from the base, committed ones among them, sorted. */
      files: string[];
      commits: number;
      /** Why it is kept although no change was seen. */
      doubt?: string;
      /** Only because a process is in it. */
      inUse?: true;
    };

/** Never throws. */
export const judgeWorktree = (place: GitPlace, worktree: JudgedWorktree): Promise<Verdict> =>
  judgeInhabited(worktree.path, () => judgeFiles(place, worktree));

async function judgeFiles(place: GitPlace, worktree: JudgedWorktree): Promise<Verdict> {
  const { path, gitDir, branch, base } = worktree;
  const keep = (doubt: string): Verdict => ({ changed: true, files: [], commits: 0, doubt });
  try {
    if (!isGitDirOf(gitDir, path)) return keep('git has it in another place now');
    if (!existsSync(path)) return await judgeBranch(place, worktree);
    const refs = [`refs/heads/${branch}`];
    const [now, head, tip] = await Promise.all([
      readDirt(place, worktree),
      ask(place, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], { cwd: path, worktree }),
      ask(place, ['for-each-ref', '--format=%(objectname)', ...refs], { cwd: path, worktree }),
    ]);
    if (isGitEnd(now)) return keep(`git cannot tell its state: ${saidBy(now)}`);
    if (head.code !== 0 || tip.code !== 0) return keep('git cannot tell which commit is checked out there');
    const files = compareDirt(worktree.dirt, now);
    const heads = [head.stdout.trim(), tip.stdout.trim()].filter((sha) => sha !== '' && sha !== base);
    if (files.length === 0 && heads.length === 0) {
      const hidden = await findHiddenWork(place, worktree);
      return hidden === undefined ? { changed: false } : { changed: true, files: [], ...hidden };
    }
    const { commits, committed } = await readCommits(place, worktree, heads);
    return { changed: true, files: [...new Set([...files, ...committed])].sort(), commits };
  } catch (error) {
    return keep(`its state cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function readCommits(
  place: GitPlace,
  worktree: JudgedWorktree,
  heads: readonly string[],
): Promise<{ commits: number; committed: string[] }> {
  if (heads.length === 0) return { commits: 0, committed: [] };
  const { path, base } = worktree;
  const cwd = existsSync(path) ? { cwd: path, worktree } : { cwd: worktree.gitDir };
  const [count, names] = await Promise.all([
    ask(place, ['rev-list', '--count', ...heads, `^${base}`], cwd),
    ask(place, ['diff', '--name-only', '--no-renames', '-z', base, heads[0] as string], cwd),
  ]);
  return { commits: Number(count.stdout) || 0, committed: names.stdout.split('\0').filter((name) => name !== '') };
}

/**
 * The folder is gone. What had been committed is on the branch. As long as git still knows the worktree, it was not
 * removed but moved or emptied by hand, and its index and reflog are all that is known of it.
 */
async function judgeBranch(place: GitPlace, worktree: JudgedWorktree): Promise<Verdict> {
  const common = commonOf(worktree.gitDir);
  const args = ['for-each-ref', '--format=%(objectname)', `refs/heads/${worktree.branch}`];
  const tip = (await ask(place, args, { cwd: common })).stdout.trim();
  const isAtBase = tip === '' || tip === worktree.base;
  if (isAtBase && !existsSync(worktree.gitDir)) return { changed: false };
  const doubt = 'its folder was taken away';
  if (isAtBase) return { changed: true, files: [], commits: 0, doubt };
  const count = await ask(place, ['rev-list', '--count', tip, `^${worktree.base}`], { cwd: common });
  return { changed: true, files: [], commits: Number(count.stdout) || 0, doubt };
}
