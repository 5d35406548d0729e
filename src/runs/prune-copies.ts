/** Copies of damaged runs that `wf doctor --fix` made. Each is kept as long as the run that it is a copy of. */
import { join } from 'node:path';
import { inspectRunRecord } from './run-records.js';
import { findRunFolder, listRunFolders, REPAIRED_FOLDER } from './runs-folder.js';
import { findSparedRuns, isJustClaimed } from './spared-runs.js';
import { moveToTrash } from './trash.js';

/** Renames copies whose run is gone out of the way; returns the folders that may be removed. Runs that went on from one stay. */
export function trashCopies(runsFolder: string, now: number): string[] {
  const repaired = join(runsFolder, REPAIRED_FOLDER);
  const folders = listRunFolders(repaired);
  const orphans = folders.filter(({ runId, folder }) => {
    const run = inspectRunRecord(folder);
    const isCopy = run.kind === 'ok' && run.record.repairedCopy === true;
    return isCopy && findRunFolder(runsFolder, runId) === undefined;
  });
  if (orphans.length === 0) return [];
  const spared = findSparedRuns(repaired, folders, now);
  return orphans
    .filter((run) => !spared.has(run.runId) && !isJustClaimed(repaired, run, now))
    .flatMap(({ folder }) => moveToTrash(folder, now) ?? []);
}
