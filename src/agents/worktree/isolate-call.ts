/**
 * Puts a worktree between a call and its backend. All attempts of the call share one: an answer that does not fit its
 * schema is asked again where the work was done. Only an attempt that failed and left changes is not built upon: what it
 * left is kept as it is, and the next attempt, which begins at the prompt, begins at the commit again.
 */
import type { KeptWorktree } from '../../shared/outcome.js';
import { type AgentBackend, type AgentRequest, type AgentRunContext, BackendError } from '../backend.js';
import { addWorktree, type Worktree } from './add-worktree.js';
import type { GitPlace } from './git.js';
import { waitUntilEmpty } from './inhabited.js';
import { judgeWorktree, type Verdict } from './judge-worktree.js';
import { openRepository, type Repository } from './repository.js';
import type { WorktreeRecord } from './worktree-record.js';

export interface IsolatedCall {
  /** Asks the given one, in the worktree. */
  readonly backend: AgentBackend;
  /** To be called once, when the call has its outcome: tells which worktrees it left behind. Never rejects. */
  finish(): Promise<KeptWorktree[]>;
}

/** What a call needs to be isolated, and who hears of it. */
export interface Isolation extends GitPlace {
  /** Where worktrees are made. */
  folder: string;
  runId: string;
  owner: WorktreeRecord['owner'];
  /** Aborted when the run starts nothing more: a call whose worktree is ready only then is not asked. */
  noMoreAttempts: AbortSignal;
  onOpened(repository: Repository): void;
  onMade(call: IsolatedName, worktree: Worktree): void;
  onKept(call: IsolatedName, kept: KeptWorktree): void;
  /** It holds nothing of anybody: to be removed, which nobody waits for. */
  onUnchanged(call: IsolatedName, worktree: Worktree): void;
  /** What git said when none could be made. */
  onRefused(call: IsolatedName, said: string): void;
}

export interface IsolatedName {
  n: number;
  label: string;
}

const FILES_NAMED = 20;

export function isolateCall(backend: AgentBackend, isolation: Isolation, call: IsolatedName): IsolatedCall {
  const kept: KeptWorktree[] = [];
  let current: Worktree | undefined;
  let repository: Repository | undefined;
  let had = 0;
  let failed = false;
  /** A worktree that is being made: whoever stops the call does not wait for it, but its end must. */
  let making: Promise<unknown> = Promise.resolve();
  /** The backend did not come back although the call is over. */
  let working = false;

  const keep = (worktree: Worktree, verdict: Verdict & { changed: true }): void => {
    const found = describeKept(worktree, verdict);
    kept.push(found);
    isolation.onKept(call, found);
  };

  const judge = async ({ path, gitDir, branch, base, record: { dirt } }: Worktree): Promise<Verdict> => {
    // The agent has ended; what was ended with it need not be gone already.
    if (!working) await waitUntilEmpty(path);
    return judgeWorktree(isolation, { path, gitDir, branch, base, dirt });
  };

  const open = async (folder: string, signal: AbortSignal): Promise<Worktree> => {
    if (current !== undefined && failed) {
      const verdict = await judge(current);
      if (verdict.changed) {
        keep(current, verdict);
        current = undefined;
      }
    }
    if (current !== undefined) return current;
    if (repository === undefined) {
      repository = await openRepository(isolation, folder, signal);
      isolation.onOpened(repository);
    }
    const { folder: place, runId, owner } = isolation;
    current = await addWorktree(isolation, repository, { folder: place, runId, owner, had, ...call }, signal);
    had++;
    isolation.onMade(call, current);
    return current;
  };

  const prepare = async ({ cwd }: AgentRequest, { signal, onEvent }: AgentRunContext): Promise<Worktree> => {
    if (current !== undefined && !failed) return current;
    // git may be silent for long: like a tool that runs.
    onEvent({ type: 'tool', name: 'git worktree', state: 'start' });
    const opening = open(cwd, signal);
    making = opening.catch(() => {});
    try {
      return await opening;
    } catch (error) {
      if (signal.aborted) throw new BackendError('cancelled', 'The call was stopped.');
      if (error instanceof BackendError && typeof error.cause === 'string') isolation.onRefused(call, error.cause);
      throw error;
    } finally {
      onEvent({ type: 'tool', name: 'git worktree', state: 'end' });
    }
  };

  return {
    backend: {
      name: backend.name,
      capabilities: backend.capabilities,
      probe: (signal) => backend.probe(signal),
      async run(request, context) {
        const { cwd } = await prepare(request, context);
        if (context.signal.aborted) throw new BackendError('cancelled', 'The call was stopped.');
        // Making it takes long enough for the end of the run to be decided meanwhile.
        if (isolation.noMoreAttempts.aborted) throw new BackendError('cancelled', 'The run starts nothing more.');
        working = true;
        failed = true;
        const answer = await backend.run({ ...request, cwd }, context).finally(() => {
          working = false;
        });
        failed = false;
        return answer;
      },
    },
    async finish() {
      await making;
      const worktree = current;
      if (worktree === undefined) return kept;
      const verdict = await judge(worktree);
      if (working && (!verdict.changed || verdict.inUse)) {
        keep(worktree, {
          changed: true,
          files: [],
          commits: 0,
          doubt: 'its agent had not come back when the call ended',
        });
      } else if (verdict.changed) keep(worktree, verdict);
      else isolation.onUnchanged(call, worktree);
      return kept;
    },
  };
}

function describeKept({ path, branch, base }: Worktree, verdict: Verdict & { changed: true }): KeptWorktree {
  const { files, commits, doubt } = verdict;
  return {
    path,
    branch,
    base,
    files: files.slice(0, FILES_NAMED),
    fileCount: files.length,
    commits,
    ...(doubt === undefined ? {} : { doubt }),
  };
}
