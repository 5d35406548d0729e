/** The end of a program in a group of its own: by itself, or because it must stop. */
import type { ChildProcess } from 'node:child_process';
import type { TreeEnder } from './end-tree.js';
import { leaveUnreachable } from './leave-unreachable.js';

export interface WatchedExit {
  /** Resolves when it has ended, or was left to itself as no signal reaches it: then `code` and `signal` stay `null`. */
  readonly exited: Promise<void>;
  readonly code: number | null;
  readonly signal: string | null;
  /** Ends it with all that it started. The first grace counts, ms. */
  stop(graceMs: number): void;
  /** Resolves when that is done; `undefined` as long as nobody has stopped it. */
  readonly stopping: Promise<void> | undefined;
}

/** To be called when the program was started: its end must not be missed. */
export function watchExit(child: ChildProcess, tree: TreeEnder): WatchedExit {
  let code: number | null = null;
  let signal: string | null = null;
  let stopping: Promise<void> | undefined;
  let giveUp = (): void => {};
  const exited = new Promise<void>((resolve) => {
    giveUp = resolve;
    child.once('exit', (byCode, bySignal) => {
      code = byCode;
      signal = bySignal;
      resolve();
    });
  });
  return {
    exited,
    get code() {
      return code;
    },
    get signal() {
      return signal;
    },
    stop(graceMs) {
      stopping ??= tree
        .terminate(graceMs)
        .then(() => leaveUnreachable(child, tree, exited))
        .then(giveUp);
    },
    get stopping() {
      return stopping;
    },
  };
}
