/**
 * Other programs work on the same repository: git gives up at once where a lock is held, or where it meets a worktree that
 * is half made or half gone (its commands look at all of them). Such a command is tried again for some seconds; what waiting cannot mend is not.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type GitEnd, type GitPlace, saidBy } from './git.js';

const TRIES = 10;
const FIRST_MS = 40;
const LONGEST_MS = 1_000;

const PASSING =
  /\.lock|failed to read|unable to (?:create|lock)|could not lock|cannot lock ref|File exists|Invalid path|No such file|Device or resource busy|Resource temporarily/i;
const LASTING =
  /No space left|quota exceeded|Permission denied|Read-only file system|cannot create 'refs\/heads|Operation not permitted/i;

/** @param run one try; the end of the last one is the result */
export async function tryAgain(
  { outlasted }: Pick<GitPlace, 'outlasted'>,
  run: () => Promise<GitEnd>,
  signal?: AbortSignal,
): Promise<GitEnd> {
  for (let tries = 1; ; tries++) {
    const end = await run();
    if (end.code === 0 || signal?.aborted) return end;
    if (LASTING.test(end.stderr) || !PASSING.test(end.stderr)) return end;
    if (tries === TRIES) outlasted?.add(saidBy(end));
    if (tries === TRIES || outlasted?.has(saidBy(end))) return end;
    // Those that collided must not come back together.
    const pause = Math.min(LONGEST_MS, FIRST_MS * 2 ** tries) * (0.5 + Math.random() / 2);
    await sleep(pause, undefined, signal === undefined ? {} : { signal }).catch(() => {});
  }
}
