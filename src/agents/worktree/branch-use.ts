/** Where a branch is checked out: whoever stands on one that goes stands on nothing. */
import { dirname, join } from 'node:path';
import { type GitPlace, runGit } from './git.js';
import { readGitText } from './git-dir.js';

/** @returns the working tree; `undefined`: nowhere that git can tell of */
export async function findCheckout(place: GitPlace, common: string, branch: string): Promise<string | undefined> {
  const ref = `refs/heads/${branch}`;
  const end = await runGit(place, ['for-each-ref', '--format=%(worktreepath)', ref], { cwd: common });
  if (end.code === 0) return end.stdout.trim() || undefined;
  // Git fails over a worktree that is half made. Its main working tree can be seen without it.
  return readGitText(join(common, 'HEAD'))?.trim() === `ref: ${ref}` ? dirname(common) : undefined;
}
