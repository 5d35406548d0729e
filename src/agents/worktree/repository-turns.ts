/** One at a time in a repository: within this process by a queue, between processes by a lock beside git's own files. */
import { mkdir, rmdir, stat, utimes } from 'node:fs';
import { join } from 'node:path';

const queues = new Map<string, Promise<unknown>>();

/**
 * @param common what names the repository: the folder that its worktrees share
 * @param outlasted as in `GitPlace`
 */
export async function takeTurn<T>(common: string, work: () => Promise<T>, outlasted?: Set<string>): Promise<T> {
  const turn = (queues.get(common) ?? Promise.resolve()).then(() => withLock(common, work, outlasted));
  const settled = turn.catch(() => {});
  queues.set(common, settled);
  try {
    return await turn;
  } finally {
    if (queues.get(common) === settled) queues.delete(common);
  }
}

/** Older than this, ms, without a sign of life, a lock belongs to nobody. */
const STALE_MS = 10_000;
const WAIT = { retries: 60, factor: 1.2, minTimeout: 20, maxTimeout: 500, randomize: true };

/** Without the lock (a repository that may not be written, another process that hangs) git's own refusals are all there is, and they are tried again. */
async function withLock<T>(common: string, work: () => Promise<T>, outlasted?: Set<string>): Promise<T> {
  const lockfilePath = join(common, 'wf-worktrees.lock');
  const { loadLockLibrary } = await import('../../shared/load-lock-library.js');
  const release = await loadLockLibrary()
    .lock(common, {
      // The library keeps a note on it: the module itself takes none.
      fs: { mkdir, rmdir, stat, utimes },
      lockfilePath,
      realpath: false,
      stale: STALE_MS,
      retries: outlasted?.has(lockfilePath) ? 0 : WAIT,
      onCompromised: () => {},
    })
    .catch(() => {
      outlasted?.add(lockfilePath);
      return undefined;
    });
  try {
    return await work();
  } finally {
    await release?.().catch(() => {});
  }
}
