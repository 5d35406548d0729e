/**
 * The repair of a run with a damaged journal: a copy of its folder, elsewhere, whose journal holds the good lines byte for
 * byte. The run itself stays as it is: its damage is evidence, and a resume can do without the bad lines anyway.
 */
import {
  closeSync,
  copyFileSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { openFileSource } from '../../journal/file-store.js';
import { scanJournal } from '../../journal/read-journal.js';
import { inspectRunRecord, inspectState, writeRunRecord, writeState } from '../../runs/run-records.js';
import {
  JOURNAL_FILE,
  listNames,
  lookAt,
  NEW_PREFIX,
  REPAIRED_FOLDER,
  type RunFolder,
} from '../../runs/runs-folder.js';

const NEWLINE = Buffer.from('\n');

/** `<runs folder>/.repaired/<run id>`: a runs folder of its own, for `--runs-dir`. */
export const repairedCopyOf = (runsFolder: string, runId: string): string => join(runsFolder, REPAIRED_FOLDER, runId);

/** Built beside its place and renamed, so that a copy that is there is whole. */
export function writeRepairedCopy(runsFolder: string, { runId, folder }: RunFolder): string {
  const copy = repairedCopyOf(runsFolder, runId);
  const building = join(runsFolder, REPAIRED_FOLDER, `${NEW_PREFIX}${runId}-${process.pid}`);
  mkdirSync(building, { recursive: true, mode: 0o700 });
  try {
    for (const name of listNames(folder)) {
      // Temporary files and links are no part of a run.
      if (name === JOURNAL_FILE || name.startsWith('.') || !lookAt(join(folder, name))?.isFile()) continue;
      copyFileSync(join(folder, name), join(building, name));
    }
    const lines = copyGoodLines(join(folder, JOURNAL_FILE), join(building, JOURNAL_FILE));
    markCopy(building);
    renameSync(building, copy);
    return `wrote a copy with the ${lines === 1 ? 'one good line' : `${lines} good lines`}; use it with --runs-dir ${join(runsFolder, REPAIRED_FOLDER)}`;
  } catch (error) {
    rmSync(building, { recursive: true, force: true });
    throw error;
  }
}

/** The records speak of the copy's own journal, which is whole; and pruning knows the copy by its mark. */
function markCopy(copy: string): void {
  const { size } = statSync(join(copy, JOURNAL_FILE));
  const run = inspectRunRecord(copy);
  if (run.kind === 'ok') {
    const progress = { ...run.record.progress, journalBytes: size };
    writeRunRecord(copy, { ...run.record, progress, repairedCopy: true });
  }
  const state = inspectState(copy);
  if (state.kind === 'ok') {
    writeState(copy, { ...state.record, journal: { ...state.record.journal, bytes: size } });
  }
}

function copyGoodLines(from: string, to: string): number {
  const journal = openFileSource(from);
  const fd = openSync(to, 'wx', 0o600);
  let lines = 0;
  try {
    for (const { offset, length } of scanJournal(journal, 'key')) {
      writeAll(fd, Buffer.concat([journal.readAt(offset, length), NEWLINE]));
      lines++;
    }
    fsyncSync(fd);
  } finally {
    closeSync(fd);
    journal.close();
  }
  return lines;
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}
