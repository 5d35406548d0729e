/**
 * The processes of a run: watched by the guard, on record in the events for whoever looks after a kill, and told of when
 * they could not be ended. The run goes on all the same: only a person can do something about them.
 */
import type { LeftProcess } from '../agents/backend.js';
import type { Guard } from '../agents/guard/start-guard.js';
import type { EventLog } from '../runs/event-log.js';
import { describeOwner } from '../runs/owner.js';
import { isProcessAlive, processStartTime } from '../shared/process-info.js';
import { explainLeft, howToEndLeft } from './explain-left.js';

/** Characters of a call's name. */
const MAX_CALL = 80;

export interface RunProcesses {
  /** Puts a process on record. Gives its start time; `null` when it is gone already. */
  note(role: 'agent' | 'sandbox', pid: number): string | null;
  agentStarted(pid: number, call?: string): void;
  agentEnded(pid: number, left?: readonly LeftProcess[]): void;
  /** The run is over: tells of what a backend did not end, and of nothing after that. */
  close(): void;
}

export function watchRunProcesses(run: {
  events: EventLog;
  /** Starts it where there is none yet. */
  openGuard(): Guard;
  guard(): Guard | undefined;
  /** ISO 8601 UTC. */
  now(): string;
  warn(code: string, message: string): void;
}): RunProcesses {
  const { events } = run;
  const open = new Map<number, { startTime: string | null; call: string | undefined }>();
  const told = new Set<string>();
  let isClosed = false;

  const note: RunProcesses['note'] = (role, pid) => {
    const startTime = processStartTime(pid);
    if (startTime !== null) events.write({ t: run.now(), type: 'process.started', role, pid, startTime });
    return startTime;
  };
  const tellLeft = ({ pid, startTime }: LeftProcess, call: string | undefined): void => {
    const name = `${pid} ${startTime}`;
    if (isClosed || told.has(name)) return;
    told.add(name);
    // Only there does its number mean something.
    const { host, bootId, pidNamespace } = describeOwner();
    const where = { host, bootId, pidNamespace };
    events.write({ t: run.now(), type: 'process.left', role: 'agent', pid, startTime, ...where });
    const whose = call === undefined ? '' : ` of call ${call.slice(0, MAX_CALL)}`;
    run.warn(
      'WF_AGENT_LEFT',
      `Process ${pid}${whose} could not be ended: ${explainLeft(pid)}. It may go on working and spending. ${howToEndLeft(pid)} wf doctor names it as long as it lives.`,
    );
  };
  return {
    note,
    agentStarted(pid, call) {
      const startTime = note('agent', pid);
      open.set(pid, { startTime, call });
      events.flush();
      run.openGuard().watch(pid, startTime);
    },
    agentEnded(pid, left = []) {
      const call = open.get(pid)?.call;
      open.delete(pid);
      run.guard()?.forget(pid);
      for (const process of left) tellLeft(process, call);
    },
    close() {
      for (const [pid, { startTime, call }] of open)
        if (startTime !== null && isProcessAlive(pid, startTime)) tellLeft({ pid, startTime }, call);
      isClosed = true;
    },
  };
}
