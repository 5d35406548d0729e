/**
 * Stays awake for a moment after an answer went out, where the script has been quick to go on: a process that sleeps
 * and is woken works at half its speed for a while, and waking it costs the other side too. Most scripts wait for agents
 * that take seconds, so at most `MOMENT_MS` of one core are spent for an answer; and none where others want the core.
 */
import { availableParallelism } from 'node:os';
import { createCrowdedCore, lostBetween } from './sandbox/crowded-core.js';

/** A script that makes its next call takes a tenth of that. */
const MOMENT_MS = 1;

export interface Wakefulness {
  /** An answer went out. */
  sent(): void;
  /** Something came back. */
  received(): void;
}

/** What it goes by; tests put their own in its place. */
export interface Surroundings {
  /** With one alone, whoever stays awake keeps the other side from its work. */
  cores: number;
  /** ms that only grow. */
  now(): number;
  /** Calls back in the next turn of the event loop. */
  soon(callback: () => void): void;
}

const here = (): Surroundings => ({
  cores: availableParallelism(),
  now: () => performance.now(),
  soon: setImmediate,
});

export function createWakefulness({ cores, now, soon }: Surroundings = here()): Wakefulness {
  if (cores < 2) return { sent() {}, received() {} };
  const core = createCrowdedCore();
  /** 0: nothing is waited for. */
  let sentAt = 0;
  let wasQuick = false;
  let isAwake = false;
  /** The last look while it stays awake; 0 before the first. */
  let lookedAt = 0;
  let lost = 0;
  const look = (): number => {
    const at = now();
    if (lookedAt !== 0) lost += lostBetween(lookedAt, at);
    lookedAt = at;
    return at;
  };
  /** What was lost while it stayed awake. */
  const tellLost = (): void => {
    core.note(lost);
    lookedAt = 0;
    lost = 0;
  };
  const stay = (): void => {
    if (sentAt !== 0 && look() - sentAt < MOMENT_MS) return soon(stay);
    isAwake = false;
    if (sentAt !== 0) tellLost();
  };
  return {
    sent() {
      sentAt = now();
      lookedAt = 0;
      if (!wasQuick || isAwake || !core.chooseAwake()) return;
      isAwake = true;
      soon(stay);
    },
    received() {
      if (sentAt === 0) return;
      wasQuick = (isAwake ? look() : now()) - sentAt < MOMENT_MS;
      sentAt = 0;
      if (isAwake) tellLost();
    },
  };
}
