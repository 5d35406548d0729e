/** `wf doctor` where git takes long: it says at what it is, and looks at few worktrees at once. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DoctorReport } from '../../src/index.js';
import { expectNoProcessesLeft } from '../support/processes.js';
import { startWf } from '../support/run-wf.js';
import type { TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { run } from './support/runs.js';
import { foldersOf, isolatedFan, makeRepository, SHELL } from './support/worktrees.js';

/** Puts shell lines before each `git` that `wf` starts; `$log` is a file that they may write. */
function wrapGit(project: TestProject, lines: string): { env: { PATH: string }; log: string } {
  const real = execFileSync('sh', ['-c', 'command -v git'], { env: project.env, encoding: 'utf8' }).trim();
  const bin = join(project.root, 'bin');
  const log = join(project.home, 'log');
  mkdirSync(bin);
  writeFileSync(log, '');
  writeFileSync(join(bin, 'git'), `#!/bin/sh\ngit=${real}\nlog=${log}\n${lines}\n`, { mode: 0o755 });
  return { env: { PATH: `${bin}:${project.env.PATH}` }, log };
}

async function makeLeft(count: number): Promise<TestProject> {
  const project = makeRepository({ 'a.txt': 'a', 'flow.js': isolatedFan({ one: 'echo one' }) });
  const { id } = await run(project, ['flow.js', ...SHELL]);
  for (let n = 1; n <= count; n++) {
    project.git('worktree', 'add', '-q', '-b', `wf/${id}/${n}`, project.path('.claude', 'worktrees', `${id}-${n}`));
  }
  return project;
}

it('says on stderr at what it is when a step takes long, waits 10 s for one answer of git, and reports as ever', async () => {
  const project = await makeLeft(1);
  // Now git is asked whether it ignores the folder.
  rmSync(join(project.runsDir, '.gitignore'));
  const gate = join(project.home, 'gate');
  const { env } = wrapGit(
    project,
    `case "$*" in check-ignore*) exec sleep 600;; "worktree remove"*) while [ ! -e ${gate} ]; do sleep 0.02; done;; esac\nexec $git "$@"`,
  );
  const going = startWf(['doctor', '--fix', '--json'], { project, env, timeoutMs: 60_000 });
  await going.waitForStderr(/still at "Worktrees of calls", mending \S+-1, for \d+ s\./, 40_000);
  writeFileSync(gate, '');
  const { stdout } = await going.done;
  const { findings } = JSON.parse(stdout) as DoctorReport;
  const untold = findings.filter(({ message }) => message.startsWith('git did not tell within 10 s'));
  expect(untold.map(({ check, status }) => [check, status])).toEqual([['runs-folder', 'warn']]);
  const trees = findings.filter(({ check }) => check === 'worktrees');
  expect(trees.map(({ fixed }) => fixed?.slice(0, 10))).toEqual(['removed it']);
  expect(foldersOf(project)).toEqual([]);
}, 90_000);

it('looks at few worktrees at once, and at all of them', async () => {
  const project = await makeLeft(12);
  const { env, log } = wrapGit(
    project,
    'case "$1" in status) echo + >> $log; $git "$@"; code=$?; echo - >> $log; exit $code;; esac\nexec $git "$@"',
  );
  const { stdout } = await startWf(['doctor', '--json'], { project, env, timeoutMs: 60_000 }).done;
  const trees = (JSON.parse(stdout) as DoctorReport).findings.filter(({ check }) => check === 'worktrees');
  expect(trees.map(({ fixable }) => fixable)).toEqual(Array(12).fill(true));
  let now = 0;
  let most = 0;
  const marks = readFileSync(log, 'utf8')
    .split('\n')
    .filter((mark) => mark !== '');
  for (const mark of marks) most = Math.max(most, mark === '+' ? ++now : now--);
  expect([marks.length, most <= 4]).toEqual([24, true]);
}, 90_000);

it('leaves no git behind that only looks, when it is ended', async () => {
  const project = await makeLeft(1);
  const { env, log } = wrapGit(project, 'case "$1" in status) echo + >> $log; exec sleep 600;; esac\nexec $git "$@"');
  const wf = startWf(['doctor'], { project, env });
  await waitFor('git to be asked', () => readFileSync(log, 'utf8') !== '');
  wf.kill('SIGINT');
  expect(await wf.done).toMatchObject({ code: 130, stdout: '' });
  await expectNoProcessesLeft(project.root);
});
