/** What is said where a run is gone on from that another run has gone on from before. */
import { findFurtherRun } from '../runs/find-further-run.js';
import { observeRun } from '../runs/run-status.js';
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
  // While it goes on nobody can go on from it.
  const isRunning = observeRun(further.folder).summary.status === 'running';
  const how = isRunning
    ? `It is in progress: wf show ${further.runId}`
    : `To reuse them: ${resumeCommandOf(further.runId, runsDir)}`;
  return [
    `Run ${further.runId} went on from ${runId} and has ${answers} that ${runId} has not: they are not reused here, and calls that ask for the same are paid for again. ${how}`,
  ];
}
