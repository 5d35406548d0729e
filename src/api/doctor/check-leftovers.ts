/** Files that a killed `wf` left half made: temporary files of records, run folders in the making or on their way out. */
import { rmSync, utimesSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isProcessAlive } from '../../shared/process-info.js';
import { CLAIMS_FOLDER, lookAt, NEW_PREFIX, TRASH_PREFIX } from '../../runs/runs-folder.js';
import type { DoctorCheck, DoctorContext, Finding } from './finding.js';
import { namesIn } from './names-in.js';
import { REPAIRED_FOLDER } from './repaired-copy.js';

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
    const found = [...findTemporaryFiles(context), ...findFolders(context)];
    if (found.length === 0) return [{ status: 'ok', message: 'No half-made file or folder is left over.' }];
    return found.map(tellLeftover);
  },
};

function tellLeftover(path: string): Finding {
  return {
    status: 'warn',
    message: `${path} was left half made or half removed by a wf that is gone.`,
    remedy: 'Nobody reads it. --fix removes it.',
    path,
    fix() {
      const parent = dirname(path);
      const stat = lookAt(parent);
      rmSync(path, { recursive: true, force: true });
      // Pruning goes by the times of run folders: tidying up must not make an old run a new one.
      if (stat !== undefined) utimesSync(parent, stat.atime, stat.mtime);
      return `removed ${basename(path)}`;
    },
  };
}

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
  const building = `.${basename(runsFolder)}.`;
  const parent = dirname(runsFolder);
  const claims = join(runsFolder, CLAIMS_FOLDER);
  return [
    ...pathsIn(runsFolder, (name) => name.startsWith(NEW_PREFIX) || name.startsWith(TRASH_PREFIX)),
    ...pathsIn(claims, (name) => name.startsWith(TRASH_PREFIX)),
    ...pathsIn(join(runsFolder, REPAIRED_FOLDER), (name) => name.startsWith(NEW_PREFIX)),
    // `mkdtemp` adds six characters.
    ...pathsIn(parent, (name) => name.startsWith(building) && name.length === building.length + 6),
  ].filter((path) => lookAt(path)?.isDirectory() === true && ageOf(path, now) > FOLDER_SETTLED_MS);
}

const pathsIn = (folder: string, fits: (name: string) => boolean): string[] =>
  namesIn(folder)
    .filter(fits)
    .map((name) => join(folder, name));

const ageOf = (path: string, now: number): number => now - (lookAt(path)?.mtimeMs ?? now);
