/** Blocking reads and writes on the sandbox's one pipe: this process has nothing else to do. */
import { readSync, writeSync } from 'node:fs';
import { systemCode } from '../../shared/errors.js';
import { createWakefulRead } from './wakeful-read.js';

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

const readNow = (target: Buffer): number => readSync(FD, target, 0, target.length, null);

/** Loads a module of Node when it is needed: most runs never have a quick answer. */
interface Load {
  (id: 'node:os'): typeof import('node:os');
  (id: 'node:net'): typeof import('node:net');
}

/** Fills a buffer with what has come, at least one byte; 0 at the end of the stream. */
export function createPipeReader(load: Load): (target: Buffer) => number {
  let setBlocking: ((yes: boolean) => boolean) | undefined;
  return createWakefulRead({
    cores: () => load('node:os').availableParallelism(),
    now: () => performance.now(),
    read: (target) => retry(() => readNow(target)),
    readNow,
    setBlocking(yes) {
      setBlocking ??= openSwitch(load);
      return setBlocking(yes);
    },
  });
}

/** Node has no public way to switch a descriptor that was inherited, but its streams have, and have had it for long. */
function openSwitch(load: Load): (yes: boolean) => boolean {
  try {
    const { Socket } = load('node:net');
    const socket = new Socket({ fd: FD, readable: false, writable: false });
    const handle = (socket as unknown as { _handle?: { setBlocking?(yes: boolean): number } })._handle;
    if (typeof handle?.setBlocking === 'function') return (yes) => handle.setBlocking?.(yes) === 0;
  } catch {
    // A Node that does not let it be done: whoever waits then sleeps.
  }
  return () => false;
}

export function writeAll(text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += retry(() => writeSync(FD, bytes, done));
}
