/** The list of runs. There is no index: each run folder speaks for itself, and a bad one takes no other with it. */
import { messageOf } from '../shared/errors.js';
import { observeRun, type RunSummary } from './run-status.js';
import { listRunFolders } from './runs-folder.js';

/**
 * All runs of some runs folders, newest first (by `startedAt`, then by id). Reads `run.json` and `state.json` only,
 * writes nothing, takes no claim. A run that lies in two folders is told once, from the first.
 *
 * @param options.now ms since the epoch; default now
 * @param options.onWarning told of each runs folder that cannot be listed; without it such a folder counts as empty
 *
 * @example
 * const { runsFolder, alsoRead } = resolveRunsFolder({ cwd: process.cwd(), home: homedir() });
 * for (const run of observeRuns({ runsFolders: [runsFolder, ...alsoRead] })) print(run.runId, run.status);
 */
export function observeRuns(options: {
  runsFolders: readonly string[];
  now?: number;
  onWarning?: (message: string) => void;
}): RunSummary[] {
  const now = options.now ?? Date.now();
  const runs = new Map<string, RunSummary>();
  for (const runsFolder of options.runsFolders) {
    try {
      for (const { runId, folder } of listRunFolders(runsFolder)) {
        if (!runs.has(runId)) runs.set(runId, observeRun(folder, now).summary);
      }
    } catch (error) {
      options.onWarning?.(`The runs in ${runsFolder} cannot be listed: ${messageOf(error)}.`);
    }
  }
  return [...runs.values()].sort(newestFirst);
}

function newestFirst(a: RunSummary, b: RunSummary): number {
  return Date.parse(b.startedAt) - Date.parse(a.startedAt) || (a.runId < b.runId ? -1 : 1);
}
