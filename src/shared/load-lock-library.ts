/**
 * Loads proper-lockfile without what it would do to this process. Its helper `signal-exit` takes a handler for every
 * signal, SIGXFSZ among them: a journal that meets a size limit would then end the run instead of getting EFBIG. And
 * `graceful-fs` replaces `fs.close` for everybody. Neither is needed here: a run releases its lock itself, one that was
 * killed leaves it to the next, and the file system is handed over with each lock.
 */
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import type { LockOptions } from 'proper-lockfile';

export interface LockLibrary {
  lock(file: string, options: LockOptions): Promise<() => Promise<void>>;
}

let loaded: LockLibrary | undefined;

export function loadLockLibrary(): LockLibrary {
  loaded ??= loadWithoutHelpers();
  return loaded;
}

function loadWithoutHelpers(): LockLibrary {
  const load = createRequire(import.meta.url);
  const inside = createRequire(load.resolve('proper-lockfile'));
  const restore = [
    standIn(inside, 'signal-exit', () => () => {}),
    // In place of the whole module, so that nothing of it is read from the disk.
    standIn(inside, 'graceful-fs', fs),
  ];
  try {
    return load('proper-lockfile') as LockLibrary;
  } finally {
    for (const undo of restore) undo();
  }
}

/** Whoever asks for that module until the undoing gets `value`; whoever has it already keeps it. */
function standIn(require: NodeJS.Require, name: string, value: unknown): () => void {
  const path = require.resolve(name);
  const before = require.cache[path];
  require.cache[path] = {
    id: path,
    filename: path,
    loaded: true,
    exports: value,
    children: [],
  } as unknown as NodeJS.Module;
  return () => {
    if (before === undefined) delete require.cache[path];
    else require.cache[path] = before;
  };
}
