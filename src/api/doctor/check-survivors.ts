/**
 * Processes of runs whose owner is gone: agents, a stuck sandbox, a guard. The guard ends them when it can; what it could
 * not end goes on working and spending unseen. Named by pid and start time as the run recorded them, so that a later
 * process of the same number is never taken for one of them.
 */
import { join } from 'node:path';
import { EVENTS_FILE } from '../../runs/runs-folder.js';
import { isProcessAlive } from '../../shared/process-info.js';
import { killProcessTree } from '../../shared/process-tree.js';
import { waitForGuard } from '../wait-for-guard.js';
import type { DoctorCheck, DoctorRun, Finding } from './finding.js';
import { readStartedProcesses, type StartedProcess } from './started-processes.js';

export const checkSurvivors: DoctorCheck = {
  name: 'survivors',
  title: 'Processes of dead runs',
  async look({ runs }) {
    const dead = runs.filter(isDeadHere);
    // What a guard is just ending is no survivor.
    await Promise.all(dead.map(({ observed: { record } }) => (record === null ? undefined : waitForGuard(record))));
    const findings = dead.flatMap(lookAtRun);
    return findings.length > 0 ? findings : [{ status: 'ok', message: 'No process of a dead run is alive.' }];
  },
};

/** Seen from another machine, boot or container the recorded numbers mean nothing. */
const isDeadHere = ({ observed: { ownerState } }: DoctorRun): boolean =>
  ownerState?.state === 'dead' && ownerState.basis === 'process';

function lookAtRun({ runId, folder, observed }: DoctorRun): Finding[] {
  const started = readStartedProcesses(join(folder, EVENTS_FILE));
  const guard = observed.record?.guard;
  if (guard?.startTime != null) started.push({ role: 'guard', pid: guard.pid, startTime: guard.startTime });
  return started.filter(isAlive).map((process) => ({
    status: 'warn',
    message: `Run ${runId} (${observed.summary.workflow}) is dead, and its ${process.role} process ${process.pid} is alive.`,
    remedy: 'What it still does nobody will hear. --fix ends it with everything below it.',
    runId,
    path: folder,
    fix() {
      if (!isAlive(process)) return 'it has ended by itself';
      const ended = killProcessTree(process.pid, 'SIGKILL', { startTime: process.startTime });
      return `ended ${ended.length} ${ended.length === 1 ? 'process' : 'processes'}`;
    },
  }));
}

const isAlive = ({ pid, startTime }: StartedProcess): boolean => isProcessAlive(pid, startTime);
