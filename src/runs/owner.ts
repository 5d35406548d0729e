/**
 * Who holds a run, and whether that process still lives. On the machine it runs on, a process is told by pid and start
 * time, at once and for certain; from elsewhere only its heartbeat can be seen. Silence alone never ends anything here.
 */
import { randomUUID } from 'node:crypto';
import { bootId, hostName, isProcessAlive, pidNamespace, processStartTime } from '../shared/process-info.js';
import type { OwnerRecord } from './records.js';

/** A heartbeat that is older than this, ms, is no sign of life. */
export const HEARTBEAT_LIMIT_MS = 60_000;

export interface OwnerState {
  state: 'alive' | 'dead';
  /** `process`: seen by pid and start time, certain. `heartbeat`: by its age only. */
  basis: 'process' | 'heartbeat';
  /** A clause for people, e.g. `process 4711 is gone`. */
  reason: string;
}

/** The owner record of this process, with a fresh token and a heartbeat of now. `now` is in ms since the epoch. */
export function describeOwner(now: number = Date.now()): OwnerRecord {
  return {
    host: hostName(),
    bootId: bootId(),
    pidNamespace: pidNamespace(),
    pid: process.pid,
    startTime: processStartTime(process.pid),
    heartbeat: new Date(now).toISOString(),
    token: randomUUID(),
  };
}

/** Judges an owner record as seen from this process. `now` is in ms since the epoch. */
export function ownerState(owner: OwnerRecord, now: number): OwnerState {
  return isOfThisMachine(owner) ? judgeByProcess(owner) : judgeByHeartbeat(owner, now);
}

/** Same host, same boot, same pid namespace: then a pid means the same process here as there. */
export const isOfThisMachine = (owner: Pick<OwnerRecord, 'host' | 'bootId' | 'pidNamespace'>): boolean =>
  owner.host === hostName() && owner.bootId === bootId() && owner.pidNamespace === pidNamespace();

function judgeByProcess(owner: OwnerRecord): OwnerState {
  if (isProcessAlive(owner.pid, owner.startTime ?? undefined)) {
    return { state: 'alive', basis: 'process', reason: `process ${owner.pid} is running` };
  }
  const isReused = owner.startTime !== null && isProcessAlive(owner.pid);
  const reason = isReused
    ? `process ${owner.pid} is gone; its number belongs to another program now`
    : `process ${owner.pid} is gone`;
  return { state: 'dead', basis: 'process', reason };
}

function judgeByHeartbeat(owner: OwnerRecord, now: number): OwnerState {
  const age = now - Date.parse(owner.heartbeat);
  const where = `on ${owner.host}, as seen from another machine, boot or container`;
  if (Number.isNaN(age)) return { state: 'dead', basis: 'heartbeat', reason: `no readable heartbeat ${where}` };
  const seconds = Math.round(Math.abs(age) / 1000);
  if (age < 0)
    return { state: 'alive', basis: 'heartbeat', reason: `last heartbeat ${seconds} s ahead of us ${where}` };
  const state = age < HEARTBEAT_LIMIT_MS ? 'alive' : 'dead';
  return { state, basis: 'heartbeat', reason: `last heartbeat ${seconds} s ago ${where}` };
}
