/**
 * Bounds the answers that were written and that the script has not taken: above the bound no further call starts until
 * less is on its way. What is in flight may still add its answers.
 */

const MAX_BYTES = 4 << 20;

export interface BacklogPorts {
  /** Bytes that wait in this process. */
  bytes(): number;
  /** Calls back once the pipe has taken something, or soon when nothing waits at it yet. */
  afterDrain(callback: () => void): void;
}

/** @returns asks whether to wait, and calls back once when that is over */
export function createBacklog(ports: BacklogPorts): (callback: () => void) => boolean {
  let isWaiting = false;
  return (callback) => {
    if (ports.bytes() <= MAX_BYTES) return false;
    if (isWaiting) return true;
    isWaiting = true;
    const look = (): void => {
      if (ports.bytes() > MAX_BYTES) return ports.afterDrain(look);
      isWaiting = false;
      callback();
    };
    ports.afterDrain(look);
    return true;
  };
}
