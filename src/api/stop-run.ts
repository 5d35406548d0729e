import { setTimeout as sleep } from 'node:timers/promises';
import { type ObservedRun, observeRun } from '../runs/run-status.js';
import { WfError } from '../shared/errors.js';
import type { Counts, RunStatus } from '../shared/outcome.js';
import { howToGoOn } from './how-to-go-on.js';
import { findPlaces, type Places } from './prepare-run.js';
import { askOwner, findOwnRun, isOver, type Where } from './reach-owner.js';

export interface StopOptions extends Where {
  /** Let what runs finish, for so many ms at most; `true`: as long as the run was started with. Default: cancel. */
  drain?: number | boolean | undefined;
  /** Resolve when the run has ended (default), or with `false` as soon as its owner has taken the request. */
  wait?: boolean | undefined;
}

/** What came of a request to end a run. */
export interface StopReport {
  runId: string;
  /** `null` when the run had ended before. */
  requested: 'cancel' | 'drain' | null;
  ended: boolean;
  status: RunStatus;
  /** Exit code of its `wf run`; `null` while none is recorded. */
  exitCode: number | null;
  counts: Counts;
  /** How to go on; `null` where nothing is left to do, the run has not ended, or no resume can go on from it. */
  resumeCommand: string | null;
}

const LOOK_EVERY_MS = 100;

/**
 * Ends a live run, from any process of its user on its machine. A run that had ended already is left as it is.
 *
 * @param id UUID, or a prefix that only one run has
 * @throws WfError `WF_RUN_ID`, `WF_RUN_UNKNOWN`, `WF_RUN_NOT_LIVE` (its owner is gone and no end is recorded), `WF_CONTROL`
 *
 * @example
 * const { status, resumeCommand } = await stopRun('3f2a', { drain: 60_000 });
 */
export async function stopRun(id: string, options: StopOptions = {}): Promise<StopReport> {
  const { runId, folder, run } = findOwnRun(id, options);
  const { drain, runsDir } = options;
  const report = (seen: ObservedRun, requested: StopReport['requested']): StopReport =>
    describe(runId, seen, requested, findPlaces(options), runsDir);
  if (hasEnded(run)) return report(run, null);
  const isDrain = drain !== undefined && drain !== false;
  try {
    await askOwner(folder, runId, {
      verb: 'stop',
      ...(isDrain ? { drain: typeof drain === 'number' ? { ms: drain } : {} } : {}),
    });
  } catch (error) {
    // It came to its end while we were asking.
    const now = observeRun(folder);
    if (!(WfError.is(error) && error.code === 'WF_RUN_NOT_LIVE' && hasEnded(now))) throw error;
    return report(now, null);
  }
  const requested = isDrain ? 'drain' : 'cancel';
  for (;;) {
    const seen = observeRun(folder);
    if (isOver(seen) || options.wait === false) return report(seen, requested);
    await sleep(LOOK_EVERY_MS);
  }
}

/** An end is recorded, and nobody holds the run. */
const hasEnded = (run: ObservedRun): boolean => isOver(run) && (run.state !== null || run.ownerState === null);

function describe(
  runId: string,
  run: ObservedRun,
  requested: StopReport['requested'],
  places: Places,
  runsDir: string | undefined,
): StopReport {
  const { status, counts } = run.summary;
  const ended = isOver(run);
  return {
    runId,
    requested,
    ended,
    status,
    exitCode: run.state?.exitCode ?? null,
    counts,
    resumeCommand: ended ? howToGoOn(run, places, runsDir) : null,
  };
}
