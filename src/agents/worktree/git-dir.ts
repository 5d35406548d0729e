/** Where git keeps what it knows of a worktree: `<common>/worktrees/<name>`, named by the file `.git` in the worktree. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** As the `.git` file of a worktree names it, whether it is there or not. */
export function readGitFile(path: string): string | undefined {
  const named = /^gitdir: (.+?)\s*$/.exec(readGitText(join(path, '.git')) ?? '')?.[1];
  return named === undefined ? undefined : resolve(path, named);
}

/** The same where git takes it for one. */
export function findGitDir(path: string): string | undefined {
  const named = readGitFile(path);
  return named !== undefined && existsSync(join(named, 'HEAD')) ? named : undefined;
}

/** The folder that all worktrees of a repository share. */
export const commonOf = (gitDir: string): string => dirname(dirname(gitDir));

/** False where git's folder speaks of another place: the project was copied or moved. Git writes there early that it speaks of this one. */
export function isGitDirOf(gitDir: string, path: string): boolean {
  const told = readGitText(join(gitDir, 'gitdir'))?.trim() ?? '';
  return told === '' || resolve(gitDir, told) === join(path, '.git');
}

/** One of git's own small files; undefined where it cannot be read. */
export function readGitText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
