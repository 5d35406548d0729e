/** Branches that a killed git left of worktrees which it never made. Only a run that is here can say that they are ours. */
import { join } from 'node:path';
import { openHome } from '../agents/worktree/home-repository.js';
import { isUnused, type LooseBranch, listLooseBranches, removeLooseBranch } from '../agents/worktree/loose-branches.js';
import { EVENTS_FILE } from '../runs/runs-folder.js';
import { readRegularFile } from '../shared/regular-file.js';
import type { Places } from './prepare-run.js';
import { findFolderOf, isRunAlive } from './run-life.js';
import { readStartedCalls } from './started-calls.js';
import { findMainRoot, findWorktreesFolder } from './worktrees-folder.js';

export interface LeftBranch {
  branch: string;
  runId: string;
  /** Removes it after having looked once more. Throws with the reason where it stays. */
  sweep(): Promise<void>;
}

type Where = Pick<Places, 'root' | 'env' | 'readFolders'>;

/**
 * Branches that hold nothing, of calls that a dead run here had started and whose worktree it never told of.
 *
 * @param now ms since the epoch
 */
export async function findLeftBranches(where: Where, now: number): Promise<LeftBranch[]> {
  const place = { env: where.env, outlasted: new Set<string>() };
  const folder = findWorktreesFolder(where.root);
  const home = await openHome(place, findMainRoot(where.root));
  const found: LeftBranch[] = [];
  for (const loose of await listLooseBranches(place, home, folder)) {
    const { branch, name } = loose;
    const { runId } = name;
    if (!isOfDeadRun(where, loose, now) || !(await isUnused(place, home, loose))) continue;
    const sweep = async (): Promise<void> => {
      if (!isOfDeadRun(where, loose, Date.now())) throw new Error('its run goes on');
      const reason = await removeLooseBranch(place, home, folder, loose);
      if (reason !== undefined) throw new Error(reason);
    };
    found.push({ branch, runId, sweep });
  }
  return found;
}

function isOfDeadRun(where: Where, { branch, name: { runId, n } }: LooseBranch, now: number): boolean {
  const folder = findFolderOf(where, runId);
  if (folder === undefined || isRunAlive(where, runId, now) !== false) return false;
  // What was told of was made: whoever took that worktree away may have left its branch on purpose.
  if (readEvents(folder).includes(`"branch":${JSON.stringify(branch)}`)) return false;
  return readStartedCalls(folder).some((call) => call.n === n);
}

function readEvents(folder: string): string {
  try {
    return readRegularFile(join(folder, EVENTS_FILE));
  } catch {
    return '';
  }
}
