/** Branches of worktrees that were never made: git makes the branch first, and was killed before there was a folder. */
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startWf } from '../support/run-wf.js';
import type { TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { killRun, run } from './support/runs.js';
import { branchesOf, doctorTrees, foldersOf, isolatedFan, makeRepository, SHELL } from './support/worktrees.js';

/** A run that was killed, with its git, when that had made the branches of its calls and nothing more. */
async function killAtBranch(calls: number): Promise<{ project: TestProject; id: string }> {
  const project = makeRepository({ 'a.txt': 'a' });
  const prompts = Object.fromEntries(Array.from({ length: calls }, (_, i) => [`c${i + 1}`, 'echo fine']));
  project.write('flow.js', isolatedFan(prompts));
  // Git calls it when the branch is there, and waits for it.
  const hook = project.write(
    '.git/hooks/reference-transaction',
    '#!/bin/sh\n[ "$1" = committed ] || exit 0\necho made >> "$HOME/branches"\nexec sleep 600\n',
  );
  chmodSync(hook, 0o755);
  const going = startWf(['run', 'flow.js', '--concurrency', String(calls), ...SHELL], { project, timeoutMs: 60_000 });
  const noted = join(project.home, 'branches');
  await waitFor('the branches', () => existsSync(noted) && readFileSync(noted, 'utf8').split('\n').length > calls, {
    gaveUp: () => (going.ended ? going.stderr : undefined),
  });
  const id = await killRun(going);
  rmSync(hook);
  expect(foldersOf(project)).toEqual([]);
  expect(branchesOf(project)).toEqual(Array.from({ length: calls }, (_, i) => `wf/${id}/${i + 1}`));
  return { project, id };
}

describe('a branch that git had made for a worktree and no more', () => {
  it('is named by wf doctor and removed by --fix', async () => {
    const { project, id } = await killAtBranch(2);
    const admin = project.path('.git', 'worktrees', `${id}-2`);
    // Of the second one it had made its own folder too.
    mkdirSync(admin, { recursive: true });
    writeFileSync(join(admin, 'locked'), 'initializing\n');
    const seen = await doctorTrees(project);
    expect(seen.map(({ status, runId, fixable }) => [status, runId, fixable])).toEqual([
      ['warn', id, true],
      ['warn', id, true],
    ]);
    expect(seen[0]?.message).toContain(`The branch wf/${id}/1 of run ${id}`);
    expect(branchesOf(project)).toHaveLength(2);
    const fixed = await doctorTrees(project, '--fix');
    expect(fixed.map(({ fixed, fixError }) => fixError ?? fixed)).toEqual(['removed it', 'removed it']);
    expect([branchesOf(project), existsSync(admin)]).toEqual([[], false]);
    expect(await doctorTrees(project)).toEqual([]);
    expect((await run(project, ['flow.js', ...SHELL])).code).toBe(0);
  }, 120_000);

  it('stays where it is anything to anybody, or may not be ours', async () => {
    const { project, id } = await killAtBranch(9);
    const branch = (n: number): string => `wf/${id}/${n}`;
    const sha = project.git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'own').trim();
    // A commit of its own; one that somebody has merged since; one that was taken back.
    project.git('update-ref', `refs/heads/${branch(1)}`, sha);
    const merged = project.git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'merged').trim();
    project.git('update-ref', `refs/heads/${branch(2)}`, merged);
    project.git('merge', '-q', '--ff-only', merged);
    project.git('update-ref', `refs/heads/${branch(3)}`, merged);
    project.git('update-ref', `refs/heads/${branch(3)}`, 'HEAD~1');
    // Checked out, in a worktree and with an upstream.
    project.git('worktree', 'add', '-q', join(project.root, 'mine'), branch(4));
    project.git('checkout', '-q', branch(5));
    project.git('branch', '-q', '--set-upstream-to=main', branch(6));
    // A worktree of it is on record.
    const worktree = {
      type: 'call.worktree',
      n: 7,
      label: 'c7',
      state: 'made',
      path: '/x',
      branch: branch(7),
      base: sha,
    };
    appendFileSync(
      join(project.runDir(id), 'events.jsonl'),
      `${JSON.stringify({ t: new Date().toISOString(), ...worktree })}\n`,
    );
    // Git knows more of its worktree than that it is being made.
    const admin = project.path('.git', 'worktrees', `${id}-8`);
    mkdirSync(admin, { recursive: true });
    writeFileSync(join(admin, 'gitdir'), `${join(project.root, 'elsewhere')}/.git\n`);
    // Of calls that the run has not, of a run that is not here, and of no shape of ours.
    const others = [`wf/${id}/10`, `wf/${id}/9-x`, `wf/00000000-0000-4000-8000-000000000001/1`, 'wf/mine'];
    for (const name of others) project.git('branch', name, 'main');
    const before = branchesOf(project);
    const found = await doctorTrees(project, '--fix');
    expect(found.map(({ message }) => /branch (\S+)/.exec(message)?.[1])).toEqual([branch(9)]);
    expect(branchesOf(project)).toEqual(before.filter((name) => name !== branch(9)));
    project.git('rev-parse', 'HEAD');
    execFileSync('git', ['rev-parse', 'HEAD'], { cwd: join(project.root, 'mine'), env: project.env });
  }, 120_000);

  it('stays as long as its run is alive', async () => {
    const project = makeRepository({ 'a.txt': 'a' });
    project.write('flow.js', isolatedFan({ one: 'echo fine' }));
    const hook = project.write(
      '.git/hooks/reference-transaction',
      '#!/bin/sh\n[ "$1" = committed ] || exit 0\ntouch "$HOME/branch"\nwhile [ ! -e "$HOME/gate" ]; do sleep 0.02; done\n',
    );
    chmodSync(hook, 0o755);
    const going = startWf(['run', 'flow.js', ...SHELL], { project, timeoutMs: 60_000 });
    await waitFor('the branch', () => existsSync(join(project.home, 'branch')), {
      gaveUp: () => (going.ended ? going.stderr : undefined),
    });
    expect(await doctorTrees(project, '--fix')).toEqual([]);
    expect(branchesOf(project)).toHaveLength(1);
    writeFileSync(join(project.home, 'gate'), '');
    expect(JSON.parse((await going.done).stdout)).toEqual(['fine']);
    expect(branchesOf(project)).toEqual([]);
  }, 120_000);
});
