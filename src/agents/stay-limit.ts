/** Ends an agent program that has said its last word and does not exit: its answer is there and is neither waited for nor lost. */

/** How long a program may stay after its closing message, ms. */
export const STAY_MS = 5_000;

export interface StayLimit {
  /** Begins anew, with this much time. */
  restart(ms: number): void;
  clear(): void;
}

/** @param end called when the time is over */
export function createStayLimit(end: (ms: number) => void): StayLimit {
  let timer: NodeJS.Timeout | undefined;
  const clear = (): void => clearTimeout(timer);
  return {
    restart(ms) {
      clear();
      timer = setTimeout(end, ms, ms);
    },
    clear,
  };
}
