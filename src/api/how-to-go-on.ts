/** How to go on from a run that has ended or was cut off, by what is recorded of it. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { ObservedRun } from '../runs/run-status.js';
import { type Counts, isComplete } from '../shared/outcome.js';
import { isMendedInScript, resumeCommandOf } from '../shared/resume-command.js';
import type { Places } from './prepare-run.js';

/**
 * The command to be typed in the present folder; `null` where nothing is left to do, the run has not ended, or no resume
 * can go on from it.
 *
 * @param counts where they are better known than by the record
 * @param runsDir as it was asked for
 */
export function howToGoOn(
  { summary, record, state }: ObservedRun,
  { cwd, root }: Pick<Places, 'cwd' | 'root'>,
  runsDir?: string,
  counts: Counts = summary.counts,
): string | null {
  const { runId, status, noResume, verdicts } = summary;
  if (status === 'running' || isComplete(status, counts) || noResume !== undefined || verdicts !== undefined)
    return null;
  const path = isMendedInScript(state?.cause, state?.failures) ? (record?.script.path ?? null) : null;
  const file = path === null ? undefined : join(root, path);
  // Its run may lie in the runs folder of another project.
  const script = file !== undefined && existsSync(file) ? relative(cwd, file) : undefined;
  return resumeCommandOf(runId, runsDir, script);
}
