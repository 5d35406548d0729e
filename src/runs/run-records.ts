/**
 * Reads and writes `run.json` and `state.json`. A record is ours and whole, or it is refused by name: damaged, written by
 * a newer `wf`, or made by another engine. These three are never mistaken for one another.
 */
import { basename, join } from 'node:path';
import type { z } from 'zod';
import { WfError } from '../shared/errors.js';
import { isRunId } from '../shared/ids.js';
import { isForeignRun } from './foreign-run.js';
import { readRecordFile, writeRecordFile } from './record-file.js';
import {
  RUN_RECORD_VERSION,
  type RunRecord,
  runRecordSchema,
  STATE_RECORD_VERSION,
  type StateRecord,
  stateRecordSchema,
} from './records.js';
import { isRealFolder, RUN_FILE, STATE_FILE } from './runs-folder.js';

/** Why a record is not taken at its word. */
export interface RecordProblem {
  code: 'WF_RUN_DAMAGED' | 'WF_VERSION_NEWER' | 'WF_RUN_FOREIGN';
  /** A clause that begins with the file's name. */
  why: string;
}

/** `value` is what stands in the file when that is a JSON object at all, trusted or not. */
export type RecordReading<T> =
  | { kind: 'ok'; record: T; value: Record<string, unknown> }
  | { kind: 'absent' }
  | { kind: 'bad'; problem: RecordProblem; value?: Record<string, unknown> };

/** Reads `run.json` without throwing. */
export function inspectRunRecord(folder: string): RecordReading<RunRecord> {
  return inspect(folder, RUN_FILE, RUN_RECORD_VERSION, runRecordSchema);
}

/** Reads `state.json` without throwing. */
export function inspectState(folder: string): RecordReading<StateRecord> {
  return inspect(folder, STATE_FILE, STATE_RECORD_VERSION, stateRecordSchema);
}

/**
 * The record of the run in `folder`.
 *
 * @throws WfError `WF_RUN_UNKNOWN` (no such folder), `WF_RUN_DAMAGED`, `WF_VERSION_NEWER` or `WF_RUN_FOREIGN`
 */
export function readRunRecord(folder: string): RunRecord {
  const reading = inspectRunRecord(folder);
  if (reading.kind === 'ok') return reading.record;
  if (reading.kind === 'bad') throw recordError(folder, reading.problem);
  if (!isRealFolder(folder)) {
    throw new WfError('WF_RUN_UNKNOWN', `There is no run in ${folder}; it may have been pruned.`, {
      remedy: '`wf ls` lists the runs that are there.',
    });
  }
  throw recordError(folder, missingRunRecord(inspectState(folder), folder));
}

/**
 * The outcome of the run in `folder`; `null` while none is recorded.
 *
 * @throws WfError `WF_RUN_DAMAGED` or `WF_VERSION_NEWER`
 */
export function readState(folder: string): StateRecord | null {
  const reading = inspectState(folder);
  if (reading.kind === 'bad') throw recordError(folder, reading.problem);
  return reading.kind === 'ok' ? reading.record : null;
}

/** Replaces `run.json` in one step; this also freshens the folder's mtime. Throws what the file system throws. */
export function writeRunRecord(folder: string, record: RunRecord): void {
  writeRecordFile(join(folder, RUN_FILE), record);
}

/** Writes `state.json` in one step, flushed to the disk. Throws what the file system throws. */
export function writeState(folder: string, state: StateRecord): void {
  writeRecordFile(join(folder, STATE_FILE), state);
}

/** `wf` makes no folder without `run.json`: with a foreign `state.json` beside it, another engine made this one. */
export function missingRunRecord(state: RecordReading<StateRecord>, folder: string): RecordProblem {
  if (isForeignRun(folder)) {
    return {
      code: 'WF_RUN_FOREIGN',
      why: `${RUN_FILE} is missing, and the rest is that of another engine, as Peri makes it`,
    };
  }
  const isForeign = state.kind === 'bad' && state.value !== undefined && state.value.version === undefined;
  if (!isForeign) return { code: 'WF_RUN_DAMAGED', why: `${RUN_FILE} is missing` };
  return { code: 'WF_RUN_FOREIGN', why: `${RUN_FILE} is missing, and ${STATE_FILE} is that of another engine` };
}

const REMEDIES: Record<RecordProblem['code'], string> = {
  WF_RUN_DAMAGED: 'The journal beside it is untouched. Start the workflow anew, or put the file back from a copy.',
  WF_VERSION_NEWER: 'Update wf-engine to the version that wrote it, or a later one.',
  WF_RUN_FOREIGN: 'Go on from it with the engine that made it.',
};

/** The same in words, with what can be done. */
export const explainProblem = ({ code, why }: RecordProblem): string => `${why}. ${REMEDIES[code]}`;

function recordError(folder: string, problem: RecordProblem): WfError {
  return new WfError(problem.code, `Run ${basename(folder)}: ${problem.why} (in ${folder}).`, {
    remedy: REMEDIES[problem.code],
  });
}

function inspect<T extends { runId: string }>(
  folder: string,
  name: string,
  version: number,
  schema: z.ZodType<T>,
): RecordReading<T> {
  const file = readRecordFile(join(folder, name));
  if (file.kind === 'absent') return file;
  const damaged = (why: string, value?: Record<string, unknown>): RecordReading<T> => ({
    kind: 'bad',
    problem: { code: 'WF_RUN_DAMAGED', why: `${name} ${why}` },
    ...(value !== undefined && { value }),
  });
  if (file.kind === 'bad') return damaged(file.why);
  if (typeof file.value !== 'object' || file.value === null || Array.isArray(file.value)) {
    return damaged('is not a JSON object');
  }
  const value = file.value as Record<string, unknown>;
  const refused = refuse(name, value, version);
  if (refused !== undefined) return { kind: 'bad', problem: refused, value };
  const parsed = schema.safeParse(value);
  if (!parsed.success) return damaged(`does not fit its format (${firstIssue(parsed.error)})`, value);
  const named = basename(folder);
  if (isRunId(named) && parsed.data.runId !== named) return damaged(`is that of run ${parsed.data.runId}`, value);
  return { kind: 'ok', record: parsed.data, value };
}

function refuse(name: string, value: Record<string, unknown>, version: number): RecordProblem | undefined {
  if (typeof value.engine === 'string' && value.engine !== 'wf-engine') {
    return { code: 'WF_RUN_FOREIGN', why: `${name} was made by another engine, "${value.engine.slice(0, 40)}"` };
  }
  if (typeof value.version === 'number' && value.version > version) {
    return {
      code: 'WF_VERSION_NEWER',
      why: `${name} has format version ${value.version}; this wf reads up to ${version}`,
    };
  }
  return undefined;
}

function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue === undefined ? 'unknown fault' : `${issue.path.join('.') || 'record'}: ${issue.message}`;
}
