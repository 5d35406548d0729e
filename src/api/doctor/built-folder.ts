/** A runs folder that was being made when its `wf` was killed: what `ensureRunsFolder` puts there, and nothing else. */
import { readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lookAt } from '../../runs/runs-folder.js';

const IGNORE_FILE = '.gitignore';

/** In doubt it is somebody's own. */
export function isBuiltFolder(path: string): boolean {
  try {
    const names = readdirSync(path);
    if (names.length === 0) return true;
    const file = join(path, IGNORE_FILE);
    if (names.length > 1 || names[0] !== IGNORE_FILE || lookAt(file)?.isFile() !== true) return false;
    return ['', '*\n'].includes(readFileSync(file, 'utf8'));
  } catch {
    return false;
  }
}

/** Never takes anything along that came into it since. */
export function removeBuiltFolder(path: string): void {
  if (!isBuiltFolder(path)) throw new Error('there is something else in it now');
  rmSync(join(path, IGNORE_FILE), { force: true });
  rmdirSync(path);
}
