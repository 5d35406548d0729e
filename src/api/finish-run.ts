/** Writes down how a run ended, gives up what it held, and prunes old runs. */
import { relative, resolve } from 'node:path';
import type { EngineEnd } from '../engine/engine-options.js';
import { type Claim, readLatestClaim } from '../runs/claim-files.js';
import { pruneRuns } from '../runs/prune-runs.js';
import type { StateRecord } from '../runs/records.js';
import { writeState } from '../runs/run-records.js';
import { isoTime } from '../shared/clock.js';
import { messageOf } from '../shared/errors.js';
import { isComplete } from '../shared/outcome.js';
import { closeInTime } from './close-in-time.js';
import { createDiskPatience, type DiskPatience } from './disk-patience.js';
import { isMendedInScript, resumeCommandOf } from '../shared/resume-command.js';
import { explainEnd, type Outcome } from './explain-end.js';
import type { PreparedRun } from './prepare-run.js';
import type { RunResult } from './run-options.js';
import type { RunParts } from './run-parts.js';
import { nameTheirWorktrees } from './worktrees-folder.js';

export async function finishRun(parts: RunParts, end: EngineEnd): Promise<RunResult> {
  const { engine, journal, heartbeat, folder, record, claim, clock, given, notices } = parts;
  try {
    await closeInTime(() => parts.backend.close(), clock);
  } catch (error) {
    notices.push(`The backend could not be closed: ${messageOf(error)}.`);
  }
  const patience = createDiskPatience(clock);
  // Another owner's run may be at work by now: what is not written stays unwritten.
  if (end.how !== 'owner-lost')
    await patience.until(async () => {
      await journal.flush();
      return journal.unwritten.lines === 0;
    });
  const unwritten = journal.unwritten.lines;
  if (unwritten > 0)
    notices.push(`The journal is incomplete: ${unwritten} lines could not be written (${journal.unwritten.reason}).`);
  if (given.record !== undefined) await writeRecording(parts, given.record, end.how === 'done');
  const counts = engine.tally.counts;
  const successor = end.how === 'owner-lost' ? findSuccessor(parts) : undefined;
  const outcome = explainEnd(end, counts, given.allowFailures === true, parts.exitCode, successor);
  const endedAt = isoTime(clock.now());
  heartbeat.stop();
  const owned = end.how !== 'owner-lost' && claim.isLatest();
  let isStateWritten = true;
  if (owned) {
    const state = makeState(parts, outcome, endedAt, unwritten);
    isStateWritten = await attempt(patience, parts, 'state.json', () => writeState(folder, state));
    await attempt(patience, parts, 'run.json', () =>
      heartbeat.update({ status: outcome.status, endedAt, owner: null, guard: null, control: null }),
    );
  }
  // A network file system may tell of a failed write only here; the lineage is given up all the same.
  try {
    parts.sourceJournal?.journal.close();
    journal.close();
  } catch (error) {
    notices.push(`The journal could not be closed: ${messageOf(error)}.`);
  }
  await parts.lock.release();
  claim.release();
  if (owned) await prune(parts);
  const finished = {
    runId: record.runId,
    folder,
    status: outcome.status,
    exitCode: outcome.exitCode,
    counts,
    usage: engine.tally.usage,
    ...(outcome.error === undefined ? {} : { error: outcome.error }),
    journalComplete: unwritten === 0,
    ...(parts.worktrees.length === 0 ? {} : { worktrees: [...parts.worktrees] }),
  };
  parts.tell({
    t: isoTime(clock.now()),
    type: 'run.finished',
    ...finished,
    ...(isStateWritten ? {} : { stateWritten: false as const }),
    hasResult: 'result' in outcome,
    notStarted: engine.tally.notStarted,
    phases: engine.tally.phases,
    failures: engine.tally.failures,
    ...(engine.tally.lastTries === undefined ? {} : { lastTries: engine.tally.lastTries }),
    ...(engine.tally.scriptErrors === undefined ? {} : { scriptErrors: engine.tally.scriptErrors }),
    durationMs: clock.now() - parts.startedAt,
    // What another run has by now, a resume of this one would pay for again.
    ...(isComplete(outcome.status, counts) || end.how === 'owner-lost'
      ? {}
      : { resumeCommand: resumeCommand(parts, outcome) }),
  });
  parts.events.close();
  parts.guard?.close();
  return { ...finished, ...('result' in outcome ? { result: outcome.result } : {}), notices };
}

