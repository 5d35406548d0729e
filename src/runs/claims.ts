/**
 * Who may go on with a lineage. The highest claim owns; n + 1 may be made only when n is released or its owner is dead,
 * and nothing is ever removed to take over: there is no moment between a check and a removal in which two could win,
 * as `wx` lets exactly one make n + 1.
 *
 * A claim is released by a file `<n>.released` beside it: one step that cannot be seen half done, that may be repeated,
 * and that leaves the record of who held the lineage as it was.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemCode, WfError } from '../shared/errors.js';
import { runsDirFlag } from '../shared/resume-command.js';
import {
  CLAIM_VERSION,
  type Claim,
  type ClaimFile,
  claimPath,
  claimsFolder,
  highestClaim,
  isClaimAlive,
  readClaim,
  readLatestClaim,
  releasePath,
} from './claim-files.js';
import type { OwnerRecord } from './records.js';
import { ensureRunsFolder, runsFolderError, syncFolder } from './runs-folder.js';
import { statIfThere } from '../shared/stat-if-there.js';

/** While a claim's file is empty or torn and younger than this, ms, its writer may still be at it: held. Older: dead. */
export const TORN_CLAIM_MS = 10_000;
const TORN_POLL_MS = 50;

/** A claim that this process holds. */
export interface HeldClaim {
  n: number;
  /** Where the claims of the lineage lie. */
  folder: string;
  /** False once a higher claim exists, or this one is gone or released. A folder that cannot be read proves nothing. */
  isLatest(): boolean;
  /** The same in one look-up, for the moment before each dispatch: claims are made in turn, so a rival holds n + 1. */
  isUnchallenged(): boolean;
  /** Lets the next one go on. May be called twice; where it cannot be written, the claim ends with the process. */
  release(): void;
  /** What a person should hear about how the claim was got, if anything. */
  notice: string | null;
}

export interface ClaimRequest {
  /** The folder that `findClaimsHome` names; for a new lineage the project's own. */
  runsFolder: string;
  /** First run of the lineage. */
  root: string;
  /** The run that will hold the claim. */
  runId: string;
  /** The run that is gone on from; from now on it is not pruned. */
  source?: string | null;
  owner: OwnerRecord;
  /** The runs folder as it was asked for, for commands that are to find the run of a rival. */
  runsDir?: string | undefined;
  /** Default: `isClaimAlive([runsFolder])`. */
  isOwnerAlive?: (claim: Claim) => boolean;
  now?: () => number;
  wait?: (ms: number) => Promise<unknown>;
}

/**
 * Claims a lineage for a run. Waits only behind a claim whose file is not whole yet, 10 s at most.
 *
 * @throws WfError `WF_RUN_BUSY` (names pid and host) while somebody holds it, `WF_RUNS_DIR` if it cannot be written
 *
 * @example
 * const claim = await claimLineage({ runsFolder, root, runId, source, owner: describeOwner() });
 */
export async function claimLineage(request: ClaimRequest): Promise<HeldClaim> {
  const { runsFolder, root, runId, source = null, owner } = request;
  const isAlive = request.isOwnerAlive ?? isClaimAlive([runsFolder], request.now);
  const folder = claimsFolder(runsFolder, root);
  const record: Claim = { version: CLAIM_VERSION, runId, source, owner };
  const isWorthWaiting = watchTornClaim(folder, request);
  try {
    for (;;) {
      makeClaimsFolder(runsFolder, folder);
      const latest = readLatestClaim(folder);
      if (latest !== undefined && !latest.released) {
        if (latest.claim === null && (await isWorthWaiting(latest.n))) continue;
        if (latest.claim !== null && isAlive(latest.claim)) throw busyError(latest.claim, request.runsDir);
      }
      const n = (latest?.n ?? 0) + 1;
      if (!createClaim(folder, n, record)) continue;
      const held = holdClaim(folder, n, owner.token, noticeOf(latest));
      // Whoever was kept from writing its record for so long that it was taken for dead must not go on.
      if (held.isLatest()) return held;
    }
  } catch (error) {
    throw WfError.is(error) ? error : runsFolderError(runsFolder, error);
  }
}

