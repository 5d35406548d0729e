/**
 * The one writer of a live run's `run.json`: every 5 s it says that the owner lives and how far the run is. The rename
 * that does so also freshens the folder's mtime, by which pruning goes. Once the claim is lost, nothing more is written.
 */
import { messageOf, WfError } from '../shared/errors.js';
import type { RunRecord } from './records.js';
import { writeRunRecord } from './run-records.js';

export const HEARTBEAT_MS = 5_000;
const SOON_MS = 1_000;

export interface HeartbeatOptions {
  /** The run folder. */
  folder: string;
  /** The record as `createRunFolder` wrote it; its owner is this process. */
  record: RunRecord;
  /** How far the run is. */
  progress: () => RunRecord['progress'];
  /** Of the run's claim. */
  claim: { isLatest(): boolean };
  /** Told once, when another process has taken over. */
  onLost: () => void;
  /** Told once, when a heartbeat cannot be written; later ones are tried all the same. */
  onWarning: (message: string) => void;
  /** ms; default 5,000. */
  intervalMs?: number;
  /** ms since the epoch; default `Date.now`. */
  now?: () => number;
}

export interface Heartbeat {
  /** The record as it stands now. */
  readonly record: RunRecord;
  /** Writes a heartbeat at once. */
  beat(): void;
  /** Something changed that a list of runs should show: a heartbeat follows within a second. */
  beatSoon(): void;
  /**
   * Changes the record and writes it at once.
   *
   * @throws WfError `WF_OWNER_LOST` if another process has taken over; else what the file system throws, and then the
   * change goes out with the next heartbeat
   */
  update(change: Partial<RunRecord>): void;
  /** Ends the heartbeats; `update` still works. */
  stop(): void;
}

/**
 * Starts the heartbeats of a run. They do not keep the process alive.
 *
 * @example
 * const heartbeat = startHeartbeat({ folder, record, progress, claim, onLost, onWarning });
 * heartbeat.update({ copied: true });
 * heartbeat.stop();
 * heartbeat.update({ status: 'completed', endedAt: new Date().toISOString(), owner: null });
 */
export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const now = options.now ?? Date.now;
  let record = options.record;
  let isLost = false;
  let hasWarned = false;

  const holds = (): boolean => {
    if (!isLost && !options.claim.isLatest()) {
      isLost = true;
      clearInterval(timer);
      options.onLost();
    }
    return !isLost;
  };
  const write = (): void => {
    const { owner } = record;
    const heartbeat = new Date(now()).toISOString();
    record = { ...record, progress: options.progress(), owner: owner === null ? null : { ...owner, heartbeat } };
    writeRunRecord(options.folder, record);
  };
  const beat = (): void => {
    if (!holds()) return;
    try {
      write();
    } catch (error) {
      if (hasWarned) return;
      hasWarned = true;
      options.onWarning(
        `The heartbeat of this run cannot be written to ${options.folder}: ${messageOf(error)}. ` +
          'The run goes on; seen from another machine it may look interrupted.',
      );
    }
  };
  const timer = setInterval(beat, options.intervalMs ?? HEARTBEAT_MS);
  timer.unref();

  let soon: NodeJS.Timeout | undefined;
  return {
    beatSoon() {
      soon ??= setTimeout(() => {
        soon = undefined;
        beat();
      }, SOON_MS).unref();
    },
    get record() {
      return record;
    },
    beat,
    update: (change) => {
      record = { ...record, ...change };
      if (!holds()) {
        throw new WfError(
          'WF_OWNER_LOST',
          `Run ${record.runId} was taken over by another process; it writes no more.`,
          {
            remedy: '`wf ls` shows the run that goes on.',
          },
        );
      }
      write();
    },
    stop() {
      clearInterval(timer);
      clearTimeout(soon);
    },
  };
}
