/** From a linked worktree or a submodule to the working tree it hangs on, by git's own files; no git process is started. */
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * The main working tree of a linked worktree, or the superproject of a submodule.
 * `null` where `root` is neither, or where git keeps no path back (bare repositories).
 */
export function mainWorkTree(root: string): string | null {
  const gitFolder = readGitFile(root);
  if (gitFolder === null) return null;
  const common = readText(join(gitFolder, 'commondir'));
  const repository = common === null ? superproject(gitFolder) : resolve(gitFolder, common.trim());
  const tree = repository === null ? null : workTreeOf(repository);
  return tree !== null && tree !== resolve(root) && isFolder(tree) ? tree : null;
}

/** `mainWorkTree` again and again: a worktree of a submodule hangs on the submodule, and that on its superproject. */
export function listMainWorkTrees(root: string): string[] {
  const trees: string[] = [];
  for (let tree = mainWorkTree(root); tree !== null && !trees.includes(tree); tree = mainWorkTree(tree)) {
    trees.push(tree);
  }
  return trees;
}

/** The repository folder that a `.git` *file* names. */
function readGitFile(root: string): string | null {
  const named = /^gitdir:[ \t]*(.+?)\s*$/.exec(readText(join(root, '.git')) ?? '')?.[1];
  return named === undefined ? null : resolve(root, named);
}

/** A submodule's repository is `<repository of the superproject>/modules/<name>`; a name may hold slashes. */
function superproject(gitFolder: string): string | null {
  for (let folder = dirname(gitFolder); folder !== dirname(folder); folder = dirname(folder)) {
    const parent = dirname(folder);
    if (basename(folder) === 'modules' && readText(join(parent, 'HEAD')) !== null) return parent;
  }
  return null;
}

function workTreeOf(repository: string): string | null {
  if (basename(repository) === '.git') return dirname(repository);
  const backLink = readText(join(repository, 'gitdir'));
  if (backLink !== null) return dirname(resolve(repository, backLink.trim()));
  const named = /^[ \t]*worktree[ \t]*=[ \t]*"?(.+?)"?[ \t]*$/m.exec(readText(join(repository, 'config')) ?? '')?.[1];
  return named === undefined ? null : resolve(repository, named);
}

function readText(path: string): string | null {
  try {
    return statSync(path).isFile() ? readFileSync(path, 'utf8') : null;
  } catch {
    return null;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
