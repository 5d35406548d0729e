import { join } from 'node:path';
import { findFurtherRun } from '../runs/find-further-run.js';
import { findRun } from '../runs/find-run.js';
import { observeRuns } from '../runs/observe-runs.js';
import type { ForeignRun } from '../runs/foreign-run.js';
import type { StateRecord } from '../runs/records.js';
import { inspectRunRecord } from '../runs/run-records.js';
import { type ObservedRun, observeRun, type RunSummary } from '../runs/run-status.js';
import { JOURNAL_FILE } from '../runs/runs-folder.js';
import type { Counts, ErrorRecord, RunStatus, Usage } from '../shared/outcome.js';
import { findPlaces, type Places } from './prepare-run.js';
import type { CallDetail, CallView } from './call-view.js';
import { countRecorded, countRecordedPhases, sumRecordedUsage } from './count-recorded.js';
import { howToGoOn } from './how-to-go-on.js';
import { type ReadCalls, readCalls } from './read-calls.js';
import type { RunWorkflowOptions } from './run-options.js';
import { statIfThere } from '../shared/stat-if-there.js';

type Where = Pick<RunWorkflowOptions, 'cwd' | 'home' | 'env' | 'runsDir'>;

/** A run as `wf show --json` tells it. */
export interface RunView extends RunSummary {
  result?: unknown;
  error?: ErrorRecord;
  phases: { title: string | null; counts: Counts }[];
  /** In call order. */
  calls: CallView[];
  notices: string[];
  /** The run that went on from it and got furthest; absent where none has an answer more. `resumeCommand` is then that run's. */
  wentOn?: { runId: string; status: RunStatus; answers: number };
  /** How to go on; `null` where nothing is left to do, the run has not ended, or no resume can go on from it. */
  resumeCommand: string | null;
}

/**
 * Runs of the project, newest first. Reads only; a bad folder is one row that says so.
 *
 * @example listRuns().filter((run) => run.status === 'interrupted')
 */
export function listRuns(where: Where = {}, onWarning?: (message: string) => void): RunSummary[] {
  const { readFolders } = findPlaces(where);
  return observeRuns({ runsFolders: readFolders, ...(onWarning === undefined ? {} : { onWarning }) }).map(recount);
}

/** A run that was killed has numbers as of its last heartbeat; where its journal has grown since, the journal is right. */
function recount(summary: RunSummary): RunSummary {
  if (summary.status !== 'interrupted' || summary.endedAt !== null) return summary;
  const reading = inspectRunRecord(summary.folder);
  if (reading.kind !== 'ok') return summary;
  if (sizeOf(join(summary.folder, JOURNAL_FILE)) <= reading.record.progress.journalBytes) return summary;
  const recorded = readCalls(summary.folder, false);
  return { ...summary, counts: countRecorded(recorded), usage: sumOf(recorded, summary) };
}

const sumOf = ({ calls }: ReadCalls, { usage, madeUp }: RunSummary): Usage => sumRecordedUsage(calls, usage, madeUp);

/** 0 for what cannot be looked at, such as a link that leads to itself: no run keeps others out of the list. */
function sizeOf(path: string): number {
  try {
    return statIfThere(path)?.size ?? 0;
  } catch {
    return 0;
  }
}

/** A run with its calls, and each call's texts for the asking. */
export interface ReadRun extends RunView {
  /** In call order, without prompts, options and answers: these may be more than the memory holds. */
  details: CallDetail[];
  /** One call with its texts, by its number. */
  readDetail(n: number): CallDetail | undefined;
}

/**
 * One run with its calls.
 *
 * @param id UUID, or a prefix that only one run has
 * @throws WfError `WF_RUN_ID`, `WF_RUN_UNKNOWN`
 */
