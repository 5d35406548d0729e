/** What is waited for around git: once in a look at many worktrees, not at each of them. */
import { chmodSync, mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runGit } from '../../src/agents/worktree/git.js';
import { takeTurn } from '../../src/agents/worktree/repository-turns.js';
import { makeProject, type TestProject } from '../support/temp-project.js';

/** A `git` that never ends. */
function hangingGit(project: TestProject): { env: Record<string, string>; outlasted: Set<string> } {
  project.write('bin/git', '#!/bin/sh\nexec sleep 600\n');
  chmodSync(project.path('bin/git'), 0o755);
  return { env: { ...project.env, PATH: `${project.path('bin')}:${project.env.PATH}` }, outlasted: new Set() };
}

it('a git command that outlasts its limit says so, and is given 5 s the next time', async () => {
  const project = makeProject();
  const place = hangingGit(project);
  const ask = (timeoutMs: number) => runGit(place, ['status', '-z'], { cwd: project.dir, timeoutMs });
  const ends = [await ask(200), await ask(300_000)];
  expect(ends.map(({ code, stderr }) => [code, stderr.trim()])).toEqual([
    [null, 'error: git status -z was stopped: it had not ended after 0.2 s'],
    [null, 'error: git status -z was stopped: it had not ended after 5 s'],
  ]);
}, 60_000);

it('the turn at a repository that was waited for in vain is not waited for again', async () => {
  const project = makeProject();
  const lock = join(project.dir, 'wf-worktrees.lock');
  mkdirSync(lock);
  // Somebody who hangs keeps it fresh.
  const ahead = new Date(Date.now() + 3_600_000);
  utimesSync(lock, ahead, ahead);
  expect(await takeTurn(project.dir, async () => 'done', new Set([lock]))).toBe('done');
}, 10_000);
