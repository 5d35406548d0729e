/** What happened in a run and what is happening now, from its files alone: no socket, no lock, nothing written. */
import type { RunEvent } from '../engine/events.js';
import { followEvents } from '../runs/follow-events.js';
import { type ObservedRun, observeRun } from '../runs/run-status.js';
import type { StateRecord } from '../runs/records.js';
import { EXIT } from '../shared/errors.js';
import { isProcessAlive } from '../shared/process-info.js';
import type { CallStatus, RunStatus } from '../shared/outcome.js';
import { findOwnRun, isOver, type Where } from './reach-owner.js';

/** A line of the run's events, as it stands there. */
export interface LoggedEvent {
  text: string;
  /** Absent where the line is no event of the run itself, such as a note for `wf doctor`. */
  event: RunEvent | undefined;
}

/** How a run that was followed ended. */
export interface WatchedEnd {
  runId: string;
  status: RunStatus;
  /** That of its `wf run`; 1 where no end is recorded. */
  exitCode: number;
  /** Why nothing more is expected, where no end is recorded. */
  reason?: string;
  /** Why no resume can go on from it. */
  noResume?: string;
}

/** The last event of a run is written after its records: so long it may take, ms. */
const LAST_WORDS_MS = 3_000;

/**
 * The events of a run, in order. With `follow` also those to come, until the run has ended or its owner is gone.
 *
 * @param id UUID, or a prefix that only one run has
 * @throws WfError `WF_RUN_ID`, `WF_RUN_UNKNOWN`, `WF_RUN_FOREIGN`
 * @example for await (const { event } of readRunEvents('3f2a', { follow: true })) console.log(event?.type)
 */
export async function* readRunEvents(
  id: string,
  options: Where & { follow?: boolean | undefined; signal?: AbortSignal | undefined } = {},
): AsyncGenerator<LoggedEvent> {
  const { folder } = findOwnRun(id, options);
  const end = options.follow ? { isOver: watchEnd(folder) } : {};
  for await (const text of followEvents(folder, { ...end, signal: options.signal })) {
    const logged = text === null ? undefined : readEvent(text);
    if (logged === undefined) continue;
    yield logged;
    if (logged.event?.type === 'run.finished') return;
  }
}

/**
 * Follows a run to its end. Of a run that has ended, `onEvent` is told of what happened all the same.
 *
 * @param id UUID, or a prefix that only one run has
 * @param onEvent `isPast`: it had happened before we began to watch
 * @param onPresent called once, when all that was past of a live run has been told
 * @throws WfError `WF_RUN_ID`, `WF_RUN_UNKNOWN`, `WF_RUN_FOREIGN`
 * @example const { status } = await watchRun('3f2a', (event) => reporter.event(event))
 */
export async function watchRun(
  id: string,
  onEvent: (event: RunEvent, isPast: boolean, text?: string) => void,
  options: Where & { onPresent?: () => void; signal?: AbortSignal | undefined } = {},
): Promise<WatchedEnd> {
  const { runId, folder } = findOwnRun(id, options);
  let isPast = true;
  for await (const text of followEvents(folder, { isOver: watchEnd(folder), signal: options.signal })) {
    if (text === null) {
      // Of a run that nobody holds there is no present to tell.
      if (isPast && !isOver(observeRun(folder))) options.onPresent?.();
      isPast = false;
      continue;
    }
    const event = readEvent(text)?.event;
    if (event === undefined) continue;
    onEvent(event, isPast, text);
    if (event.type === 'run.finished') return { runId, status: event.status, exitCode: event.exitCode };
  }
  const run = observeRun(folder);
  const { status, noResume } = run.summary;
  if (run.state !== null) tellEnd(run.state, folder, onEvent);
  return {
    runId,
    status,
    exitCode: run.state?.exitCode ?? EXIT.runFailed,
    ...(run.state === null ? { reason: run.ownerState?.reason ?? 'nobody holds it' } : {}),
    ...(noResume === undefined ? {} : { noResume }),
  };
}

const TYPES: Record<RunEvent['type'], true> = {
  'run.started': true,
  'call.queued': true,
  'call.started': true,
  'call.progress': true,
  'call.retry': true,
  'call.worktree': true,
  'call.finished': true,
  phase: true,
  log: true,
  warning: true,
  'run.finished': true,
};

/** A line that is an event of whatever kind; `undefined` for one that cannot be read. */
function readEvent(text: string): LoggedEvent | undefined {
  try {
    const event = JSON.parse(text) as RunEvent;
    if (typeof event?.type !== 'string' || typeof event.t !== 'string') return undefined;
    return { text, event: Object.hasOwn(TYPES, event.type) ? event : undefined };
  } catch {
    return undefined;
  }
}

/** Records may be large, so they are not read at every look. */
const JUDGE_EVERY_MS = 500;

/** True once the run has ended and its owner has had the time for its last event, or its owner is gone. */
function watchEnd(folder: string): () => boolean {
  let owner: { pid: number; startTime: string | null } | undefined;
  let endedAt: number | undefined;
  let judgedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - judgedAt < JUDGE_EVERY_MS) return false;
    judgedAt = performance.now();
    const run: ObservedRun = observeRun(folder);
    if (run.record?.owner) owner = run.record.owner;
    if (!isOver(run)) return false;
    if (run.ownerState !== null) return true;
    endedAt ??= Math.min(Date.now(), Date.parse(run.summary.endedAt ?? '') || Date.now());
    return Date.now() - endedAt > LAST_WORDS_MS || (owner !== undefined && !isProcessAlive(owner.pid, owner.startTime));
  };
}

/** The events could not be written to their end; the outcome was. */
function tellEnd(state: StateRecord, folder: string, onEvent: (event: RunEvent, isPast: boolean) => void): void {
  onEvent(
    {
      t: state.endedAt,
      type: 'run.finished',
      runId: state.runId,
      folder,
      status: state.status,
      exitCode: state.exitCode,
      counts: state.counts,
      usage: state.usage,
      phases: state.phases,
      failures: state.failures.map((failure) => ({ ...failure, status: failure.status as CallStatus })),
      ...(state.error === undefined ? {} : { error: state.error }),
      journalComplete: state.journal.complete,
      hasResult: 'result' in state,
      durationMs: Date.parse(state.endedAt) - Date.parse(state.startedAt),
    },
    false,
  );
}
