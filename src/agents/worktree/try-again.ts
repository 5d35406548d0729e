/**
 * Other programs work on the same repository: git gives up at once where a lock is held, or where it meets a worktree that
 * is half made or half gone (its commands look at all of them). Such a command is tried again for some seconds; what waiting cannot mend is not.
 */
import { type GitEnd, type GitPlace, saidBy } from './git.js';
import { repeat } from './repeat.js';

const PASSING =
  /\.lock|failed to read|unable to (?:create|lock)|could not lock|cannot lock ref|File exists|Invalid path|No such file|Device or resource busy|Resource temporarily/i;
const LASTING =
  /No space left|quota exceeded|Permission denied|Read-only file system|cannot create 'refs\/heads|Operation not permitted/i;

/** @param run one try; the end of the last one is the result */
export const tryAgain = (
  { outlasted }: Pick<GitPlace, 'outlasted'>,
  run: () => Promise<GitEnd>,
  signal?: AbortSignal,
): Promise<GitEnd> => repeat(run, findPassing, { outlasted, signal });

const findPassing = (end: GitEnd): string | undefined =>
  end.code === 0 || LASTING.test(end.stderr) || !PASSING.test(end.stderr) ? undefined : saidBy(end);
