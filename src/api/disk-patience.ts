/**
 * What a run has paid for and could not write is tried again for a moment when the run ends: a disk that is full for a
 * second must not cost a result. One budget for all that is written then.
 */
import type { Clock } from '../shared/clock.js';

/** Waits between tries, ms: two seconds in all. */
const WAITS_MS = [100, 400, 1500] as const;

export interface DiskPatience {
  /** Tries until `write` says that it worked, or the time is over. True when it worked. */
  until(write: () => Promise<boolean> | boolean): Promise<boolean>;
}

export function createDiskPatience(clock: Clock): DiskPatience {
  const waits = [...WAITS_MS];
  return {
    async until(write) {
      for (;;) {
        if (await write()) return true;
        const ms = waits.shift();
        if (ms === undefined) return false;
        await new Promise<void>((resolve) => clock.after(ms, resolve));
      }
    },
  };
}
