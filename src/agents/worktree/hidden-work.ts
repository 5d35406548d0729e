/** What a worktree may hold although no file in it differs and its branch stands where it began. */
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findCheckout } from './branch-use.js';
import { type GitPlace, runGit } from './git.js';
import { commonOf, readGitText } from './git-dir.js';

interface Searched {
  path: string;
  gitDir: string;
  branch: string;
  base: string;
}

/** @returns why it is to be kept, a clause; `undefined`: there is nothing */
export async function findHiddenWork(
  place: GitPlace,
  worktree: Searched,
): Promise<{ doubt: string; commits: number } | undefined> {
  const { path, gitDir, branch } = worktree;
  const runs = countRuns(path);
  if (runs > 0) return { doubt: runs === 1 ? '1 run of wf lies in it' : `${runs} runs of wf lie in it`, commits: 0 };
  const trees = countTreesIn(path, gitDir);
  if (trees > 0) {
    return { doubt: trees === 1 ? 'another worktree lies in it' : `${trees} other worktrees lie in it`, commits: 0 };
  }
  if (isLocked(gitDir)) return { doubt: LOCKED, commits: 0 };
  const usedIn = await findCheckout(place, commonOf(gitDir), branch);
  if (usedIn !== undefined && usedIn !== path) return { doubt: `its branch is checked out in ${usedIn}`, commits: 0 };
  const commits = await countLost(place, worktree);
  if (commits === undefined) return { doubt: 'git cannot tell what only its reflog names', commits: 0 };
  if (commits === 0) return undefined;
  return {
    doubt: `${commits === 1 ? '1 commit is' : `${commits} commits are`} on no branch, only in its reflog`,
    commits,
  };
}

/** An agent may have used `wf` in its worktree: git ignores the run folders, but they hold answers that were paid for. */
function countRuns(path: string): number {
  const runs = join(path, '.claude', 'workflow-runs');
  return existsSync(runs) ? readdirSync(runs).filter((name) => /^[0-9a-f-]{36}$/.test(name)).length : 0;
}

/** Agents make worktrees too, for agents of their own, in folders that git ignores. */
function countTreesIn(path: string, gitDir: string): number {
  const all = join(commonOf(gitDir), 'worktrees');
  const places = readdirSync(all).map((name) => {
    const told = (readGitText(join(all, name, 'gitdir')) ?? '').trim();
    return told === '' ? '' : resolve(all, name, told);
  });
  return places.filter((dotGit) => dotGit.startsWith(`${path}/`) && dotGit !== join(path, '.git') && existsSync(dotGit))
    .length;
}

export const LOCKED = 'it is locked (git worktree lock)';

/** By somebody: git's own lock of one that it is making says so. */
export function isLocked(gitDir: string): boolean {
  const lock = join(gitDir, 'locked');
  return existsSync(lock) && readGitText(lock)?.trim() !== 'initializing';
}

/**
 * Commits that were left behind by a checkout or a reset, and that nothing but the worktree's own reflog names.
 * `undefined`: git cannot tell.
 */
async function countLost(place: GitPlace, { path, gitDir, base }: Searched): Promise<number | undefined> {
  const log = await runGit(place, ['rev-list', '--walk-reflogs', 'HEAD'], { cwd: path, worktree: { path, gitDir } });
  if (log.code !== 0) return undefined;
  const seen = new Set(log.stdout.split('\n').filter((sha) => sha !== '' && sha !== base));
  if (seen.size === 0) return 0;
  const count = await runGit(place, ['rev-list', '--count', '--ignore-missing', ...seen, '--not', '--all', base], {
    cwd: commonOf(gitDir),
  });
  return count.code === 0 ? Number(count.stdout) : undefined;
}
