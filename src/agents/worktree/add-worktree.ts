/** Makes a worktree for a call and makes sure that it is one: from here on the call's folder is another than everybody's. */
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, systemCode } from '../../shared/errors.js';
import { isGitEnd, readDirt } from './dirt.js';
import { type GitEnd, type GitPlace, runGit, saidBy } from './git.js';
import { branchName, ensureWorktreesFolder, folderName, type WorktreeName } from './names.js';
import { removeWorktree } from './remove-worktree.js';
import { findNoRoom, isolationError, type Repository } from './repository.js';
import { tryAgain } from './try-again.js';
import { type WorktreeRecord, writeWorktreeRecord } from './worktree-record.js';

export interface Worktree {
  /** Its top folder, real path. */
  path: string;
  /** Where the agent works in it: the same place below the top as the call's folder has. */
  cwd: string;
  branch: string;
  base: string;
  /** The worktree's folder in the repository. */
  gitDir: string;
  repository: Repository;
  record: WorktreeRecord;
}

export interface NewWorktree {
  /** Where worktrees are made. */
  folder: string;
  runId: string;
  n: number;
  label: string;
  /** How many the call has had already. */
  had: number;
  owner: WorktreeRecord['owner'];
}

/** Checking out may take long: large files, filters, hooks. */
const ADD_MS = 600_000;

/** @throws BackendError of kind `isolation`; nothing of the attempt is left then */
export async function addWorktree(
  place: GitPlace,
  repository: Repository,
  wanted: NewWorktree,
  signal: AbortSignal,
): Promise<Worktree> {
  const folder = makeFolder(wanted.folder);
  let { had } = wanted;
  for (;;) {
    const name = findName(folder, { ...wanted, had });
    const names = { path: join(folder, folderName(name)), branch: branchName(name) };
    const end = await tryToAdd(place, repository, names, signal);
    if (end.code === 0) return finishWorktree(place, repository, { ...wanted, ...names });
    if (!isTaken(end)) throw findNoRoom(end, repository.top) ?? explainFailure(end);
    had = name.more ?? 1;
  }
}

async function tryToAdd(
  place: GitPlace,
  repository: Repository,
  { path, branch }: { path: string; branch: string },
  signal: AbortSignal,
): Promise<GitEnd> {
  const args = ['worktree', 'add', '--quiet', '-b', branch, path, repository.head];
  // Taking a failed one back may meet the same obstacle, and waits for it once, not at every try.
  const dropping = { ...place, outlasted: new Set<string>() };
  return tryAgain(
    dropping,
    async () => {
      const tried = await runGit(place, args, {
        cwd: repository.top,
        signal,
        timeoutMs: ADD_MS,
        isLong: true,
      });
      // git makes the branch first, and leaves it. What was there before is somebody's.
      if (tried.code === 0 || isTaken(tried)) return tried;
      const left = await removeWorktree(dropping, repository, { path, branch, base: repository.head });
      if (left !== undefined) dropping.outlasted.add(saidBy(tried));
      return tried;
    },
    signal,
  );
}

const isTaken = ({ code, stderr }: GitEnd): boolean =>
  code !== 0 && /^fatal: a branch named .* already exists/m.test(stderr);

async function finishWorktree(
  place: GitPlace,
  repository: Repository,
  wanted: NewWorktree & { path: string; branch: string },
): Promise<Worktree> {
  const { path, branch } = wanted;
  try {
    return await prepare(place, repository, wanted);
  } catch (error) {
    await removeWorktree(place, repository, { path, branch, base: repository.head });
    throw error;
  }
}

async function prepare(
  place: GitPlace,
  repository: Repository,
  made: NewWorktree & { path: string; branch: string },
): Promise<Worktree> {
  const { path, branch, runId, n, label, owner } = made;
  const end = await runGit(place, ['rev-parse', '--show-toplevel', '--absolute-git-dir', 'HEAD'], { cwd: path });
  const noRoom = findNoRoom(end, path);
  if (noRoom !== undefined) throw noRoom;
  const [top, gitDir = '', head] = end.stdout.split('\n');
  if (end.code !== 0 || top !== realpathSync(path) || head !== repository.head) {
    throw isolationError('git made one that is not the one asked for.', 'Look at the hooks of the repository.');
  }
  const dirt = await readDirt(place, { gitDir, path });
  if (isGitEnd(dirt)) {
    throw (
      findNoRoom(dirt, path) ?? isolationError('its state could not be read.', 'See git status there.', saidBy(dirt))
    );
  }
  const base = repository.head;
  const madeAt = new Date().toISOString();
  const record: WorktreeRecord = { version: 1, runId, n, label, branch, base, owner, dirt, madeAt };
  const cwd = join(path, repository.prefix);
  try {
    writeWorktreeRecord(gitDir, record);
    // A folder that no commit holds is not there.
    mkdirSync(cwd, { recursive: true });
  } catch (error) {
    throw isolationError('it could not be written.', 'Make room, or make it writable.', messageOf(error));
  }
  return { path, cwd, branch, base, gitDir, repository, record };
}

function makeFolder(folder: string): string {
  try {
    return ensureWorktreesFolder(folder);
  } catch (error) {
    const why = systemCode(error) ?? 'unknown cause';
    throw isolationError(
      `the folder .claude/worktrees cannot be made (${why}).`,
      'Make the project writable.',
      messageOf(error),
    );
  }
}

/** One that nothing stands at: a call gets another worktree after an attempt that left changes. */
function findName(folder: string, { runId, n, had }: NewWorktree): WorktreeName {
  for (let more = had + 1; ; more++) {
    const name = { runId, n, more: more === 1 ? undefined : more };
    if (!existsSync(join(folder, folderName(name)))) return name;
  }
}

function explainFailure(end: GitEnd): Error {
  const said = saidBy(end);
  const refused = (why: string, remedy: string): Error => isolationError(why, remedy, said);
  if (/No space left|quota exceeded/i.test(end.stderr)) return refused('the disk is full.', 'Make room.');
  if (/Permission denied|Read-only file system|Operation not permitted/i.test(end.stderr)) {
    return refused('git may not write in the repository or beside it.', 'Make both writable.');
  }
  if (/failed to read .*worktrees\/.*\/commondir/.test(end.stderr)) {
    return refused(
      'git stumbles over another worktree of the repository, which was being made when its git was killed.',
      'wf doctor --fix removes it if a run had begun it; else remove its folder in .git/worktrees.',
    );
  }
  if (/cannot create 'refs\/heads/.test(end.stderr)) {
    return refused('a branch is in the way of the branches wf/<run>/<call>.', 'Rename the branch wf.');
  }
  if (end.code === null) return refused('git was stopped before it had made it.', 'Try again; look at its hooks.');
  return refused(
    `git failed with exit code ${end.code}.`,
    'Look at what git said: a filter or a hook may have failed.',
  );
}
