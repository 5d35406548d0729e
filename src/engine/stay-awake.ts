/**
 * Stays awake for a moment after an answer went out, where the script has been quick to go on: a process that sleeps
 * and is woken works at half its speed for a while, and waking it costs the other side too. Most scripts wait for agents
 * that take seconds, so at most `MOMENT_MS` of one core are spent for an answer.
 */
import { availableParallelism } from 'node:os';

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
  /** 0: nothing is waited for. */
  let sentAt = 0;
  let wasQuick = false;
  let isAwake = false;
  const stay = (): void => {
    if (sentAt !== 0 && now() - sentAt < MOMENT_MS) soon(stay);
    else isAwake = false;
  };
  return {
    sent() {
      sentAt = now();
      if (!wasQuick || isAwake) return;
      isAwake = true;
      soon(stay);
    },
    received() {
      if (sentAt === 0) return;
      wasQuick = now() - sentAt < MOMENT_MS;
      sentAt = 0;
    },
  };
}
