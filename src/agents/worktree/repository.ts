/** The repository in which a call works, looked at anew for each call: a worktree begins at the commit that is checked out then. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isScarce } from '../../shared/scarce.js';
import { BackendError } from '../backend.js';
import { describeStartFailure } from '../start-failure.js';
import { type GitEnd, type GitPlace, runGit, saidBy } from './git.js';

export interface Repository {
  /** Top of the working tree that holds the call's folder. */
  top: string;
  /** From there to the call's folder; empty at the top. */
  prefix: string;
  /** Shared by all worktrees of the repository: what names it. */
  common: string;
  /** Commit that is checked out. */
  head: string;
}

const HINT = "Or leave `isolation: 'worktree'` out of this call.";

/** @throws BackendError of kind `isolation`, without any path in its words: scripts see them */
export async function openRepository(place: GitPlace, folder: string, signal?: AbortSignal): Promise<Repository> {
  if (!existsSync(folder)) throw isolationError('the folder in which it works does not exist.', 'Make it first.');
  const question = ['--is-inside-work-tree', '--show-toplevel', '--show-prefix', '--git-common-dir', 'HEAD^{commit}'];
  const end = await runGit(place, ['rev-parse', ...question], { cwd: folder, signal });
  const [inside, top = '', prefix = '', common = '', head = ''] = end.stdout.split('\n');
  if (end.code === 0 && inside === 'true' && /^[0-9a-f]{40,64}$/.test(head)) {
    return { top, prefix, common: resolve(folder, common), head };
  }
  throw findNoRoom(end, folder) ?? explainRefusal(end, inside);
}

/** Of a git that the system had no room for: the call waits for its turn as for one of its agent. */
export const findNoRoom = ({ startError }: GitEnd, folder: string): BackendError | undefined =>
  startError !== undefined && isScarce(startError) ? describeStartFailure('git', startError, folder) : undefined;

function explainRefusal(end: GitEnd, inside: string | undefined): BackendError {
  const { stderr } = end;
  if (end.startError !== undefined) return isolationError('git was not found.', `Install git. ${HINT}`);
  if (/dubious ownership/.test(stderr)) {
    return isolationError(
      'git does not trust the repository, because another user owns it.',
      `Name it in git's setting safe.directory. ${HINT}`,
    );
  }
  if (/not a git repository/i.test(stderr)) {
    return isolationError(
      'the folder in which it works lies in no git repository.',
      `Make one (git init, and a first commit). ${HINT}`,
    );
  }
  if (inside === 'false') {
    return isolationError(
      'the repository is bare, or this is no working tree of it.',
      `Start in a working tree of it. ${HINT}`,
    );
  }
  if (inside === 'true') {
    return isolationError('the repository has no commit that is checked out.', `Make a first commit. ${HINT}`);
  }
  return isolationError('git could not read the repository.', HINT, saidBy(end));
}

/** @param said what git said, for people only: it may name paths */
export function isolationError(message: string, remedy: string, said?: string): BackendError {
  return new BackendError('isolation', `No worktree could be made for the call: ${message}`, {
    remedy,
    ...(said === undefined ? {} : { cause: said }),
  });
}
