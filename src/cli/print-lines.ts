/** Prints to stdout no faster than it is read, and learns when nobody reads any more. */
import { once } from 'node:events';

export interface LinePrinter {
  /** Aborted when stdout is closed. */
  readonly signal: AbortSignal;
  print(text: string): Promise<void>;
}

export function printToStdout(): LinePrinter {
  const { stdout } = process;
  const closed = new AbortController();
  for (const event of ['error', 'close']) stdout.once(event, () => closed.abort());
  return {
    signal: closed.signal,
    async print(text) {
      if (closed.signal.aborted || stdout.write(text)) return;
      await once(stdout, 'drain', { signal: closed.signal }).catch(() => {});
    },
  };
}
