/**
 * The status of a run, from its records only and without writing anything. A recorded "running" is a fact of the past;
 * a run is called running only while its owner is seen to live. `interrupted` means no more than: no end is recorded,
 * and no live owner was seen.
 */
import { basename } from 'node:path';
import * as z from 'zod';
import { type Counts, emptyCounts, emptyUsage, type RunStatus, type Usage } from '../shared/outcome.js';
import { type ForeignRun, isForeignRun, readForeignRun } from './foreign-run.js';
import { type OwnerState, ownerState } from './owner.js';
import {
  countsSchema,
  type OwnerRecord,
  ownerSchema,
  type RunRecord,
  runStatusSchema,
  type StateRecord,
  usageSchema,
} from './records.js';
import { explainProblem, inspectRunRecord, inspectState, missingRunRecord, type RecordReading } from './run-records.js';
import { statIfThere } from '../shared/stat-if-there.js';

/** One row of `wf ls --json`. Times are ISO 8601 UTC; what is not known is `null`, or 0 where a number must stand. */
export interface RunSummary {
  runId: string;
  workflow: string;
  status: RunStatus;
  startedAt: string;
  endedAt: string | null;
  resumedFrom: string | null;
  backend: string;
  counts: Counts;
  usage: Usage;
  /** The run folder, absolute. */
  folder: string;
  /** The phase that was last entered, as of the last heartbeat. */
  phase: string | null;
  madeUp: boolean;
  scriptSha256: string | null;
  /** The process that holds the run, or held it when it was interrupted. */
  owner: { pid: number; host: string; heartbeat: string } | null;
  /** What is wrong with the records; the other fields are then what could still be read. */
  damaged?: string;
  /** The records were written by a newer `wf` or by another engine, and are not damaged for that. */
  unsupported?: string;
  /** Why no resume can go on from it, its `run.json` being of no use, and what can be done. Absent where one can. */
  noResume?: string;
  /** Of a run of another engine: what it records apart from its status, `unknown` where it does not say. */
  verdicts?: ForeignRun['verdicts'];
}

export interface ObservedRun {
  summary: RunSummary;
  /** `null` where it is missing, damaged or not ours. */
  record: RunRecord | null;
  /** `null` while no end is recorded, or where it is damaged. */
  state: StateRecord | null;
  /** What is known of the owner's life; `null` where the run names no owner. */
  ownerState: OwnerState | null;
  /** A run of another engine: what its files say. */
  foreign?: ForeignRun;
}

/**
 * Reads a run folder. Never throws for what stands in it, never writes, takes no claim.
 *
 * @param now ms since the epoch
 */
export function observeRun(folder: string, now: number = Date.now()): ObservedRun {
  const run = inspectRunRecord(folder);
  if (run.kind === 'absent' && isForeignRun(folder)) return observeForeign(folder);
  // The owner is judged before the outcome is read: one that ends in between has written its outcome by then.
  const owner = readOwner(run);
  const life = owner === null ? null : ownerState(owner, now);
  const state = inspectState(folder);
  return {
    summary: {
      ...summarise(folder, run, state, life?.state === 'alive'),
      owner: owner && { pid: owner.pid, host: owner.host, heartbeat: owner.heartbeat },
      ...describeProblems(run, state, folder),
    },
    record: run.kind === 'ok' ? run.record : null,
    state: state.kind === 'ok' ? state.record : null,
    ownerState: life,
  };
}

function observeForeign(folder: string): ObservedRun {
  const foreign = readForeignRun(folder);
  const { calls, verdicts } = foreign;
  const number = (status: string): number => calls.filter((call) => call.status === status).length;
  const counts = { calls: calls.length, ok: number('ok'), failed: number('failed'), skipped: number('skipped') };
  const outputTokens = calls.reduce((sum, call) => sum + (call.outputTokens ?? 0), 0);
  const problem = missingRunRecord(inspectState(folder), folder);
  return {
    summary: {
      runId: basename(folder),
      workflow: foreign.workflow ?? 'unknown',
      status: foreign.status,
      startedAt: foreign.startedAt ?? folderTime(folder),
      endedAt: foreign.endedAt,
      resumedFrom: null,
      backend: 'unknown',
      // Reused answers have no line there, so how many were executed is not known beyond these.
      counts: { ...emptyCounts(), ...counts },
      usage: { ...emptyUsage(), outputTokens },
      folder,
      phase: null,
      madeUp: false,
      scriptSha256: null,
      owner: null,
      unsupported: problem.why,
      noResume: explainProblem(problem),
      verdicts,
    },
    record: null,
    state: null,
    ownerState: null,
    foreign,
  };
}

