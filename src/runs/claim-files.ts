/**
 * The files by which runs claim a lineage: `<runsFolder>/.claims/<root>/<n>.json`, and `<n>.released` beside it once its
 * run has let go. The highest n counts.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { messageOf, systemCode, WfError } from '../shared/errors.js';
import { isRunId, parseRunId } from '../shared/ids.js';
import { readRegularFile } from '../shared/regular-file.js';
import { ownerState } from './owner.js';
import { ownerSchema } from './records.js';
import { inspectRunRecord } from './run-records.js';
import { CLAIMS_FOLDER, listNames } from './runs-folder.js';

export const CLAIM_VERSION = 1;

/** A later version may add fields; as long as these stand in it, its owner is judged like any other. */
const claimSchema = z.looseObject({
  version: z.number().int(),
  runId: z.string().refine(isRunId),
  /** The run that is gone on from: pruning spares it while this claim is held. */
  source: z.string().nullable().optional(),
  owner: ownerSchema,
});

export type Claim = z.infer<typeof claimSchema>;

/** A claim as it stands on the disk. `claim` is `null` while its file is empty or torn. */
export interface ClaimFile {
  n: number;
  released: boolean;
  claim: Claim | null;
}

/** @throws WfError `WF_RUN_ID` if `root` is no run id */
export const claimsFolder = (runsFolder: string, root: string): string =>
  join(runsFolder, CLAIMS_FOLDER, parseRunId(root));

export const claimPath = (folder: string, n: number): string => join(folder, `${n}.json`);

export const releasePath = (folder: string, n: number): string => join(folder, `${n}.released`);

/**
 * The runs folder whose claims count for a lineage: the one where they were begun. A linked worktree that goes on from a
 * run of the main working tree must meet the others there.
 *
 * @param runsFolders the project's own first, then those that are also read
 */
export function findClaimsHome(runsFolders: [string, ...string[]], root: string): string {
  return runsFolders.find((runsFolder) => existsSync(claimsFolder(runsFolder, root))) ?? runsFolders[0];
}

/**
 * The claim of a lineage that counts; `undefined` where none was made.
 *
 * @throws WfError `WF_VERSION_NEWER` for a claim that only a later version understands; else what the file system throws
 */
export function readLatestClaim(folder: string): ClaimFile | undefined {
  const names = listNames(folder);
  const n = highestClaim(names);
  if (n === 0) return undefined;
  return { n, released: names.includes(`${n}.released`), claim: readClaim(claimPath(folder, n)) };
}

/** Number of the claim that counts among the names of a claims folder; 0 for none. */
export function highestClaim(names: string[]): number {
  return names.reduce((highest, name) => Math.max(highest, Number(/^([1-9]\d{0,14})\.json$/.exec(name)?.[1] ?? 0)), 0);
}

/** `null` for a file that is gone, empty, torn or no claim. */
export function readClaim(path: string): Claim | null {
  let value: unknown;
  try {
    value = JSON.parse(readRegularFile(path));
  } catch (error) {
    if (error instanceof SyntaxError || systemCode(error) === 'ENOENT') return null;
    throw new Error(`the claim ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const parsed = claimSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const version = (value as { version?: unknown } | null)?.version;
  if (typeof version !== 'number' || version <= CLAIM_VERSION) return null;
  throw new WfError('WF_VERSION_NEWER', `The claim ${path} has format version ${version}, which this wf cannot read.`, {
    remedy: 'Update wf-engine to the version that wrote it, or start a new lineage with --fork.',
  });
}

/**
 * Judges the owner of a claim; its run's `run.json`, looked for in `runsFolders`, has the fresher heartbeat.
 * A run that has given up its owner no longer holds the claim.
 */
export function isClaimAlive(runsFolders: string[], now: () => number = Date.now): (claim: Claim) => boolean {
  return (claim) => {
    for (const runsFolder of runsFolders) {
      const reading = inspectRunRecord(join(runsFolder, claim.runId));
      if (reading.kind !== 'ok') continue;
      const { owner } = reading.record;
      return owner !== null && ownerState(owner, now()).state === 'alive';
    }
    return ownerState(claim.owner, now()).state === 'alive';
  };
}
