/** What a run has to say of worktrees at its end: those that its calls left, and those that a resume found. */
import { existsSync } from 'node:fs';
import type { CallWorktree, RunEvent } from '../engine/events.js';
import type { Places } from './prepare-run.js';
import type { SourceJournal } from './source-run.js';
import { readStartedCalls } from './started-calls.js';

export interface WorktreeCollector {
  readonly all: readonly CallWorktree[];
  take(event: RunEvent): void;
  /** Says which of them are gone; what has no branch either is kept nowhere, and is not among them any more. */
  close(warn: (message: string) => void): Promise<void>;
}

type Where = Pick<Places, 'root' | 'env'>;

const NAMED = 5;

/** @param source the run that is gone on from: worktrees of its calls without an outcome are still there for somebody to look at */
export function collectWorktrees(source: SourceJournal | undefined, where: Where): WorktreeCollector {
  const all: CallWorktree[] = source === undefined ? [] : findCutOff(source);
  return {
    all,
    take(event) {
      if (event.type !== 'call.finished' || event.worktrees === undefined) return;
      const { n, label, from, worktrees } = event;
      all.push(...worktrees.map((kept) => ({ n, label, ...(from === null ? {} : { from }), ...kept })));
    },
    async close(warn) {
      const gone = all.filter(({ from, path }) => from !== undefined && !existsSync(path));
      if (gone.length === 0) return;
      const stateOf = await openBranchStates(where, gone);
      const lost = new Set(gone.filter((kept) => stateOf(kept) === 'gone too'));
      all.splice(0, all.length, ...all.filter((kept) => !lost.has(kept)));
      const named = gone
        .slice(0, NAMED)
        .map((kept) => `#${kept.n} ${kept.label}: branch ${kept.branch} is ${stateOf(kept)}`);
      warn(
        `Of the reused answers ${gone.length} ${gone.length === 1 ? 'names a worktree' : 'name worktrees'} whose folder is gone (${named.join(', ')}${gone.length > NAMED ? ', …' : ''}). The answer is reused and the work is not made again; cache: false makes such a call run.`,
      );
    },
  };
}

/**
 * What the project's repository says of branches. Of a worktree that began at a commit which it does not have it says
 * nothing: that one was of another repository, such as a submodule.
 */
async function openBranchStates(
  { root, env }: Where,
  worktrees: readonly CallWorktree[],
): Promise<(worktree: CallWorktree) => 'still there' | 'gone too' | 'not known'> {
  const { runGit } = await import('../agents/worktree/git.js');
  const list = async (...words: string[]): Promise<Set<string> | undefined> => {
    const end = await runGit({ env }, words, { cwd: root });
    return end.code === 0 ? new Set(end.stdout.split('\n')) : undefined;
  };
  const branches = await list('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/wf/');
  // They stand in a journal, which anybody may have written.
  const bases = new Set(worktrees.map(({ base }) => base).filter((base) => /^[0-9a-f]{40,64}$/.test(base)));
  const known = await list('rev-list', '--no-walk', '--ignore-missing', ...bases);
  return ({ branch, base }) => {
    if (branches?.has(branch)) return 'still there';
    return branches !== undefined && known?.has(base) ? 'gone too' : 'not known';
  };
}

function findCutOff({ folder, runId }: SourceJournal): CallWorktree[] {
  return readStartedCalls(folder).flatMap(({ n, label, settled, worktrees }) =>
    settled
      ? []
      : worktrees
          .filter(({ path }) => existsSync(path))
          .map((place) => ({
            n,
            label,
            from: runId,
            ...place,
            files: [],
            fileCount: 0,
            commits: 0,
            doubt: 'its call was cut off; what is in it was not looked at',
          })),
  );
}
