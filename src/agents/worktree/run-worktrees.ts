/** The worktrees of one run: makes them for its calls, tells of them, and removes those that nobody needs. */
import type { KeptWorktree } from '../../shared/outcome.js';
import type { AgentBackend } from '../backend.js';
import { type GitPlace, runGit } from './git.js';
import { type IsolatedCall, type IsolatedName, isolateCall } from './isolate-call.js';
import { removeWorktree } from './remove-worktree.js';
import type { Repository } from './repository.js';
import type { WorktreeRecord } from './worktree-record.js';

/** Where the worktrees of a run are made, and in whose name. */
export interface WorktreePlace {
  folder: string;
  env: Readonly<Record<string, string | undefined>>;
  owner: WorktreeRecord['owner'];
}

export interface WorktreeNews {
  state: 'made' | 'kept' | 'removed';
  path: string;
  branch: string;
  base: string;
  kept?: KeptWorktree;
}

export interface RunWorktrees {
  isolate(backend: AgentBackend, call: IsolatedName): IsolatedCall;
  /** Resolves when every worktree that was to go is gone. */
  idle(): Promise<void>;
}

/** Aborted as the run comes to its end. */
export interface WorktreeSignals {
  /** It starts nothing more. */
  noMoreAttempts: AbortSignal;
  /** Its end waits for no look at files that only a warning would come from. */
  noMoreLooks: AbortSignal;
}

export function createRunWorktrees(
  place: WorktreePlace & Pick<GitPlace, 'onProcess' | 'onProcessEnd'>,
  runId: string,
  { noMoreAttempts, noMoreLooks }: WorktreeSignals,
  tell: (call: IsolatedName, news: WorktreeNews) => void,
  warn: (code: string, message: string) => void,
): RunWorktrees {
  const removals = new Set<Promise<void>>();
  const looked = new Set<string>();

  /** What is not committed is not in any worktree: said once for a repository. */
  const lookForUncommitted = async ({ top, head }: Repository): Promise<void> => {
    const status = ['status', '--porcelain=v1', '-z', '--no-renames'];
    const end = await runGit(place, status, { cwd: top, signal: noMoreLooks });
    const count = end.stdout.split('\0').length - 1;
    // A look that was cut off says nothing.
    if (end.code !== 0 || count === 0) return;
    warn(
      'WF_WORKTREE_BASE',
      `The working tree has ${count} uncommitted ${count === 1 ? 'change' : 'changes'}: calls with isolation 'worktree' begin at commit ${head.slice(0, 12)} and do not see ${count === 1 ? 'it' : 'them'}.`,
    );
  };

  const track = (work: Promise<void>): void => {
    removals.add(work);
    void work.finally(() => removals.delete(work));
  };

  const isolation = {
    ...place,
    runId,
    noMoreAttempts,
    onOpened(repository: Repository) {
      if (looked.has(repository.top)) return;
      looked.add(repository.top);
      track(lookForUncommitted(repository));
    },
    onMade: (call: IsolatedName, { path, branch, base }: { path: string; branch: string; base: string }) =>
      tell(call, { state: 'made', path, branch, base }),
    onKept: (call: IsolatedName, kept: KeptWorktree) =>
      tell(call, { state: 'kept', path: kept.path, branch: kept.branch, base: kept.base, kept }),
    onUnchanged(call: IsolatedName, worktree: { path: string; branch: string; base: string; repository: Repository }) {
      const { path, branch, base } = worktree;
      const remove = async (): Promise<void> => {
        const reason = await removeWorktree(place, worktree.repository, worktree);
        if (reason === undefined) return tell(call, { state: 'removed', path, branch, base });
        warn(
          'WF_WORKTREE_LEFT',
          `The worktree of #${call.n} ${call.label} is unchanged and could not be removed: ${reason}.`,
        );
      };
      track(remove());
    },
    onRefused: (call: IsolatedName, said: string) =>
      warn('WF_WORKTREE', `No worktree could be made for #${call.n} ${call.label}: ${said}`),
  };

  return {
    isolate: (backend, call) => isolateCall(backend, isolation, call),
    async idle() {
      while (removals.size > 0) await Promise.all(removals);
    },
  };
}