function makeClaimsFolder(runsFolder: string, folder: string): void {
  ensureRunsFolder(runsFolder);
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) === undefined) return;
  syncFolder(dirname(folder));
  syncFolder(runsFolder);
}

/** Waits a moment and says true while the torn claim may still become whole. A clock that is off ends the waiting too. */
function watchTornClaim(folder: string, request: ClaimRequest): (n: number) => Promise<boolean> {
  const now = request.now ?? Date.now;
  const wait = request.wait ?? ((ms: number) => delay(ms));
  let watched = 0;
  let waited = 0;
  return async (n) => {
    if (n !== watched) {
      watched = n;
      waited = 0;
    }
    const stat = statIfThere(claimPath(folder, n));
    if (stat === undefined) return true;
    if (waited >= TORN_CLAIM_MS || now() - stat.mtimeMs >= TORN_CLAIM_MS) return false;
    waited += TORN_POLL_MS;
    await wait(TORN_POLL_MS);
    return true;
  };
}

/** False when another was faster, or the folder was swept away meanwhile: look again. */
function createClaim(folder: string, n: number, record: Claim): boolean {
  let fd: number;
  try {
    fd = openSync(claimPath(folder, n), 'wx', 0o600);
  } catch (error) {
    if (systemCode(error) === 'EEXIST' || systemCode(error) === 'ENOENT') return false;
    throw error;
  }
  try {
    const bytes = Buffer.from(`${JSON.stringify(record)}\n`);
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    fsyncSync(fd);
  } catch (error) {
    markReleased(folder, n);
    throw error;
  } finally {
    closeSync(fd);
  }
  syncFolder(folder);
  return true;
}

function holdClaim(folder: string, n: number, token: string, notice: string | null): HeldClaim {
  let isReleased = false;
  const rival = claimPath(folder, n + 1);
  return {
    n,
    folder,
    notice,
    isLatest: () => !isReleased && stillHolds(folder, n, token),
    isUnchallenged: () => !isReleased && !existsSync(rival),
    release: () => {
      isReleased = true;
      markReleased(folder, n);
    },
  };
}

function stillHolds(folder: string, n: number, token: string): boolean {
  try {
    return highestClaim(readdirSync(folder)) === n && readClaim(claimPath(folder, n))?.owner.token === token;
  } catch (error) {
    return !WfError.is(error) && systemCode(error) !== 'ENOENT';
  }
}

/** May be called twice, and for a claim whose holder is dead. */
export function markReleased(folder: string, n: number): void {
  try {
    closeSync(openSync(releasePath(folder, n), 'wx', 0o600));
  } catch {
    // Released already, or not writable: then the claim ends with this process.
  }
}

function noticeOf(latest: ClaimFile | undefined): string | null {
  if (latest === undefined || latest.released) return null;
  if (latest.claim === null) return `Claim ${latest.n} of this lineage was never finished and is passed over.`;
  const { runId, owner } = latest.claim;
  return `Run ${runId} held this lineage; its process ${owner.pid} on ${owner.host} is gone.`;
}

/**
 * A live run keeps every other from its lineage.
 *
 * @param runsDir as it was asked for
 */
export function busyError(
  { runId, owner }: Pick<Claim, 'runId'> & { owner: Pick<OwnerRecord, 'pid' | 'host'> },
  runsDir?: string,
): WfError {
  const run = `${runId}${runsDirFlag(runsDir)}`;
  return new WfError(
    'WF_RUN_BUSY',
    `Run ${runId} holds this lineage: process ${owner.pid} on ${owner.host} is alive.`,
    {
      remedy:
        `Wait for it (\`wf watch ${run}\`), end it on its host (\`wf stop ${run}\`), ` +
        'or start a lineage of its own with --fork.',
    },
  );
}
