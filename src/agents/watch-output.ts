/** What a program wrote before its end may still be in its pipe; who else holds the pipe is not waited for. */
import type { Readable } from 'node:stream';

/** After the program's end its output is waited for as long as it flows, at most this long. */
const DRAIN_MS = 1_000;
const QUIET_MS = 100;

export interface WatchedOutput {
  /** True when the output has ended; false when it is open and nothing has come for a while. */
  isDrained(): Promise<boolean>;
}

/**
 * To be called when the program was started: the end of a stream must not be missed.
 *
 * @param count tells how much has come so far
 */
export function watchOutput(streams: readonly Readable[], count: () => number): WatchedOutput {
  const closed = Promise.all(streams.map((stream) => new Promise((done) => stream.once('close', done))));
  return {
    async isDrained() {
      const end = performance.now() + DRAIN_MS;
      let timer: NodeJS.Timeout | undefined;
      try {
        for (let before = -1; before !== count() && performance.now() < end; ) {
          before = count();
          const quiet = new Promise<false>((resolve) => {
            // After the pipes were looked at: a process that was held up has heard of the time first.
            timer = setTimeout(() => setImmediate(resolve, false), QUIET_MS);
          });
          if (await Promise.race([closed.then(() => true), quiet])) return true;
          clearTimeout(timer);
        }
        return false;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