export function readRun(id: string, where: Where = {}): ReadRun {
  const places = findPlaces(where);
  const { folder } = findRun(id, places.readFolders);
  const observed = observeRun(folder);
  const { summary, state, foreign } = observed;
  if (foreign !== undefined) return viewForeign(summary, foreign);
  const recorded = readCalls(folder, summary.status === 'running');
  const { calls, notices, readDetail } = recorded;
  const counts = state === null ? countRecorded(recorded) : summary.counts;
  const usage = state === null ? sumOf(recorded, summary) : summary.usage;
  const problems = [summary.damaged, summary.unsupported].filter((text) => text !== undefined);
  const onward = readOnward(observed, counts, places, where.runsDir);
  return {
    ...summary,
    counts,
    usage,
    ...(state !== null && 'result' in state ? { result: state.result } : {}),
    ...(state?.error === undefined ? {} : { error: state.error }),
    phases: state?.phases ?? countRecordedPhases(recorded),
    calls: calls.map(toView),
    notices: [
      ...new Set([
        ...problems,
        ...(state?.notices ?? []),
        ...notices,
        ...(notices.length === 0 ? findContradiction(state, calls) : []),
      ]),
    ],
    ...onward,
    details: calls,
    readDetail,
  };
}

/** The outcome is written once from what the journal holds; where the two differ since, the journal is what a resume goes by. */
function findContradiction(state: StateRecord | null, calls: readonly CallDetail[]): string[] {
  const answers = calls.filter((call) => call.status === 'ok').length;
  if (state === null || state.counts.ok === answers) return [];
  return [
    `state.json counts ${state.counts.ok} ${state.counts.ok === 1 ? 'answer' : 'answers'}, the journal holds ${answers}: a resume goes by the journal.`,
  ];
}

/** Where another run has gone on from it already, that one is gone on from: what it has need not be paid for again. */
function readOnward(
  observed: ObservedRun,
  counts: Counts,
  places: Places,
  runsDir: string | undefined,
): Pick<RunView, 'wentOn' | 'resumeCommand'> {
  const resumeCommand = howToGoOn(observed, places, runsDir, counts);
  const further = resumeCommand === null ? undefined : findFurtherRun(observed.summary, places.readFolders);
  if (further === undefined) return { resumeCommand };
  const then = observeRun(further.folder);
  const wentOn = { runId: further.runId, status: then.summary.status, answers: further.answers };
  return { wentOn, resumeCommand: howToGoOn(then, places, runsDir) };
}

/** What another engine recorded; a call there has no label, attempts and times that are known. */
function viewForeign(summary: RunSummary, foreign: ForeignRun): ReadRun {
  const calls = foreign.calls.map(
    (call): CallDetail => ({
      n: call.seq + 1,
      seq: null,
      nth: null,
      path: null,
      key: call.key,
      label: '',
      phase: call.phase,
      status: call.status,
      reused: false,
      from: null,
      attempts: 0,
      startedAt: null,
      endedAt: null,
      ...(call.reason === null ? {} : { error: { code: 'WF_AGENT_FAILED', message: call.reason } }),
      ...('output' in call ? { output: call.output } : {}),
      ...(call.model === null ? {} : { model: call.model }),
    }),
  );
  const bad = foreign.unreadableLines;
  return {
    ...summary,
    ...('result' in foreign ? { result: foreign.result } : {}),
    ...(foreign.error === null ? {} : { error: { code: 'WF_RUN_FOREIGN', message: foreign.error } }),
    // In which order that engine asked for equal calls and heard of them, its lines do not say.
    phases: countRecordedPhases({ calls, askedByEnd: new Map() }),
    calls: calls.map(toView),
    notices: [
      ...(summary.unsupported === undefined ? [] : [summary.unsupported]),
      ...(bad === 0 ? [] : [`The journal has ${bad} unreadable ${bad === 1 ? 'line' : 'lines'}.`]),
    ],
    resumeCommand: null,
    details: calls,
    readDetail: (n) => calls.find((call) => call.n === n),
  };
}

/** A row of the run: what only `wf show <run> <call>` shows stays out. */
function toView({
  prompt: _p,
  options: _o,
  output: _a,
  usage: _u,
  model: _m,
  backend: _b,
  sessionId: _s,
  ...view
}: CallDetail): CallView {
  return view;
}
