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
      const branches = await listBranches(where);
      const lost = new Set(gone.filter(({ branch }) => branches?.has(branch) === false));
      all.splice(0, all.length, ...all.filter((kept) => !lost.has(kept)));
      const named = gone.slice(0, NAMED).map(({ n, label, branch }) => {
        const state = branches === undefined ? 'not known' : branches.has(branch) ? 'still there' : 'gone too';
        return `#${n} ${label}: branch ${branch} is ${state}`;
      });
      warn(
        `Of the reused answers ${gone.length} ${gone.length === 1 ? 'names a worktree' : 'name worktrees'} whose folder is gone (${named.join(', ')}${gone.length > NAMED ? ', …' : ''}). The answer is reused and the work is not made again; cache: false makes such a call run.`,
      );
    },
  };
}

/** Branches of worktrees that are there; `undefined` where git cannot tell. */
async function listBranches({ root, env }: Where): Promise<Set<string> | undefined> {
  const { runGit } = await import('../agents/worktree/git.js');
  const end = await runGit({ env }, ['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/wf/'], { cwd: root });
  return end.code === 0 ? new Set(end.stdout.split('\n')) : undefined;
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
