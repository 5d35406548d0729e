/** The timers that a script waits for and that no record answers: they fire by the run's clock. */
import type { Clock } from '../shared/clock.js';
import type { UpEvent } from './sandbox/frames.js';

type StartEvent = UpEvent & { 0: 'T' };

export interface RunTimers {
  start(event: StartEvent): void;
  /** The script cleared it. */
  clear(id: number): void;
  close(): void;
}

/** @param fire told of each timer whose time has come */
export function createRunTimers(
  clock: Clock,
  fire: (id: number, timer: { n: number; ms: number; path: string }) => void,
): RunTimers {
  const cancels = new Map<number, () => void>();
  return {
    start([, id, n, ms, path]) {
      const cancel = clock.after(ms, () => {
        cancels.delete(id);
        fire(id, { n, ms, path });
      });
      cancels.set(id, cancel);
    },
    clear(id) {
      cancels.get(id)?.();
      cancels.delete(id);
    },
    close() {
      for (const cancel of cancels.values()) cancel();
    },
  };
}
