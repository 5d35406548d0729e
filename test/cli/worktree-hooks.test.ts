/** What hooks of the repository do to a call whose worktree is being made: they may take long, and leave something running. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isAlive } from '../support/processes.js';
import { startWf } from '../support/run-wf.js';
import type { TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { readState, workflow } from './cli-kit.js';
import { idOf, madeIn, run } from './support/runs.js';
import { branchesOf, isolatedFan, makeRepository, SHELL, treesOf } from './support/worktrees.js';

function hook(project: TestProject, text: string): void {
  project.write('.git/hooks/post-checkout', `#!/bin/sh\n${text}\n`);
  chmodSync(project.path('.git/hooks/post-checkout'), 0o755);
}
const noted = (project: TestProject, name: string): boolean => existsSync(join(project.home, name));
const open = (project: TestProject, gate: string): void => writeFileSync(join(project.home, gate), '');
/** Shell: waits until the test opens the gate. */
const until = (gate: string): string => `while [ ! -e "$HOME/${gate}" ]; do sleep 0.02; done`;

it('B-072 a call whose worktree is still being made when another one fails for all is never asked', async () => {
  const project = makeRepository({ 'a.txt': 'a' });
  hook(project, `touch "$HOME/checking-out"; ${until('checked-out')}`);
  const limit = JSON.stringify({ wf: 'error', kind: 'usage_limit', message: 'used up' });
  const prompts = {
    late: 'touch "$HOME/asked"; echo done',
    fails: `${until('fail')}; echo '${limit}' >&2; exit 1`,
    // It was asked before the end: its answer is kept.
    early: `touch "$HOME/early"; ${until('answer')}; echo fine`,
  };
  const calls = Object.entries(prompts).map(([label, prompt]) => {
    const options = { label, ...(label === 'late' && { isolation: 'worktree' }) };
    return `() => agent(${JSON.stringify(prompt)}, ${JSON.stringify(options)})`;
  });
  project.write('flow.js', workflow(`return await parallel([${calls.join(', ')}])`));
  const going = startWf(['run', 'flow.js', ...SHELL, '--reporter', 'jsonl'], { project, timeoutMs: 60_000 });
  const gaveUp = (): string | undefined => (going.ended ? `wf has ended:\n${going.stderr}` : undefined);
  await waitFor('the checkout', () => noted(project, 'checking-out') && noted(project, 'early'), { gaveUp });
  open(project, 'fail');
  await going.waitForStderr(/"type":"call\.finished","n":2,/);
  open(project, 'checked-out');
  open(project, 'answer');
  const done = await going.done;
  const id = idOf(done.stderr);
  expect([done.code, done.stdout]).toEqual([6, '']);
  expect(noted(project, 'asked')).toBe(false);
  expect(readState(project, id)).toMatchObject({
    cause: 'WF_USAGE_LIMIT',
    counts: { calls: 3, ok: 1, failed: 0, noResult: 2 },
  });
  expect(madeIn(project, id).map(({ n, kind }) => [n, kind])).toEqual([[3, 'ok']]);
  expect([treesOf(project), branchesOf(project)]).toEqual([[], []]);
}, 90_000);

it('B-139 what a hook leaves running holds no call back, and is left alone', async () => {
  const project = makeRepository({ 'a.txt': 'a' }, { leavesProcesses: true });
  hook(project, 'sleep 120 & echo $! > "$HOME/left"');
  project.write('flow.js', isolatedFan({ one: 'cat a.txt; echo x > a.txt' }));
  const done = await run(project, ['flow.js', ...SHELL], { timeoutMs: 30_000 });
  expect([done.code, done.result]).toEqual([0, ['a']]);
  const left = Number(readFileSync(join(project.home, 'left'), 'utf8'));
  expect(isAlive(left)).toBe(true);
  expect(done.state.worktrees).toMatchObject([{ label: 'one', files: ['a.txt'] }]);
}, 60_000);
