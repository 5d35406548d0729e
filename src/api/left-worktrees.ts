/** Worktrees that calls have left, with what is known of their runs: which are in use, which are kept work, which nobody needs. */
import { type FoundTrash, judgeTrash, listTrash, removeTrash } from '../agents/worktree/found-trash.js';
import { type FoundWorktree, judgeFound, listWorktrees, removeFound } from '../agents/worktree/found-worktrees.js';
import { blocksGit } from '../agents/worktree/half-made.js';
import { type Home, openHome } from '../agents/worktree/home-repository.js';
import type { Verdict } from '../agents/worktree/judge-worktree.js';
import { ownerState } from '../runs/owner.js';
import { ownerSchema } from '../runs/records.js';
import { findPlaces, type Places } from './prepare-run.js';
import { isRunAlive, SETTLED_MS } from './run-life.js';
import type { RunWorkflowOptions } from './run-options.js';
import { findMainRoot, findWorktreesFolder } from './worktrees-folder.js';

/** One worktree of a call, or what is left of one. */
export interface LeftWorktree {
  /** Absolute. */
  path: string;
  /** `null`: it is not known, or not in the repository of this project. */
  branch: string | null;
  runId: string;
  /** Number of the call in its run; 0 for what was being removed. */
  n: number;
  /**
   * `in-use`: its run goes on, or may go on where it cannot be seen, or `doubt` names processes that are in it ·
   * `unchanged`: nothing is in it, and nobody needs it · `changed`: there is, or there may be, work in it.
   */
  state: 'in-use' | 'unchanged' | 'changed';
  fileCount: number;
  commits: number;
  doubt?: string;
  /** It is another project's, or a copy of such a one: `sweep()` leaves it alone. */
  isForeign?: true;
  /** Removes an unchanged one after having looked once more. Throws with the reason where it stays. */
  sweep(): Promise<void>;
}

/** Each starts a few git commands. */
const LOOKS_AT_ONCE = 4;

type Where = Pick<Places, 'root' | 'env' | 'readFolders'>;
/** One look: what one worktree has waited for in vain is not waited for at the next. */
type Look = Where & { outlasted: Set<string>; home: Home };

/**
 * The worktrees of a project's calls that are on the disk, by path; first those that keep git from its work. Only what our own names name is looked at. Nothing is
 * changed before `sweep()` is called, and that never removes work.
 *
 * @param given where to look; default the process's own folder
 * @param now ms since the epoch
 * @example
 * for (const left of await findLeftWorktrees()) if (left.state === 'unchanged') await left.sweep()
 */
export async function findLeftWorktrees(
  given: Pick<RunWorkflowOptions, 'cwd' | 'home' | 'env' | 'runsDir'> = {},
  now: number = Date.now(),
): Promise<LeftWorktree[]> {
  return lookForWorktrees(findPlaces(given), now);
}

/** The same where the places are known. */
export async function lookForWorktrees({ root, env, readFolders }: Where, now: number): Promise<LeftWorktree[]> {
  const folder = findWorktreesFolder(root);
  const outlasted = new Set<string>();
  const look = { root, env, readFolders, outlasted, home: await openHome({ env, outlasted }, findMainRoot(root)) };
  const listed = listWorktrees(folder, look.home);
  const blocking = new Set(listed.filter(isBlocking).map(({ path }) => path));
  const found = await mapFew(listed, (one) => describe(look, one, now));
  const trash = await mapFew(listTrash(folder), (one) => describeTrash(look, one, now));
  const order = ({ path }: LeftWorktree): string => `${blocking.has(path) ? 0 : 1}${path}`;
  return [...found, ...trash.flat()].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** With hundreds of git commands at once each would run into its time limit. */
async function mapFew<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const rest = items.entries();
  const takeNext = async (): Promise<void> => {
    for (const [i, item] of rest) results[i] = await work(item);
  };
  await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, takeNext));
  return results;
}

/** While it is there, no other can be removed. */
const isBlocking = ({ gitDir, foreign }: FoundWorktree): boolean =>
  gitDir !== undefined && foreign === undefined && blocksGit(gitDir);

async function describe(where: Look, found: FoundWorktree, now: number): Promise<LeftWorktree> {
  const { path, runId, n, foreign } = found;
  const branch = foreign === undefined ? found.branch : null;
  const about = { path, branch, runId, n, fileCount: 0, commits: 0, ...(foreign && { isForeign: true as const }) };
  const sweep = async (): Promise<void> => {
    if (isInUse(where, found, Date.now())) throw new Error('its run goes on');
    const reason = await removeFound(where, where.home, found);
    if (reason !== undefined) throw new Error(reason);
  };
  if (isInUse(where, found, now)) return { ...about, state: 'in-use', sweep };
  const verdict = await judgeFound(where, where.home, found);
  if (verdict.changed) return { ...about, ...tellKept(verdict), sweep };
  const doubt = 'git was killed while it made it, and fails in the whole repository until it is gone';
  return { ...about, state: 'unchanged', ...(isBlocking(found) ? { doubt } : {}), sweep };
}

type Kept = Pick<LeftWorktree, 'state' | 'fileCount' | 'commits' | 'doubt'>;

const tellKept = ({ files, commits, doubt, inUse }: Verdict & { changed: true }): Kept => ({
  state: inUse ? 'in-use' : 'changed',
  fileCount: files.length,
  commits,
  ...(doubt === undefined ? {} : { doubt }),
});

async function describeTrash(where: Look, trash: FoundTrash, now: number): Promise<LeftWorktree[]> {
  const { path, since } = trash;
  const { runId } = trash.name;
  if (isRunAlive(where, runId, now) ?? now - since < SETTLED_MS) return [];
  const about = { path, branch: null, runId, n: 0, fileCount: 0, commits: 0 };
  const sweep = async (): Promise<void> => {
    const reason = await removeTrash(where, where.home, trash);
    if (reason !== undefined) throw new Error(reason);
  };
  const verdict = await judgeTrash(where, trash);
  if (verdict.changed) return [{ ...about, ...tellKept(verdict), sweep }];
  return [{ ...about, state: 'unchanged', doubt: 'it was being removed', sweep }];
}

/** In doubt it is in use. */
function isInUse(where: Where, { runId, record, madeAt }: FoundWorktree, now: number): boolean {
  const seen = isRunAlive(where, runId, now);
  if (seen !== undefined) return seen;
  // Its run lies elsewhere (`--runs-dir`) or was pruned: the process that made it is asked itself.
  const owner = ownerSchema.safeParse(record?.owner);
  if (!owner.success) return now - madeAt < SETTLED_MS;
  const { state, basis } = ownerState(owner.data, now);
  // What the record says of a heartbeat is as old as the record.
  return basis === 'process' ? state === 'alive' : true;
}
