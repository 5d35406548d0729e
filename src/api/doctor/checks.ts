/** The sections of `wf doctor`, in the order in which they are told. A further one is one file and one line here. */
import { checkClaims } from './check-claims.js';
import { checkConfig } from './check-config.js';
import { checkJournals } from './check-journals.js';
import { checkLeftovers } from './check-leftovers.js';
import { checkOwners } from './check-owners.js';
import { checkRecords } from './check-records.js';
import { checkRunsFolder } from './check-runs-folder.js';
import { checkSandbox } from './check-sandbox.js';
import { checkSockets } from './check-sockets.js';
import { checkSurvivors } from './check-survivors.js';
import { checkWorktrees } from './check-worktrees.js';
import type { DoctorCheck } from './finding.js';

export const CHECKS: readonly DoctorCheck[] = [
  checkSandbox,
  checkConfig,
  checkRunsFolder,
  checkRecords,
  checkJournals,
  checkOwners,
  checkClaims,
  checkSurvivors,
  // After what may still work in them.
  checkWorktrees,
  checkSockets,
  checkLeftovers,
];
