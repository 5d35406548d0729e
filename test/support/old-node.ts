import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A Node of this machine that is older than the oldest that `wf` runs on. */
export function findOldNode(): string | undefined {
  const places = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  return places.find((path) => {
    if (!existsSync(path)) return false;
    const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
    return Number(/^v(\d+)\./.exec(stdout ?? '')?.[1] ?? 99) < 22;
  });
}
