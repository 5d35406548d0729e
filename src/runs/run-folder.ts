/**
 * A run folder is born whole: built beside its place and renamed into it, so that nobody ever sees one without its
 * `run.json` and script, and a run whose id was told to anybody is on the disk.
 */
import { closeSync, fsyncSync, mkdtempSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode, WfError } from '../shared/errors.js';
import type { RunRecord } from './records.js';
import {
  ensureRunsFolder,
  JOURNAL_FILE,
  lookAt,
  NEW_PREFIX,
  RUN_FILE,
  runsFolderError,
  SCRIPT_FILE,
  syncFolder,
} from './runs-folder.js';

/**
 * Creates `<runsFolder>/<record.runId>` (0700) with `run.json`, `script.js` and an empty `journal.jsonl` (0600), flushed
 * to the disk, and makes the runs folder itself if need be.
 *
 * @param options.script the script that is executed, byte for byte
 * @returns the run folder's path
 * @throws WfError `WF_RUN_ID` if the id is taken, `WF_RUNS_DIR` if the folder cannot be written
 *
 * @example
 * const folder = createRunFolder({ runsFolder, record, script: source });
 */
export function createRunFolder(options: {
  runsFolder: string;
  record: RunRecord;
  script: string | Uint8Array;
}): string {
  const { runsFolder, record, script } = options;
  ensureRunsFolder(runsFolder);
  const folder = join(runsFolder, record.runId);
  let building: string | undefined;
  try {
    if (lookAt(folder) !== undefined) throw takenError(record.runId, folder);
    // The random end lets a start with the same `--run-id` go on beside what a killed one left.
    building = mkdtempSync(join(runsFolder, `${NEW_PREFIX}${record.runId}-`));
    writeNewFile(join(building, SCRIPT_FILE), script);
    writeNewFile(join(building, JOURNAL_FILE), '');
    writeNewFile(join(building, RUN_FILE), `${JSON.stringify(record, null, 2)}\n`);
    syncFolder(building);
    renameSync(building, folder);
    syncFolder(runsFolder);
    return folder;
  } catch (error) {
    if (building !== undefined) rmSync(building, { recursive: true, force: true });
    if (WfError.is(error)) throw error;
    const isTaken = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(systemCode(error) ?? '');
    if (isTaken && lookAt(folder) !== undefined) throw takenError(record.runId, folder);
    throw runsFolderError(runsFolder, error);
  }
}

const takenError = (runId: string, folder: string): WfError =>
  new WfError('WF_RUN_ID', `The run id ${runId} is already taken: ${folder} exists.`, {
    remedy: 'Leave --run-id away or give a new UUID. To go on from that run, use --resume-from.',
  });

function writeNewFile(path: string, content: string | Uint8Array): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    const bytes = Buffer.from(content);
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