/** The owner that `run.json` names, as far as it can be read, also in a record that is not whole or is newer than us. */
export function readOwner(run: RecordReading<RunRecord>): OwnerRecord | null {
  if (run.kind === 'ok') return run.record.owner;
  const parsed = ownerSchema.safeParse(run.kind === 'bad' ? run.value?.owner : undefined);
  return parsed.success ? parsed.data : null;
}

type Run = RecordReading<RunRecord>;
type State = RecordReading<StateRecord>;
type Fields = Record<string, unknown>;

/** A field at a time, so that one that is missing or wrong costs no other. */
function summarise(folder: string, run: Run, state: State, isOwnerAlive: boolean): Omit<RunSummary, 'owner'> {
  const inRun = fieldsOf(run);
  const inState = fieldsOf(state);
  const inProgress = asFields(inRun.progress);
  const outcome = state.kind === 'ok' ? inState : {};
  // The outcome goes first when it is valid; what is left of one that is not goes last.
  const text = (name: string): string | undefined => firstFit(z.string(), outcome[name], inRun[name], inState[name]);
  const status = judgeStatus(inRun, inState, state.kind === 'ok', isOwnerAlive);
  const counts = firstFit(countsSchema, outcome.counts, inProgress.counts, inState.counts) ?? emptyCounts();
  return {
    runId: basename(folder),
    workflow: text('workflow') ?? 'unknown',
    status,
    startedAt: firstFit(timeSchema, outcome.startedAt, inRun.startedAt, inState.startedAt) ?? folderTime(folder),
    endedAt: firstFit(timeSchema, outcome.endedAt, inRun.endedAt, inState.endedAt) ?? null,
    resumedFrom: text('resumedFrom') ?? firstFit(z.string(), asFields(inRun.lineage).resumedFrom) ?? null,
    backend: text('backend') ?? firstFit(z.string(), asFields(inRun.options).backend) ?? 'unknown',
    counts: status === 'running' ? counts : closeCounts(counts),
    usage: firstFit(usageSchema, outcome.usage, inProgress.usage, inState.usage) ?? emptyUsage(),
    folder,
    phase: firstFit(z.string(), inProgress.phase) ?? null,
    madeUp: firstFit(z.boolean(), outcome.madeUp, inRun.madeUp, inState.madeUp) ?? false,
    scriptSha256: firstFit(z.string(), asFields(inRun.script).sha256) ?? null,
  };
}

/** A call that was open when its owner was last seen has no result recorded once nobody is left to record one. */
function closeCounts(counts: Counts): Counts {
  const { calls, ok, failed, recovered, skipped, abandoned } = counts;
  return { ...counts, noResult: Math.max(counts.noResult, calls - ok - failed - recovered - skipped - abandoned) };
}

function judgeStatus(inRun: Fields, inState: Fields, isOutcomeValid: boolean, isOwnerAlive: boolean): RunStatus {
  const ended = runStatusSchema.exclude(['running']);
  const recorded = firstFit(ended, isOutcomeValid ? inState.status : undefined, inRun.status);
  if (recorded !== undefined) return recorded;
  if (isOwnerAlive) return 'running';
  return firstFit(ended, inState.status) ?? 'interrupted';
}

function describeProblems(
  run: Run,
  state: State,
  folder: string,
): Pick<RunSummary, 'damaged' | 'unsupported' | 'noResume'> {
  const ofRun = run.kind === 'absent' ? missingRunRecord(state, folder) : run.kind === 'bad' ? run.problem : undefined;
  const ofState = state.kind === 'bad' && ofRun?.code !== 'WF_RUN_FOREIGN' ? state.problem : undefined;
  const problems = [ofRun, ofState].filter((problem) => problem !== undefined);
  const join = (areDamage: boolean): string =>
    problems
      .filter(({ code }) => (code === 'WF_RUN_DAMAGED') === areDamage)
      .map(({ why }) => why)
      .join('; ');
  const damaged = join(true);
  const unsupported = join(false);
  return {
    ...(damaged !== '' && { damaged }),
    ...(unsupported !== '' && { unsupported }),
    ...(ofRun !== undefined && { noResume: explainProblem(ofRun) }),
  };
}

const timeSchema = z.string().refine((text) => !Number.isNaN(Date.parse(text)));

function firstFit<T>(schema: z.ZodType<T>, ...values: unknown[]): T | undefined {
  for (const value of values) {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
  }
  return undefined;
}

const fieldsOf = (reading: Run | State): Fields => (reading.kind === 'absent' ? {} : (reading.value ?? {}));

const asFields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});

function folderTime(folder: string): string {
  return (statIfThere(folder)?.mtime ?? new Date(0)).toISOString();
}
