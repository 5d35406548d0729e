/** Where agents work: the folder in which a run was started, found again from the present project's root. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { listMainWorkTrees } from '../runs/main-work-tree.js';
import { findProjectRoot } from '../runs/project-root.js';
import { WfError } from '../shared/errors.js';
import { realOrSame } from '../shared/real-or-same.js';
import { wayInside } from '../shared/way-inside.js';
import type { Places } from './prepare-run.js';
import type { SourceRun } from './source-run.js';

/** Relative to the project root with forward slashes, or null outside of it. */
export function insideRoot(root: string, path: string | null): string | null {
  if (path === null) return null;
  // As both were named first: where one of them was found by a link, only their real paths can be compared.
  return wayInside(root, path) ?? wayInside(realOrSame(root), realOrSame(path)) ?? null;
}

/** @throws WfError `WF_FOLDER_MISSING` */
export function findStartFolder(places: Places, source: SourceRun | undefined): string {
  if (source === undefined) return places.cwd;
  const folder = join(places.root, source.record.startFolder);
  if (existsSync(folder)) return folder;
  throw new WfError(
    'WF_FOLDER_MISSING',
    `Run ${source.record.runId} was started in ${source.record.startFolder}, which is no longer there.`,
    {
      remedy: `Make the folder ${folder} again: its agents work there.`,
    },
  );
}

/**
 * A run that lies in another project's runs folder was at work there, and its agents now work here: meant where records were
 * carried along, a mistake where the command was typed in the wrong folder.
 */
export function describeOtherProject({ root, home }: Places, source: SourceRun): string[] {
  const runsFolder = dirname(source.folder);
  if (basename(runsFolder) !== 'workflow-runs' || basename(dirname(runsFolder)) !== '.claude') return [];
  const other = realOrSame(dirname(dirname(runsFolder)));
  const own = realOrSame(root);
  // A linked worktree is the same project, and runs of the trees that this one hangs on are found without being asked for.
  if (other === own || listMainWorkTrees(own).includes(other) || listMainWorkTrees(other).includes(own)) return [];
  if (other === realOrSame(home) || findProjectRoot(other, home) !== other) return [];
  return [
    `The source run lies in the project ${other}; agents work in the present one, ${own}. To go on there, type the command in that folder.`,
  ];
}
