/**
 * A lock beside the claims of a lineage, for eyes and tools that know such locks: its time shows that the run goes on.
 * Who may go on is decided by the claims alone. So it is held by whoever holds the claim, it is taken in the background,
 * and losing it ends nothing: it is only a reason to look at the claim.
 */
import { mkdir, rmdir, rmSync, stat, utimes } from 'node:fs';
import { join } from 'node:path';
import type { HeldClaim } from './claims.js';
import { loadLockLibrary } from '../shared/load-lock-library.js';
import { lookAt } from './runs-folder.js';

export const LOCK_NAME = 'owner.lock';

/** A lock whose time is older than this, ms, says nothing any more. */
const STALE_MS = 30_000;
const UPDATE_MS = 5_000;
/** A run that is over before has no lock: nothing of this is loaded for it. */
const AFTER_MS = 1_000;
/** On a file system that keeps other times than it was told the lock seems lost again and again. */
const MAX_RETAKES = 3;

export interface LineageLockOptions {
  claim: Pick<HeldClaim, 'folder' | 'isLatest' | 'notice'>;
  onNotice(message: string): void;
  /** Somebody took the lock away: a reason to look whether the claim still holds. */
  onDoubt(): void;
  /** Default: that of Node. */
  fs?: Partial<typeof import('node:fs')>;
  /** ms; default 1,000. */
  afterMs?: number;
}

export interface LineageLock {
  /** Never throws. To be called before the claim is released: from then on the lock may be another's. */
  release(): Promise<void>;
}

/** Holds the lock of a claimed lineage from about a second after the start. An old one that lies there is removed at once. */
export function holdLineageLock(options: LineageLockOptions): LineageLock {
  const { claim } = options;
  const path = join(claim.folder, LOCK_NAME);
  let unlock: (() => Promise<void>) | undefined;
  let isReleased = false;
  let retakes = 0;

  const isOurs = (): boolean => !isReleased && claim.isLatest();
  const take = async (): Promise<void> => {
    try {
      if (!isOurs()) return;
      removeOld();
      unlock = await loadLockLibrary().lock(claim.folder, {
        lockfilePath: path,
        realpath: false,
        stale: STALE_MS,
        update: UPDATE_MS,
        retries: 0,
        onCompromised: lose,
        // An object of its own: the library notes on it how fine the times of this file system are.
        fs: { mkdir, rmdir, stat, utimes, ...options.fs },
      });
    } catch {
      // The claim holds without it.
    }
  };
  /** The claim is ours, so whoever locked before has let go or is dead. */
  const removeOld = (): boolean => {
    if (lookAt(path) === undefined) return false;
    rmSync(path, { recursive: true, force: true });
    return true;
  };
  const lose = (): void => {
    unlock = undefined;
    if (isReleased) return;
    options.onDoubt();
    if (retakes++ < MAX_RETAKES) taking = take();
  };

  try {
    // Where the claim was left over too, that was said.
    if (removeOld() && claim.notice === null)
      options.onNotice(`The lock ${path} was left over: nobody holds its lineage. It was removed.`);
  } catch {
    // It is tried again below.
  }
  let taking: Promise<void> | undefined;
  const timer = setTimeout(() => {
    taking = take();
  }, options.afterMs ?? AFTER_MS).unref();
  return {
    async release() {
      isReleased = true;
      clearTimeout(timer);
      await taking;
      // Whoever has taken the lineage over has a lock of its own in this place.
      if (taking === undefined || !claim.isLatest()) return;
      await unlock?.().catch(() => {});
      try {
        removeOld();
      } catch {
        // The next one removes it.
      }
    },
  };
}
