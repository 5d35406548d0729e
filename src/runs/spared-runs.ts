/** Which runs pruning must leave alone: live ones, and what live ones still read from. */
import { join } from 'node:path';
import { isRunId } from '../shared/ids.js';
import { type Claim, claimsFolder, isClaimAlive, readLatestClaim } from './claim-files.js';
import { ownerState } from './owner.js';
import type { RunRecord } from './records.js';
import { inspectRunRecord, type RecordReading } from './run-records.js';
import { readOwner } from './run-status.js';
import { CLAIMS_FOLDER, listNames, type RunFolder } from './runs-folder.js';

/** Ids of live runs, of their sources, and of what held claims speak of (their run may still be on its way). */
export function findSparedRuns(runsFolder: string, folders: readonly RunFolder[], now: number): Set<string> {
  const records = new Map(folders.map(({ runId, folder }) => [runId, inspectRunRecord(folder)]));
  const spared = new Set<string>();
  const spare = (runId: string | null | undefined): void => {
    if (runId == null || spared.has(runId)) return;
    spared.add(runId);
    const record = wholeRecord(records.get(runId));
    // A run that was killed before it had copied its source is itself read through that source.
    if (record?.copied === false) spare(record.lineage.resumedFrom);
  };
  for (const [runId, reading] of records) {
    const owner = readOwner(reading);
    if (owner === null || ownerState(owner, now).state === 'dead') continue;
    spare(runId);
    spare(wholeRecord(reading)?.lineage.resumedFrom);
  }
  for (const root of listNames(join(runsFolder, CLAIMS_FOLDER)).filter(isRunId)) {
    const claim = heldClaim(runsFolder, root, now);
    spare(claim?.runId);
    spare(claim?.source);
  }
  return spared;
}

/** True when a resume of this very run has claimed its lineage since `findSparedRuns` looked. */
export function isJustClaimed(runsFolder: string, run: RunFolder, now: number): boolean {
  const root = wholeRecord(inspectRunRecord(run.folder))?.lineage.root;
  if (root === undefined || !isRunId(root)) return false;
  return heldClaim(runsFolder, root, now)?.source === run.runId;
}

/** The claim that somebody holds on a lineage. One that cannot be judged counts as none: its run's own record decides. */
function heldClaim(runsFolder: string, root: string, now: number): Claim | undefined {
  try {
    const latest = readLatestClaim(claimsFolder(runsFolder, root));
    if (latest === undefined || latest.released || latest.claim === null) return undefined;
    return isClaimAlive([runsFolder], () => now)(latest.claim) ? latest.claim : undefined;
  } catch {
    return undefined;
  }
}

const wholeRecord = (reading: RecordReading<RunRecord> | undefined): RunRecord | undefined =>
  reading?.kind === 'ok' ? reading.record : undefined;
