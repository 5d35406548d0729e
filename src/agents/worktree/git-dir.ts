/** Where git keeps what it knows of a worktree: `<common>/worktrees/<name>`, named by the file `.git` in the worktree. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type GitPlace, runGit } from './git.js';

/** As the `.git` file of a worktree names it, whether it is there or not. */
export function readGitFile(path: string): string | undefined {
  const named = /^gitdir: (.+?)\s*$/.exec(readText(join(path, '.git')) ?? '')?.[1];
  return named === undefined ? undefined : resolve(path, named);
}

/** The same where git takes it for one. */
export function findGitDir(path: string): string | undefined {
  const named = readGitFile(path);
  return named !== undefined && existsSync(join(named, 'HEAD')) ? named : undefined;
}

/** The folder that all worktrees of a repository share. */
export const commonOf = (gitDir: string): string => dirname(dirname(gitDir));

/**
 * The same for what git does not, or does no longer, take for a worktree: that of its `.git` file, else that of the
 * repository around it.
 */
export async function findCommon(place: GitPlace, path: string): Promise<string | undefined> {
  const named = readGitFile(path);
  if (named !== undefined && basename(dirname(named)) === 'worktrees' && existsSync(join(commonOf(named), 'HEAD'))) {
    return commonOf(named);
  }
  const cwd = dirname(path);
  const end = await runGit(place, ['rev-parse', '--git-common-dir'], { cwd });
  return end.code === 0 ? resolve(cwd, end.stdout.replace(/\n$/, '')) : undefined;
}

/** False where git's folder speaks of another place: the project was copied or moved. Git writes there early that it speaks of this one. */
export function isGitDirOf(gitDir: string, path: string): boolean {
  const told = readText(join(gitDir, 'gitdir'))?.trim() ?? '';
  return told === '' || resolve(gitDir, told) === join(path, '.git');
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
