/** How a run is ended from outside: at once, or after what runs has had its time. */
import type { Engine } from '../engine/engine.js';
import type { Clock } from '../shared/clock.js';

export interface RunEnder {
  /** False when the run is over: there is nothing left to cancel. */
  cancel(exitCode?: number): boolean;
  /** False when the run is over. */
  drain(ms: number, exitCode?: number): boolean;
  /** What the process will end with, where the first who ended the run has named it. */
  readonly exitCode: number | undefined;
  /** The run has ended: what is left of a drain's time keeps no process alive, and a request that comes now is too late. */
  close(): void;
}

export function createRunEnder(engine: Engine, clock: Clock): RunEnder {
  let exitCode: number | undefined;
  const timers = new Set<() => void>();
  let isClosed = false;
  return {
    cancel(code) {
      if (isClosed) return false;
      exitCode ??= code;
      engine.cancel();
      return true;
    },
    drain(ms, code) {
      if (isClosed) return false;
      exitCode ??= code;
      const expired = new Promise<void>((resolve) => {
        timers.add(clock.after(ms, resolve));
      });
      void engine.drain(expired);
      return true;
    },
    get exitCode() {
      return exitCode;
    },
    close() {
      isClosed = true;
      for (const cancel of timers) cancel();
    },
  };
}
