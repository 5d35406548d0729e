/**
 * Whether others want the core that a process stays awake on. It shows between two looks: more than the looks themselves
 * take passes there only where the system gave the core to somebody else. Whoever sleeps is woken sooner than whoever
 * stays awake gets the core back, so on a busy machine a process that never sleeps is slower, and others pay for it.
 */

export interface CrowdedCore {
  /** Decides whether to stay awake from now on: yes, unless that has cost more of late than it can gain. */
  chooseAwake(): boolean;
  /** A wait that was stayed awake for is over. */
  note(lostMs: number): void;
}

/** Time between two looks that they may take. */
const BETWEEN_LOOKS_MS = 0.5;
/** Lost in a wait, ms: twice of what being woken costs. Even a quiet machine takes some, for the engine's own threads. */
const TOO_MUCH_MS = 0.15;
/** What one wait counts for, however long it was: a machine may have been asleep. */
const MOST_MS = 50;
const WEIGHT = 1 / 32;
/** So much of it is left after a wait that was slept for: after some hundred it is tried again. */
const FORGET = 0.995;

export function createCrowdedCore(): CrowdedCore {
  let lost = 0;
  return {
    chooseAwake() {
      if (lost < TOO_MUCH_MS) return true;
      lost *= FORGET;
      return false;
    },
    note(lostMs) {
      lost += (Math.min(lostMs, MOST_MS) - lost) * WEIGHT;
    },
  };
}

/** What passed between two looks, where that is more than they take; else 0. */
export const lostBetween = (before: number, now: number): number =>
  now - before > BETWEEN_LOOKS_MS ? now - before : 0;
