/**
 * Keeps the newest runs and removes the others. A run is first renamed to `.trash-<id>`, in one step, so that nobody sees
 * half of one and several processes may prune at once: who comes second finds nothing left to rename.
 */
import { join } from 'node:path';
import { messageOf } from '../shared/errors.js';
import { trashClaims } from './prune-claims.js';
import { trashCopies } from './prune-copies.js';
import { observeRun } from './run-status.js';
import {
  isRealFolder,
  listNames,
  listRunFolders,
  lookAt,
  NEW_PREFIX,
  REPAIRED_FOLDER,
  type RunFolder,
  TRASH_PREFIX,
} from './runs-folder.js';
import { findSparedRuns, isJustClaimed } from './spared-runs.js';
import { findLeftProcesses } from './started-processes.js';
import { moveToTrash, removeFolder } from './trash.js';

/** Run folders that stay by default. */
const KEEP_RUNS = 50;

/** `.trash-*` and `.new-*` that are older than this, ms, belong to nobody any more. */
const LEFTOVER_MS = 3_600_000;

export interface PruneOptions {
  runsFolder: string;
  /** So many of the newest stay, by folder mtime; default 50. Spared runs stay on top of them. */
  keep?: number;
  /** Ids that stay whatever their age. Live runs and the sources of live runs always do. */
  spare?: ReadonlySet<string>;
  /** ms since the epoch; default now. */
  now?: number;
  /** Say what would go, and touch nothing. */
  dryRun?: boolean;
}

export interface PruneReport {
  /** `resumable`: the run had not been completed, or not with an answer to each call, so somebody might have gone on from it. */
  removed: { runId: string; workflow: string; resumable: boolean }[];
  /** Run folders that are left. */
  kept: number;
  /** What could not be removed, and why. */
  warnings: string[];
}

/**
 * Prunes a runs folder. Never throws: what goes wrong is a warning. Only real folders are touched that are named by a
 * UUID and hold a run, besides our own leftovers, the claims of lineages that have no run left, and the copies that
 * `wf doctor` made of runs that are gone.
 *
 * @example
 * const { removed, warnings } = await pruneRuns({ runsFolder, keep: 50, spare: new Set([runId]) });
 */
export async function pruneRuns(options: PruneOptions): Promise<PruneReport> {
  const { runsFolder, now = Date.now() } = options;
  const report: PruneReport = { removed: [], kept: 0, warnings: [] };
  const attempt = async (failure: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      report.warnings.push(`${failure}: ${messageOf(error)}.`);
    }
  };
  await attempt(`Old runs in ${runsFolder} could not be pruned`, async () => {
    const folders = listRunFolders(runsFolder);
    report.kept = folders.length;
    for (const run of findDoomed(folders, options, now)) {
      await attempt(`Old run ${run.runId} could not be removed`, () => pruneRun(run, options, now, report));
    }
    if (options.dryRun) return;
    const places = [runsFolder, join(runsFolder, REPAIRED_FOLDER)];
    const left = places.flatMap((place) => [...listLeftovers(place, now), ...trashClaims(place, now)]);
    for (const folder of [...left, ...trashCopies(runsFolder, now)]) {
      await attempt(`${folder} could not be removed`, () => removeFolder(folder));
    }
  });
  return report;
}

function findDoomed(
  folders: RunFolder[],
  { runsFolder, keep = KEEP_RUNS, spare }: PruneOptions,
  now: number,
): RunFolder[] {
  const old = sortByAge(folders, now).slice(keep);
  if (old.length === 0) return [];
  const spared = findSparedRuns(runsFolder, folders, now);
  const mayGo = old.filter(({ runId, readable }) => readable && !spare?.has(runId) && !spared.has(runId));
  // Its events are all that names a process that nobody could end.
  return mayGo.filter(({ folder }) => findLeftProcesses(folder).length === 0);
}

/** Newest first. A folder from the future counts as of now; equal times go by `startedAt`, then by id. */
function sortByAge(folders: RunFolder[], now: number): RunFolder[] {
  const starts = new Map<string, number>();
  const startOf = ({ runId, folder }: RunFolder): number => {
    const start = starts.get(runId) ?? Date.parse(observeRun(folder, now).summary.startedAt);
    starts.set(runId, start);
    return start;
  };
  return folders
    .flatMap((run) => {
      const mtime = mtimeOf(run.folder);
      // One that another pruner has just taken away has no place among the newest: it would push out one that is there.
      return mtime === undefined ? [] : { run, mtime: Math.min(mtime, now) };
    })
    .sort((a, b) => b.mtime - a.mtime || startOf(b.run) - startOf(a.run) || (a.run.runId < b.run.runId ? -1 : 1))
    .map(({ run }) => run);
}

async function pruneRun(run: RunFolder, options: PruneOptions, now: number, report: PruneReport): Promise<void> {
  const { workflow, status, counts, noResume } = observeRun(run.folder, now).summary;
  const isLeft = status !== 'completed' || counts.failed + counts.noResult + counts.skipped > 0;
  const resumable = isLeft && noResume === undefined;
  if (options.dryRun) {
    report.kept--;
    report.removed.push({ runId: run.runId, workflow, resumable });
    return;
  }
  if (isJustClaimed(options.runsFolder, run, now)) return;
  const trash = moveToTrash(run.folder, now);
  report.kept--;
  // Another process was faster, and names it.
  if (trash === undefined) return;
  report.removed.push({ runId: run.runId, workflow, resumable });
  await removeFolder(trash);
}

function listLeftovers(runsFolder: string, now: number): string[] {
  return listNames(runsFolder)
    .filter((name) => name.startsWith(TRASH_PREFIX) || name.startsWith(NEW_PREFIX))
    .map((name) => join(runsFolder, name))
    .filter((folder) => isRealFolder(folder) && now - (mtimeOf(folder) ?? now) > LEFTOVER_MS);
}

/** In whole ms: what was given a time of another file has it to that point, whatever else its file system keeps. */
function mtimeOf(path: string): number | undefined {
  const stat = lookAt(path);
  return stat && Math.round(stat.mtimeMs);
}
