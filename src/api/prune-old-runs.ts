import { type PruneReport, pruneRuns } from '../runs/prune-runs.js';
import { findPlaces } from './prepare-run.js';
import type { RunWorkflowOptions } from './run-options.js';
import { nameTheirWorktrees } from './worktrees-folder.js';

/** Removes all but the newest runs of the project; live runs and their sources stay. */
export async function pruneOldRuns(
  options: Pick<RunWorkflowOptions, 'cwd' | 'home' | 'env' | 'runsDir'> & {
    keep?: number | undefined;
    dryRun?: boolean | undefined;
  } = {},
): Promise<PruneReport> {
  const { runsFolder, root } = findPlaces(options);
  const report = await pruneRuns({ runsFolder, keep: options.keep ?? 50, dryRun: options.dryRun ?? false });
  report.warnings.push(...nameTheirWorktrees(report, root));
  return report;
}
