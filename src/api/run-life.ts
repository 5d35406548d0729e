/** Whether anybody may still be at work for a run, as far as what it has left behind is concerned. */
import { observeRun } from '../runs/run-status.js';
import { findRunFolder } from '../runs/runs-folder.js';
import { findLeftProcesses, readStartedProcesses } from '../runs/started-processes.js';
import { isProcessAlive } from '../shared/process-info.js';
import { statIfThere } from '../shared/stat-if-there.js';
import type { Places } from './prepare-run.js';

/** What a run that cannot be seen has left without a sign of life belongs to nobody after this time, ms. */
export const SETTLED_MS = 3_600_000;

/** `undefined`: there is no such run here. A process of it that outlived it counts as the run itself. */
export function isRunAlive(places: Pick<Places, 'readFolders'>, runId: string, now: number): boolean | undefined {
  const folder = findFolderOf(places, runId);
  if (folder === undefined) return undefined;
  const { summary, record, ownerState } = observeRun(folder, now);
  if (summary.status === 'running') return true;
  // From elsewhere it cannot be seen, and a machine that sleeps gives no sign of life.
  if (record?.status === 'running' && ownerState?.basis === 'heartbeat') {
    if (now - Date.parse(summary.owner?.heartbeat ?? '') < SETTLED_MS) return true;
  }
  if (readStartedProcesses(folder).some(({ pid, startTime }) => isProcessAlive(pid, startTime))) return true;
  // Below an agent that has ended there may be one that could not be.
  return findLeftProcesses(folder).length > 0;
}

/** The folder of a run, wherever it is looked for. */
export function findFolderOf({ readFolders }: Pick<Places, 'readFolders'>, runId: string): string | undefined {
  const folder = readFolders.map((runs) => findRunFolder(runs, runId)?.folder).find((path) => path !== undefined);
  return folder === undefined || statIfThere(folder) === undefined ? undefined : folder;
}
