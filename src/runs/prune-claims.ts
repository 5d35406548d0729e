/**
 * Claims of lineages that have no run left. Nobody can go on from such a lineage, so its claims guard nothing; while one
 * run of it is left they stay, as a claim is never removed under somebody who might be about to make the next one.
 */
import { join } from 'node:path';
import { isRunId } from '../shared/ids.js';
import { readLatestClaim } from './claim-files.js';
import { ownerState } from './owner.js';
import { inspectRunRecord } from './run-records.js';
import { CLAIMS_FOLDER, isRealFolder, listNames, listRunFolders, TRASH_PREFIX } from './runs-folder.js';
import { moveToTrash } from './trash.js';
import { statIfThere } from '../shared/stat-if-there.js';

/** A claim younger than this, ms, may belong to a run whose folder is still on its way. */
const IDLE_MS = 3_600_000;
/** The same for a claim that was never released and whose process cannot be seen from here. */
const UNSEEN_MS = 7 * 24 * 3_600_000;

/** Renames the claims of ended lineages out of the way; returns the folders that may be removed. */
export function trashClaims(runsFolder: string, now: number): string[] {
  const all = join(runsFolder, CLAIMS_FOLDER);
  const folders = listNames(all).filter((name) => isRealFolder(join(all, name)));
  const trash = folders.filter((name) => name.startsWith(TRASH_PREFIX)).map((name) => join(all, name));
  const idle = folders.filter((name) => isRunId(name) && idleTime(join(all, name), now) >= IDLE_MS);
  if (idle.length === 0) return trash;
  const used = listUsedRoots(runsFolder);
  for (const root of idle) {
    if (used.has(root) || !isEnded(join(all, root), now)) continue;
    const moved = moveToTrash(join(all, root), now);
    if (moved !== undefined) trash.push(moved);
  }
  return trash;
}

function listUsedRoots(runsFolder: string): Set<string> {
  return new Set(
    listRunFolders(runsFolder).flatMap(({ runId, folder }) => {
      const reading = inspectRunRecord(folder);
      return reading.kind === 'ok' ? [runId, reading.record.lineage.root] : [runId];
    }),
  );
}

function isEnded(folder: string, now: number): boolean {
  try {
    const latest = readLatestClaim(folder);
    if (latest === undefined || latest.released || latest.claim === null) return true;
    const { state, basis } = ownerState(latest.claim.owner, now);
    return state === 'dead' && (basis === 'process' || idleTime(folder, now) >= UNSEEN_MS);
  } catch {
    return false;
  }
}

/** ms since the last claim or release. */
function idleTime(folder: string, now: number): number {
  return now - (statIfThere(folder)?.mtimeMs ?? now);
}
