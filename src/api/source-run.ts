/** The run that a resume goes on from. It is only read: its folder stays byte-identical, its times too. */
import { join } from 'node:path';
import { openFileSource } from '../journal/file-store.js';
import { memorySource } from '../journal/memory-store.js';
import { describeDamage, scanJournal } from '../journal/read-journal.js';
import type { JournalSource } from '../journal/store.js';
import { findRun, findRunById } from '../runs/find-run.js';
import type { RunRecord } from '../runs/records.js';
import { inspectRunRecord, inspectState, readRunRecord } from '../runs/run-records.js';
import { JOURNAL_FILE } from '../runs/runs-folder.js';
import { messageOf, systemCode, WfError } from '../shared/errors.js';
import { parseRunId } from '../shared/ids.js';
import { readStoredScript } from './stored-script.js';

export interface SourceRun {
  /** The run that was named. */
  record: RunRecord;
  folder: string;
  /** The script that ran. @throws WfError `WF_RUN_DAMAGED` */
  readScript(): string;
}

export interface SourceJournal {
  journal: JournalSource;
  /** The run that wrote it: the named one, or its parent when the named one was killed before it had copied it. */
  runId: string;
  /** That run's folder. */
  folder: string;
  notices: string[];
}

/**
 * @throws WfError `WF_RUN_ID`, `WF_RUN_UNKNOWN`, `WF_RUN_FOREIGN`, `WF_VERSION_NEWER`, `WF_RUN_DAMAGED`
 */
export function readSourceRun(id: string, runsFolders: readonly string[]): SourceRun {
  const { folder } = findRunById(parseWholeId(id, runsFolders), runsFolders);
  const record = readRunRecord(folder);
  return { record, folder, readScript: () => readStoredScript(folder, record) };
}

/** What says how to go on says nothing where there is no run to go on from: whoever gives it expects something of it. */
export function refuseWithoutSource({
  strict,
  fork,
}: {
  strict?: boolean | undefined;
  fork?: boolean | undefined;
}): void {
  const flag = fork ? '--fork' : strict ? '--strict' : undefined;
  if (flag === undefined) return;
  throw new WfError('WF_USAGE', `${flag} says how a run goes on, and no run to go on from is named.`, {
    remedy: `Name it with --resume-from <uuid>, or leave ${flag} out.`,
  });
}

/** Who gives the beginning of an id is told the whole one: a resume spends money, and what is meant must be certain. */
function parseWholeId(text: string, runsFolders: readonly string[]): string {
  try {
    return parseRunId(text);
  } catch (error) {
    const meant = findMeant(text, runsFolders);
    if (!WfError.is(error) || meant === undefined) throw error;
    throw new WfError(error.code, error.message, {
      remedy: `A resume takes the whole id. The run that begins so: ${meant}.`,
    });
  }
}

function findMeant(text: string, runsFolders: readonly string[]): string | undefined {
  try {
    return findRun(text, runsFolders).runId;
  } catch {
    return undefined;
  }
}

/**
 * Opens the journal to go on from. The record is read anew: its owner may have written until the lineage was claimed.
 *
 * @throws WfError `WF_STRICT` for a damaged journal when `strict`; `WF_RUN_UNKNOWN` when the run was pruned meanwhile
 */
export function openSourceJournal(source: SourceRun, runsFolders: readonly string[], strict = false): SourceJournal {
  const { runId } = source.record;
  const notices: string[] = [];
  let found: { folder: string; runId: string } = { folder: findRunById(runId, runsFolders).folder, runId };
  for (let current = readRunRecord(found.folder); !current.copied && current.lineage.resumedFrom !== null; ) {
    const parent = current.lineage.resumedFrom;
    notices.push(
      `Run ${current.runId} ended before it had taken over the journal of ${parent}; the journal of ${parent} is used.`,
    );
    const folder = findParent(parent, runsFolders);
    if (folder === undefined) {
      notices.push(`Run ${parent} is no longer there, so there is nothing to reuse; every call runs.`);
      break;
    }
    found = { folder, runId: parent };
    current = readRunRecord(folder);
  }
  return { journal: openJournal(found.folder, notices, strict), ...found, notices };
}

function findParent(id: string, runsFolders: readonly string[]): string | undefined {
  try {
    return findRunById(id, runsFolders).folder;
  } catch (error) {
    if (WfError.is(error) && error.code === 'WF_RUN_UNKNOWN') return undefined;
    throw error;
  }
}

/** The journal is a cache: where it cannot be read, everything runs, and that is said. With `strict` it is refused. */
function openJournal(folder: string, notices: string[], strict: boolean): JournalSource {
  let journal: JournalSource;
  try {
    journal = openFileSource(join(folder, JOURNAL_FILE));
  } catch (error) {
    const what =
      systemCode(error) === 'ENOENT' ? 'is missing' : `cannot be read (${systemCode(error) ?? messageOf(error)})`;
    if (strict) throw refuse(`The journal of the source run ${what}.`);
    notices.push(`The journal of the source run ${what}: no result can be reused, every call runs.`);
    return memorySource(Buffer.alloc(0));
  }
  const lost = recordedBytes(folder) - journal.size;
  if (lost > 0) {
    const message = `The journal of the source run is ${lost} bytes shorter than its record says`;
    if (strict) throw refuse(`${message}.`);
    notices.push(`${message}: what is missing runs again.`);
  }
  if (strict) refuseDamage(journal);
  return journal;
}

const refuse = (message: string): WfError =>
  new WfError('WF_STRICT', message, {
    remedy: 'Look at the run with wf show; without --strict the good lines are reused and the rest runs again.',
  });

function refuseDamage(journal: JournalSource): void {
  const scan = scanJournal(journal, 'key');
  let next = scan.next();
  while (!next.done) next = scan.next();
  const damage = describeDamage(next.value);
  if (damage !== undefined) throw refuse(`The journal of the source run has ${damage}.`);
}

/** Bytes that the run's own records say were written. */
function recordedBytes(folder: string): number {
  const state = inspectState(folder);
  if (state.kind === 'ok') return state.record.journal.bytes;
  const run = inspectRunRecord(folder);
  return run.kind === 'ok' ? run.record.progress.journalBytes : 0;
}
