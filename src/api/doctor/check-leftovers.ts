/** Files that a killed `wf` left half made: temporary files of records, run folders in the making or on their way out. */
import { rmSync, utimesSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isProcessAlive } from '../../shared/process-info.js';
import { CLAIMS_FOLDER, lookAt, NEW_PREFIX, REPAIRED_FOLDER, TRASH_PREFIX } from '../../runs/runs-folder.js';
import { isBuiltFolder, removeBuiltFolder } from './built-folder.js';
import type { DoctorCheck, DoctorContext, Finding } from './finding.js';
import { findSchemaFiles, findTestFolders } from './find-temporary.js';
import { namesIn } from './names-in.js';

/** Younger than this, ms, somebody on another machine may still be at it. */
const SETTLED_MS = 60_000;
/** The same for whole folders, which may take long to make or to remove. */
const FOLDER_SETTLED_MS = 3_600_000;

/** `.<name>.<pid>.<n>.tmp` */
const TEMPORARY = /^\..+\.(\d+)\.\d+\.tmp$/;

export const checkLeftovers: DoctorCheck = {
  name: 'leftovers',
  title: 'Leftover files',
  look(context) {
    const found = [
      ...[...findTemporaryFiles(context), ...findFolders(context)].map((path) => tellLeftover(path, removeAll)),
      ...findBuiltFolders(context).map((path) => tellLeftover(path, removeBuiltFolder)),
      ...findSchemaFiles(context).map(({ path, runId }) => tellSchemaFile(path, runId)),
      ...findTestFolders(context),
    ];
    return found.length > 0 ? found : [{ status: 'ok', message: 'No half-made file or folder is left over.' }];
  },
};

function tellLeftover(path: string, remove: (path: string) => void): Finding {
  return {
    status: 'warn',
    message: `${path} was left half made or half removed by a wf that is gone.`,
    remedy: 'Nobody reads it. --fix removes it.',
    path,
    fix: () => tidy(path, remove),
  };
}

const tellSchemaFile = (path: string, runId: string): Finding => ({
  status: 'note',
  message: `${path} holds the schema of a call of run ${runId}, which is over.`,
  remedy: 'Nobody reads it. --fix removes it.',
  runId,
  path,
  // The times of the temp folder are nobody's concern, and most often not ours to set.
  fix() {
    removeAll(path);
    return `removed ${basename(path)}`;
  },
});

function tidy(path: string, remove: (path: string) => void): string {
  const parent = dirname(path);
  const stat = lookAt(parent);
  remove(path);
  // Pruning goes by the times of run folders: tidying up must not make an old run a new one.
  if (stat !== undefined) utimesSync(parent, stat.atime, stat.mtime);
  return `removed ${basename(path)}`;
}

const removeAll = (path: string): void => rmSync(path, { recursive: true, force: true });

function findTemporaryFiles({ runs, places: { runsFolder }, now }: DoctorContext): string[] {
  const folders = [runsFolder, ...runs.map(({ folder }) => folder)];
  return folders.flatMap((folder) =>
    namesIn(folder)
      .filter((name) => TEMPORARY.test(name))
      .filter((name) => !isProcessAlive(Number(TEMPORARY.exec(name)?.[1])))
      .map((name) => join(folder, name))
      .filter((path) => lookAt(path)?.isFile() === true && ageOf(path, now) > SETTLED_MS),
  );
}

/** Pruning removes them as well, when it comes to it. */
function findFolders({ places: { runsFolder }, now }: DoctorContext): string[] {
  const claims = join(runsFolder, CLAIMS_FOLDER);
  return [
    ...pathsIn(runsFolder, (name) => name.startsWith(NEW_PREFIX) || name.startsWith(TRASH_PREFIX)),
    ...pathsIn(claims, (name) => name.startsWith(TRASH_PREFIX)),
    ...pathsIn(join(runsFolder, REPAIRED_FOLDER), (name) => name.startsWith(NEW_PREFIX)),
  ].filter((path) => isSettledFolder(path, now));
}

/** Runs folders in the making. They lie among the user's own files, so the name alone says nothing. */
function findBuiltFolders({ places: { runsFolder }, now }: DoctorContext): string[] {
  const building = `.${basename(runsFolder)}.`;
  // `mkdtemp` adds six characters.
  const fits = (name: string): boolean => name.startsWith(building) && name.length === building.length + 6;
  return pathsIn(dirname(runsFolder), fits).filter((path) => isSettledFolder(path, now) && isBuiltFolder(path));
}

const isSettledFolder = (path: string, now: number): boolean =>
  lookAt(path)?.isDirectory() === true && ageOf(path, now) > FOLDER_SETTLED_MS;

const pathsIn = (folder: string, fits: (name: string) => boolean): string[] =>
  namesIn(folder)
    .filter(fits)
    .map((name) => join(folder, name));

const ageOf = (path: string, now: number): number => now - (lookAt(path)?.mtimeMs ?? now);
