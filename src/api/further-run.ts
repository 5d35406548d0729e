/** What is said where a run is gone on from that another run has gone on from before. */
import { findFurtherRun } from '../runs/find-further-run.js';
import { resumeCommandOf } from '../shared/resume-command.js';
import type { SourceRun } from './source-run.js';

/** @param runsDir as it was asked for */
export function describeFurtherRun(
  { record, folder }: SourceRun,
  runsFolders: readonly string[],
  runsDir: string | undefined,
): string[] {
  const { runId, startedAt } = record;
  const further = findFurtherRun({ runId, folder, startedAt }, runsFolders);
  if (further === undefined) return [];
  const answers = further.answers === 1 ? '1 answer' : `${further.answers} answers`;
  return [
    `Run ${further.runId} went on from ${runId} and has ${answers} that ${runId} has not: they are not reused here, and calls that ask for the same are paid for again. To reuse them: ${resumeCommandOf(further.runId, runsDir)}`,
  ];
}
