/** The branch of a worktree that was found: where it stands, and whether anything is on it alone. */
import { findCheckout } from './branch-use.js';
import { type GitPlace, runGit } from './git.js';

export interface FoundBranch {
  /** The commit at which it stands; `undefined`: there is no such branch. */
  tip: string | undefined;
  /** How many commits are on no other branch, tag or checked out commit. */
  own: number;
  /** Where it is checked out, if anywhere. */
  usedIn: string | undefined;
}

/** `undefined` where git cannot tell. */
export async function readFoundBranch(
  place: GitPlace,
  common: string,
  branch: string,
): Promise<FoundBranch | undefined> {
  const named = ['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`];
  const found = await runGit(place, named, { cwd: common });
  if (found.code !== 0) return undefined;
  const tip = found.stdout.trim() || undefined;
  if (tip === undefined) return { tip, own: 0, usedIn: undefined };
  // For `--branches` a pattern begins below refs/heads.
  const others = ['--not', `--exclude=${branch}`, '--branches', '--tags', '--remotes', 'HEAD'];
  const count = await runGit(place, ['rev-list', '--count', tip, ...others], { cwd: common });
  return count.code === 0
    ? { tip, own: Number(count.stdout), usedIn: await findCheckout(place, common, branch) }
    : undefined;
}
