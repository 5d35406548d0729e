/** Keeps calls from starting while the machine is short of memory and others run. With nothing running a call starts anyway. */
import type { Clock } from '../shared/clock.js';

export interface MemoryFloor {
  /** True while no further call may start. It asks the system at most every 100 ms. */
  isShort(): boolean;
  /** Calls back once after a while, so that memory which others give back is noticed. */
  lookAgain(callback: () => void): void;
  close(): void;
}

const ASK_EVERY_MS = 100;
const LOOK_AGAIN_MS = 500;
const MB = 2 ** 20;

/** @param warn told once, the first time that calls are held back */
export function createMemoryFloor(
  floorMb: number,
  ports: { clock: Clock; freeBytes(): number; warn(message: string): void },
): MemoryFloor {
  let askedAt = Number.NEGATIVE_INFINITY;
  let isShort = false;
  let isTold = false;
  let cancel: (() => void) | undefined;
  return {
    isShort() {
      const now = ports.clock.now();
      // A clock that was set back must not keep an old answer alive.
      if (now >= askedAt && now - askedAt < ASK_EVERY_MS) return isShort;
      askedAt = now;
      const free = Math.floor(ports.freeBytes() / MB);
      isShort = free < floorMb;
      if (isShort && !isTold) {
        isTold = true;
        ports.warn(
          `${free} MB of memory are free, below the ${floorMb} MB of --min-free-mem: no further call starts while others run, until there is more.`,
        );
      }
      return isShort;
    },
    lookAgain(callback) {
      if (cancel !== undefined) return;
      cancel = ports.clock.after(LOOK_AGAIN_MS, () => {
        cancel = undefined;
        callback();
      });
    },
    close() {
      cancel?.();
    },
  };
}
