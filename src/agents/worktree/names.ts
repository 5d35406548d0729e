/** How our worktrees and their branches are called: by run and number only, never by a text of the user. */
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { statIfThere } from '../../shared/stat-if-there.js';

/** Below the `.claude` of the project's main working tree: the one place there in which Claude Code lets agents write without a person. */
export const WORKTREES_FOLDER = 'worktrees';
export const TRASH_PREFIX = '.trash-';

const NAME = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})-(\d+)(?:-(\d+))?$/;
const BRANCH = /^wf\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\/(\d+)(?:-(\d+))?$/;

export interface WorktreeName {
  runId: string;
  /** Number of the call in its run. */
  n: number;
  /** From 2 where the call has several. */
  more: number | undefined;
}

export const folderName = ({ runId, n, more }: WorktreeName): string =>
  `${runId}-${n}${more === undefined ? '' : `-${more}`}`;

export const branchName = ({ runId, n, more }: WorktreeName): string =>
  `wf/${runId}/${n}${more === undefined ? '' : `-${more}`}`;

export const parseFolderName = (name: string): WorktreeName | undefined => parseName(NAME.exec(name));

export const parseBranchName = (branch: string): WorktreeName | undefined => parseName(BRANCH.exec(branch));

function parseName(found: RegExpExecArray | null): WorktreeName | undefined {
  if (found === null) return undefined;
  return {
    runId: found[1] as string,
    n: Number(found[2]),
    more: found[3] === undefined ? undefined : Number(found[3]),
  };
}

/** Makes the folder for worktrees, hidden from git by a `.gitignore` of its own, and gives its real path. Throws what the file system throws. */
export function ensureWorktreesFolder(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const ignore = join(folder, '.gitignore');
  // A kill between the making of the file and its text leaves it empty.
  if (!statIfThere(ignore)?.size) writeFileSync(ignore, '*\n');
  // git knows worktrees by their real paths.
  return realpathSync(folder);
}
