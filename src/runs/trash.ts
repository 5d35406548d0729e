/** Removing a folder in two steps: out of sight by one rename, then for good. */
import { existsSync, renameSync, utimesSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemCode } from '../shared/errors.js';
import { TRASH_PREFIX } from './runs-folder.js';

/**
 * Renames `<folder>` to `.trash-<name>` beside it. `undefined` when somebody else had already taken it away; throws what
 * the file system throws.
 */
export function moveToTrash(folder: string, now: number): string | undefined {
  const plain = join(dirname(folder), `${TRASH_PREFIX}${basename(folder)}`);
  // Something of that name is left where a removal failed and the id was used again.
  const trash = existsSync(plain) ? `${plain}-${process.pid}-${now}` : plain;
  try {
    renameSync(folder, trash);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    // From now on its age is the time since it went to the trash.
    utimesSync(trash, now / 1000, now / 1000);
  } catch {
    // Then another pruner may help to remove it.
  }
  return trash;
}

const TRIES = 4;
const PAUSE_MS = 50;

/** Removes a folder with all that is in it. Two processes may remove the same one. Throws what the file system throws. */
export async function removeFolder(folder: string): Promise<void> {
  const { remove } = await import('fs-extra/esm');
  for (let tries = 1; ; tries++) {
    try {
      await remove(folder);
      return;
    } catch (error) {
      if (!existsSync(folder)) return;
      if (tries === TRIES) throw error;
      await delay(PAUSE_MS);
    }
  }
}
