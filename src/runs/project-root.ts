/**
 * Where a project begins, and where its runs lie. Storage is bound to the project, not to a shell, session or subfolder,
 * so that a run is found again from anywhere inside it.
 */
import { statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { listMainWorkTrees } from './main-work-tree.js';
import { realOrSame } from '../shared/real-or-same.js';

/** Where runs are written and where else they are looked for. All paths are absolute. */
export interface RunsPlace {
  /** The project root. */
  root: string;
  /** New runs are written here; it may not exist yet. */
  runsFolder: string;
  /** Runs folders that reading verbs and `--resume-from` search after `runsFolder`. */
  alsoRead: string[];
}

/**
 * Nearest ancestor of `cwd` (itself included) with `.git`, folder or file; without one the nearest with `.claude`, never
 * `home` or a folder above it; else `cwd`.
 */
export function findProjectRoot(cwd: string, home: string): string {
  const ancestors = listAncestors(resolve(cwd));
  const withGit = ancestors.find((folder) => exists(join(folder, '.git')));
  if (withGit !== undefined) return withGit;
  const homes = home === '' ? [] : [resolve(home), realOrSame(resolve(home))];
  const withClaude = ancestors.find(
    (folder) => isFolder(join(folder, '.claude')) && !homes.some((path) => isSameOrAbove(folder, path)),
  );
  return withClaude ?? resolve(cwd);
}

/**
 * The runs folder of the project around `cwd`. With `runsDir` (`--runs-dir`, `WF_RUNS_DIR`; relative to `cwd`) only that one.
 *
 * @example
 * const { runsFolder, alsoRead } = resolveRunsFolder({ cwd: process.cwd(), home: homedir() });
 * const runs = observeRuns({ runsFolders: [runsFolder, ...alsoRead] });
 */
export function resolveRunsFolder(where: { cwd: string; home: string; runsDir?: string | undefined }): RunsPlace {
  const root = findProjectRoot(where.cwd, where.home);
  if (where.runsDir !== undefined && where.runsDir !== '') {
    return { root, runsFolder: resolve(where.cwd, where.runsDir), alsoRead: [] };
  }
  return { root, runsFolder: runsFolderOf(root), alsoRead: listMainWorkTrees(root).map(runsFolderOf) };
}

const runsFolderOf = (root: string): string => join(root, '.claude', 'workflow-runs');

function listAncestors(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...listAncestors(parent)];
}

const isSameOrAbove = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

const exists = (path: string): boolean => kindOf(path) !== undefined;

const isFolder = (path: string): boolean => kindOf(path) === 'folder';

/** An ancestor that may not be searched counts as one without the entry. */
function kindOf(path: string): 'folder' | 'file' | undefined {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch {
    return undefined;
  }
}
