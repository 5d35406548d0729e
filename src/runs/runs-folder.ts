/**
 * The folder that holds all runs of a project, and what its entries are called.
 * `<uuid>` a run · `.new-*` a run being built · `.trash-*` a run being removed · `.claims` who holds which lineage ·
 * `.repaired` copies of damaged runs, a runs folder of its own.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { messageOf, systemCode, WfError } from '../shared/errors.js';
import { lstatIfThere } from '../shared/stat-if-there.js';
import { isRunId } from '../shared/ids.js';

export const RUN_FILE = 'run.json';
export const STATE_FILE = 'state.json';
export const SCRIPT_FILE = 'script.js';
export const JOURNAL_FILE = 'journal.jsonl';
export const EVENTS_FILE = 'events.jsonl';
export const CLAIMS_FOLDER = '.claims';
export const REPAIRED_FOLDER = '.repaired';
export const NEW_PREFIX = '.new-';
export const TRASH_PREFIX = '.trash-';

/**
 * Makes the runs folder if there is none, together with a `.gitignore` that keeps all of it out of commits.
 * A folder that exists already is somebody's choice and gets no `.gitignore`.
 *
 * @throws WfError `WF_RUNS_DIR` where it cannot be made.
 */
export function ensureRunsFolder(runsFolder: string): void {
  if (existsSync(runsFolder)) return;
  const parent = dirname(runsFolder);
  let built: string | undefined;
  try {
    mkdirSync(parent, { recursive: true });
    built = mkdtempSync(join(parent, `.${basename(runsFolder)}.`));
    writeFileSync(join(built, '.gitignore'), '*\n', { mode: 0o600 });
    renameSync(built, runsFolder);
    syncFolder(parent);
  } catch (error) {
    if (built !== undefined) rmSync(built, { recursive: true, force: true });
    if (!existsSync(runsFolder)) throw runsFolderError(runsFolder, error);
  }
}

/** The error for a runs folder that cannot be written. */
export function runsFolderError(runsFolder: string, error: unknown): WfError {
  return new WfError('WF_RUNS_DIR', `Runs cannot be written to ${runsFolder}: ${messageOf(error)}.`, {
    remedy: 'Make the folder writable, or give another one with --runs-dir <folder> (or WF_RUNS_DIR).',
    cause: error,
  });
}

export interface RunFolder {
  runId: string;
  /** Absolute, as far as the runs folder was. */
  folder: string;
  /** False where the folder's content is hidden from us; such a folder may be named, never removed. */
  readable: boolean;
}

/** Run folders in `runsFolder`, unordered; none where the folder does not exist. Throws what the file system throws. */
export function listRunFolders(runsFolder: string): RunFolder[] {
  return listNames(runsFolder).flatMap((name) => findRunFolder(runsFolder, name) ?? []);
}

/** A run folder is a real folder, no link, named by a UUID, that holds what only a run folder holds. */
export function findRunFolder(runsFolder: string, runId: string): RunFolder | undefined {
  const folder = join(runsFolder, runId);
  if (!isRunId(runId) || !isRealFolder(folder)) return undefined;
  const found = [RUN_FILE, SCRIPT_FILE, JOURNAL_FILE].map((name) => lookUp(join(folder, name)));
  if (found.includes('there')) return { runId, folder, readable: true };
  return found.includes('hidden') ? { runId, folder, readable: false } : undefined;
}

/** Names in a folder; none where it does not exist. */
export function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

export const isRealFolder = (path: string): boolean => lookAt(path)?.isDirectory() === true;

/** What is at a path, a link not followed; `undefined` for nothing. Throws what else the file system throws. */
export const lookAt = lstatIfThere;

function lookUp(path: string): 'there' | 'absent' | 'hidden' {
  try {
    return lookAt(path) === undefined ? 'absent' : 'there';
  } catch {
    return 'hidden';
  }
}

/** Flushes names made in a folder to the disk, where the file system can do that. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EBADF', 'EPERM'].includes(systemCode(error) ?? '')) throw error;
  } finally {
    closeSync(fd);
  }
}
