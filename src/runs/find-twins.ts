/**
 * Live runs of a script that somebody is about to start once more: both would work on the same files. Runs with made-up
 * answers work on none.
 */
import { observeRun, type RunSummary } from './run-status.js';
import { listRunFolders, lookAt } from './runs-folder.js';

/** A live run touches its folder every 5 s: a look at the times spares the reading of all the others. */
const FRESH_MS = 60_000;

export function findLiveTwins(runsFolder: string, scriptSha256: string, now: number): RunSummary[] {
  try {
    return listRunFolders(runsFolder)
      .filter(({ folder }) => now - (lookAt(folder)?.mtimeMs ?? 0) < FRESH_MS)
      .map(({ folder }) => observeRun(folder, now).summary)
      .filter((run) => run.status === 'running' && !run.madeUp && run.scriptSha256 === scriptSha256);
  } catch {
    // What cannot be looked at is no reason not to start.
    return [];
  }
}
