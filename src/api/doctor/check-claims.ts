/** Claims whose holder is gone, and locks that nobody holds. The next resume passes them over by itself; here they are named and may be let go. */
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ClaimFile, claimPath, claimsFolder, isClaimAlive, readLatestClaim } from '../../runs/claim-files.js';
import { markReleased, TORN_CLAIM_MS } from '../../runs/claims.js';
import { LOCK_NAME } from '../../runs/lineage-lock.js';
import { ownerState } from '../../runs/owner.js';
import { CLAIMS_FOLDER, lookAt } from '../../runs/runs-folder.js';
import { isRunId } from '../../shared/ids.js';
import { messageOf } from '../../shared/errors.js';
import type { DoctorCheck, DoctorContext, Finding } from './finding.js';
import { namesIn } from './names-in.js';

const PASSED_OVER = 'The next resume of this lineage passes it over by itself.';

export const checkClaims: DoctorCheck = {
  name: 'claims',
  title: 'Claims and locks',
  look(context) {
    const { runsFolder } = context.places;
    const roots = namesIn(join(runsFolder, CLAIMS_FOLDER)).filter(isRunId);
    const findings = roots.flatMap((root) => lookAtClaim(runsFolder, root, context));
    return findings.length > 0
      ? findings
      : [{ status: 'ok', message: 'No claim or lock is left over from a dead process.' }];
  },
};

function lookAtClaim(runsFolder: string, root: string, { now }: DoctorContext): Finding[] {
  const folder = claimsFolder(runsFolder, root);
  let latest: ClaimFile | undefined;
  try {
    latest = readLatestClaim(folder);
  } catch (error) {
    return [{ status: 'note', message: messageOf(error), path: folder }];
  }
  if (latest === undefined || latest.released) return lookAtLock(folder);
  const { n, claim } = latest;
  const path = claimPath(folder, n);
  // The holder of a claim is dead for good, so letting it go can never take it from anybody.
  const fix = (): string => {
    markReleased(folder, n);
    if (readLatestClaim(folder)?.released === false) throw new Error(`${path} could not be marked as released`);
    return 'let it go';
  };
  if (claim === null) {
    if (now - (lookAt(path)?.mtimeMs ?? now) < TORN_CLAIM_MS) return [];
    const message = `Claim ${n} of the lineage ${root} was never finished.`;
    return [{ status: 'warn', message, remedy: PASSED_OVER, path, fix }, ...lookAtLock(folder)];
  }
  if (isClaimAlive([runsFolder], () => now)(claim)) return [];
  const { basis, reason } = ownerState(claim.owner, now);
  const message = `Run ${claim.runId} still holds the lineage ${root}, but ${reason}.`;
  const about = { message, remedy: PASSED_OVER, runId: claim.runId, path };
  // By its heartbeat alone nobody is dead for certain.
  return basis === 'heartbeat'
    ? [{ status: 'note', ...about }]
    : [{ status: 'warn', ...about, fix }, ...lookAtLock(folder)];
}

/** Of a lineage that nobody holds. */
function lookAtLock(folder: string): Finding[] {
  const path = join(folder, LOCK_NAME);
  if (lookAt(path) === undefined) return [];
  return [
    {
      status: 'warn',
      message: `The lock ${path} is left over: nobody holds its lineage.`,
      remedy: 'The next resume of this lineage removes it by itself.',
      path,
      fix() {
        // Somebody may have gone on with the lineage meanwhile; then it is theirs.
        const latest = readLatestClaim(folder);
        if (
          latest?.released === false &&
          latest.claim !== null &&
          isClaimAlive([dirname(dirname(folder))])(latest.claim)
        )
          return 'somebody holds it now, so it stays';
        rmSync(path, { recursive: true, force: true });
        return 'removed it';
      },
    },
  ];
}
