/** Worktrees of isolated calls. Empty ones of dead runs can go; what holds work is named and stays, whoever asks. */
import { quoteWord } from '../../shared/quote-word.js';
import { findLeftBranches, type LeftBranch } from '../left-branches.js';
import { type LeftWorktree, lookForWorktrees } from '../left-worktrees.js';
import type { DoctorCheck, Finding } from './finding.js';

export const checkWorktrees: DoctorCheck = {
  name: 'worktrees',
  title: 'Worktrees of calls',
  async look({ places, now }) {
    const found = await lookForWorktrees(places, now);
    const findings = found.filter(({ state, doubt }) => state !== 'in-use' || doubt !== undefined).map(describe);
    const used = found.length - findings.length;
    findings.push(...(await findLeftBranches(places, now)).map(describeBranch));
    if (findings.length > 0) return findings;
    return [{ status: 'ok', message: used === 0 ? 'No worktree is left.' : `${used} in use, none left over.` }];
  },
};

const describeBranch = ({ branch, runId, sweep }: LeftBranch): Finding => ({
  status: 'warn',
  message: `The branch ${branch} of run ${runId} is of a worktree that was never made, and holds nothing; its run is over.`,
  remedy: 'Nobody needs it. --fix removes it.',
  runId,
  async fix() {
    await sweep();
    return 'removed it';
  },
});

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
  const about = { status: 'note', runId, path } as const;
  if (state === 'in-use') {
    return {
      ...about,
      message: `The worktree ${path} of run ${runId} is in use: ${doubt}.`,
      remedy: 'When nobody is in it any more, --fix removes it if it holds nothing then.',
    };
  }
  const counts = `${fileCount} changed ${fileCount === 1 ? 'file' : 'files'}, ${commits} ${commits === 1 ? 'commit' : 'commits'}`;
  const kept = `The worktree ${path} of run ${runId} is kept: ${doubt ?? counts}`;
  return { ...about, message: `${kept}${branch === null ? '' : `; branch ${branch}`}.`, remedy: tellRemedy(left) };
}

function tellRemedy({ path, branch, isForeign }: LeftWorktree): string {
  const word = quoteWord(path);
  if (isForeign) return `Nothing of it is touched from here. If it is a copy that nobody needs: rm -r ${word}`;
  const remove =
    branch === null
      ? `rm -r ${word} && git worktree prune`
      : `git worktree remove --force ${word} && git branch -D ${branch}`;
  return `Take over what is in it, then: ${remove}`;
}
