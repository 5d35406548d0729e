/** Worktrees of isolated calls. Empty ones of dead runs can go; what holds work is named and stays, whoever asks. */
import { type LeftWorktree, lookForWorktrees } from '../left-worktrees.js';
import type { DoctorCheck, Finding } from './finding.js';

export const checkWorktrees: DoctorCheck = {
  name: 'worktrees',
  title: 'Worktrees of calls',
  async look({ places, now }) {
    const found = await lookForWorktrees(places, now);
    const findings = found.filter(({ state }) => state !== 'in-use').map(describe);
    const used = found.length - findings.length;
    if (findings.length > 0) return findings;
    return [{ status: 'ok', message: used === 0 ? 'No worktree is left.' : `${used} in use, none left over.` }];
  },
};

function describe(left: LeftWorktree): Finding {
  const { path, branch, runId, state, fileCount, commits, doubt } = left;
  if (state === 'unchanged') {
    return {
      status: 'warn',
      message: `The worktree ${path} of run ${runId} holds nothing${doubt === undefined ? '' : ` (${doubt})`}, and its run is over.`,
      remedy: 'Nobody needs it. --fix removes it with its branch.',
      runId,
      path,
      async fix() {
        await left.sweep();
        return branch === null ? 'removed it' : `removed it and the branch ${branch}`;
      },
    };
  }
  const what =
    doubt ??
    `${fileCount} changed ${fileCount === 1 ? 'file' : 'files'}, ${commits} ${commits === 1 ? 'commit' : 'commits'}`;
  return {
    status: 'note',
    message: `The worktree ${path} of run ${runId} is kept: ${what}; branch ${branch}.`,
    remedy: `Take over what is in it, then: git worktree remove --force ${path} && git branch -D ${branch}`,
    runId,
    path,
  };
}
