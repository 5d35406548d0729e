/** Blocking reads and writes on the sandbox's one pipe: this process has nothing else to do. */
import { readSync, writeSync } from 'node:fs';
import { systemCode } from '../../shared/errors.js';

const FD = 3;
const pause = new Int32Array(new SharedArrayBuffer(4));

/** The descriptor may be non-blocking (it is shared with the other end's settings on some systems): then wait a little. */
function retry(work: () => number): number {
  for (;;) {
    try {
      return work();
    } catch (error) {
      const code = systemCode(error);
      if (code === 'EAGAIN') Atomics.wait(pause, 0, 0, 1);
      else if (code === 'EOF' || code === 'ECONNRESET') return 0;
      else throw error;
    }
  }
}

export const readSome = (target: Buffer): number => retry(() => readSync(FD, target, 0, target.length, null));

export function writeAll(text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += retry(() => writeSync(FD, bytes, done));
}