function findSuccessor({ claim }: RunParts): Claim | null | undefined {
  try {
    const latest = readLatestClaim(claim.folder);
    return latest !== undefined && latest.n > claim.n ? latest.claim : undefined;
  } catch {
    return undefined;
  }
}

/** What goes wrong with it takes nothing from the run. */
async function writeRecording(
  { folder, prepared, tell, clock }: RunParts,
  file: string,
  hasEnded: boolean,
): Promise<void> {
  try {
    const { recordAnswers } = await import('./record-answers.js');
    recordAnswers(folder, resolve(prepared.places.cwd, file), hasEnded);
  } catch (error) {
    const message = `The answers could not be recorded in ${file}: ${messageOf(error)}.`;
    tell({ t: isoTime(clock.now()), type: 'warning', code: 'WF_RECORD', message });
  }
}

function resumeCommand({ engine, record, given, prepared }: RunParts, outcome: Outcome): string {
  const isMended = isMendedInScript(outcome.cause, engine.tally.failures);
  const script = isMended ? (given.script ?? pathFrom(prepared)) : undefined;
  // Not on record: it speaks to whoever sits there, and who has said no would be asked nothing.
  const asks = given.confirm === undefined ? '' : ` --confirm-above ${given.confirm.above}`;
  return resumeCommandOf(record.runId, given.runsDir, script) + asks;
}

const pathFrom = ({ scriptPath, places }: PreparedRun): string | undefined =>
  scriptPath === null ? undefined : relative(places.cwd, scriptPath);

function makeState(parts: RunParts, outcome: Outcome, endedAt: string, unwritten: number): StateRecord {
  const { engine, record, journal, notices } = parts;
  return {
    version: 1,
    runId: record.runId,
    workflow: record.workflow,
    status: outcome.status,
    cause: outcome.cause,
    exitCode: outcome.exitCode,
    startedAt: record.startedAt,
    endedAt,
    backend: record.options.backend,
    madeUp: record.madeUp,
    resumedFrom: record.lineage.resumedFrom,
    ...('result' in outcome ? { result: outcome.result } : {}),
    ...(outcome.error === undefined ? {} : { error: outcome.error }),
    counts: { ...engine.tally.counts },
    usage: { ...engine.tally.usage },
    phases: engine.tally.phases.map(({ title, counts }) => ({ title, counts: { ...counts } })),
    failures: engine.tally.failures.map((failure) => ({ ...failure })),
    ...(engine.tally.scriptErrors === undefined ? {} : { scriptErrors: engine.tally.scriptErrors }),
    ...(parts.worktrees.length === 0 ? {} : { worktrees: [...parts.worktrees] }),
    journal: { complete: unwritten === 0, bytes: journal.size, unwritten },
    notices,
  };
}

/** The journal is the truth: a record that cannot be written never takes a result with it. */
async function attempt(
  patience: DiskPatience,
  { tell, clock }: RunParts,
  name: string,
  write: () => void,
): Promise<boolean> {
  let reason = '';
  const isWritten = await patience.until(() => {
    try {
      write();
      return true;
    } catch (error) {
      reason = messageOf(error);
      return false;
    }
  });
  if (isWritten) return true;
  const message = `${name} could not be written: ${reason}. What stands in the journal can be reused all the same.`;
  tell({ t: isoTime(clock.now()), type: 'warning', code: 'WF_NOTICE', message });
  return false;
}

async function prune({ prepared, record, given, tell, clock }: RunParts): Promise<void> {
  const spare = new Set([record.runId]);
  const report = await pruneRuns({
    runsFolder: prepared.places.runsFolder,
    keep: given.keep ?? 50,
    spare,
    now: clock.now(),
  });
  const warn = (message: string): void => {
    tell({ t: isoTime(clock.now()), type: 'warning', code: 'WF_PRUNE', message });
  };
  for (const message of [...report.warnings, ...nameTheirWorktrees(report, prepared.places.root)]) warn(message);
  const lost = report.removed.filter((run) => run.resumable);
  if (lost.length > 0) {
    const names = lost.slice(0, 5).map((run) => `${run.runId} (${run.workflow})`);
    warn(
      `Pruned ${lost.length} old ${lost.length === 1 ? 'run' : 'runs'} that could have been resumed: ${names.join(', ')}${lost.length > 5 ? ', …' : ''}.`,
    );
  }
}
