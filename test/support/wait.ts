/** Waiting for something that happens in another process: looked for at each change of a folder, and now and then besides. */
import { existsSync, type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';

export interface WaitOptions {
  /** Files or folders whose change is a reason to look again. */
  watch?: readonly string[];
  /** ms; default 20 s. */
  timeoutMs?: number;
  /** Rejects at once with this reason, for example when the process that should make it happen has ended. */
  gaveUp?: () => string | undefined;
  /** Subscribes to some other reason to look again; gives the way to end it. */
  onChange?: (listener: () => void) => () => void;
}

const RECHECK_MS = 20;

/**
 * Resolves with the first value of `look` that is neither `undefined` nor `false`.
 *
 * @param what named in the error when it does not happen in time
 */
export async function waitFor<Found>(
  what: string | (() => string),
  look: () => Found | undefined | false,
  options: WaitOptions = {},
): Promise<Found> {
  const limit = options.timeoutMs ?? 20_000;
  const watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let unsubscribe: (() => void) | undefined;
  try {
    return await new Promise<Found>((resolve, reject) => {
      const end = performance.now() + limit;
      const check = (): void => {
        clearTimeout(timer);
        try {
          const found = look();
          const reason = options.gaveUp?.();
          if (found !== undefined && found !== false) resolve(found);
          else if (reason !== undefined) reject(new Error(`Waited for ${name(what)}: ${reason}`));
          else if (performance.now() > end) reject(new Error(`Waited ${limit} ms for ${name(what)}.`));
          else timer = setTimeout(check, RECHECK_MS);
        } catch (error) {
          reject(error);
        }
      };
      for (const path of options.watch ?? []) {
        const folder = existsSync(path) ? path : dirname(path);
        if (existsSync(folder)) watchers.push(watch(folder, check).on('error', check));
      }
      unsubscribe = options.onChange?.(check);
      check();
    });
  } finally {
    clearTimeout(timer);
    unsubscribe?.();
    for (const watcher of watchers) watcher.close();
  }
}

const name = (what: string | (() => string)): string => (typeof what === 'string' ? what : what());
