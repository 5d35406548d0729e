/** Where the worktrees of a project's runs lie: at its main working tree, so that they outlive a linked one and an agent's own. */
import { join } from 'node:path';
import { parseFolderName, WORKTREES_FOLDER } from '../agents/worktree/names.js';
import { listMainWorkTrees } from '../runs/main-work-tree.js';
import type { PruneReport } from '../runs/prune-runs.js';
import { listNames } from '../runs/runs-folder.js';

/** @param root project root */
export const findMainRoot = (root: string): string => listMainWorkTrees(root).at(-1) ?? root;

/** @param root project root */
export const findWorktreesFolder = (root: string): string => join(findMainRoot(root), '.claude', WORKTREES_FOLDER);

/** Sentences about worktrees that stay although the run that says what they are for is gone. */
export function nameTheirWorktrees(report: PruneReport, root: string): string[] {
  if (report.removed.length === 0) return [];
  const folder = findWorktreesFolder(root);
  const pruned = new Set(report.removed.map(({ runId }) => runId));
  const left = readNames(folder).filter((name) => pruned.has(parseFolderName(name)?.runId ?? ''));
  if (left.length === 0) return [];
  const named = left.slice(0, 5).join(', ');
  return [
    `Worktrees of pruned runs that stay in ${folder}, with what their calls left in them: ${named}${left.length > 5 ? `, … (${left.length})` : ''}.`,
  ];
}

function readNames(folder: string): string[] {
  try {
    return listNames(folder);
  } catch {
    return [];
  }
}
