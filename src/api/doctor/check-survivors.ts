/**
 * Processes of runs whose owner is gone: agents, a stuck sandbox, a guard. The guard ends them when it can; what it could
 * not end goes on working and spending unseen. So do those that a run itself could not end, however it went on. Named by
 * pid and start time as the run recorded them, so that a later process of the same number is never taken for one of them.
 */
import { findLeftProcesses, readStartedProcesses, type StartedProcess } from '../../runs/started-processes.js';
import { isProcessAlive } from '../../shared/process-info.js';
import { killProcessTree } from '../../shared/process-tree.js';
import { explainLeft, howToEndLeft } from '../explain-left.js';
import { waitForGuard } from '../wait-for-guard.js';
import type { DoctorCheck, DoctorRun, Finding } from './finding.js';

export const checkSurvivors: DoctorCheck = {
  name: 'survivors',
  title: 'Processes of dead runs',
  async look({ runs }) {
    const dead = runs.filter(isDeadHere);
    // What a guard is just ending is no survivor.
    await Promise.all(dead.map(({ observed: { record } }) => (record === null ? undefined : waitForGuard(record))));
    const findings = [...runs.flatMap(lookForLeft), ...dead.flatMap(lookForSurvivors)];
    return findings.length > 0
      ? findings
      : [{ status: 'ok', message: 'No process of a dead run, and none that a run could not end, is alive.' }];
  },
};

/** Seen from another machine, boot or container the recorded numbers mean nothing. */
const isDeadHere = ({ observed: { ownerState } }: DoctorRun): boolean =>
  ownerState?.state === 'dead' && ownerState.basis === 'process';

const lookForLeft = ({ runId, folder, observed }: DoctorRun): Finding[] =>
  findLeftProcesses(folder).map((process) => ({
    status: 'warn',
    message: `Run ${runId} (${observed.summary.workflow}) could not end its ${process.role} process ${process.pid}, which is alive: ${explainLeft(process.pid)}.`,
    remedy: `What it still does nobody will hear. ${howToEndLeft(process.pid)} --fix tries it with your rights.`,
    runId,
    path: folder,
    fix: () => endProcess(process),
  }));

function lookForSurvivors({ runId, folder, observed }: DoctorRun): Finding[] {
  const started = readStartedProcesses(folder);
  const guard = observed.record?.guard;
  if (guard?.startTime != null) started.push({ role: 'guard', pid: guard.pid, startTime: guard.startTime });
  const left = new Set(findLeftProcesses(folder).map(({ pid }) => pid));
  const survivors = started.filter((process) => isAlive(process) && !left.has(process.pid));
  return survivors.map((process) => ({
    status: 'warn',
    message: `Run ${runId} (${observed.summary.workflow}) is dead, and its ${process.role} process ${process.pid} is alive.`,
    remedy: 'What it still does nobody will hear. --fix ends it with everything below it.',
    runId,
    path: folder,
    fix: () => endProcess(process),
  }));
}

function endProcess(process: StartedProcess): string {
  if (!isAlive(process)) return 'it has ended by itself';
  const ended = killProcessTree(process.pid, 'SIGKILL', { startTime: process.startTime });
  if (!ended.some(({ pid }) => pid === process.pid) && isAlive(process))
    throw new Error(`process ${process.pid} could not be ended: ${explainLeft(process.pid)}`);
  return `ended ${ended.length} ${ended.length === 1 ? 'process' : 'processes'}`;
}

const isAlive = ({ pid, startTime }: StartedProcess): boolean => isProcessAlive(pid, startTime);
