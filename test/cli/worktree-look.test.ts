/** The look for uncommitted changes, which only a warning comes from, while `git status` of the working tree takes very long. */
import { chmodSync, existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { expectNoProcessesLeft } from '../support/processes.js';
import { startWf } from '../support/run-wf.js';
import { waitFor } from '../support/wait.js';
import { familyOf, readState } from './cli-kit.js';
import { isolatedFan, makeRepository, SHELL, treesOf } from './support/worktrees.js';

/** A `git` whose look at the whole working tree of the project lasts until a file is there. */
const SLOW_GIT = `#!/bin/sh
if [ "$*" = "status --porcelain=v1 -z --no-renames" ]; then
  : > "$CONTROL/looking"
  until [ -e "$CONTROL/look" ]; do sleep 0.05; done
fi
PATH=\${PATH#*:} exec git "$@"
`;

/** @param prompt what the only call does, by the place of the files that the tests wait for */
function makeSlowRepository(prompt: (control: string) => string) {
  const project = makeRepository({ 'a.txt': 'a\n' });
  project.write('flow.js', isolatedFan({ edits: prompt(project.control) }));
  const program = project.write('../bin/git', SLOW_GIT.replaceAll('$CONTROL', project.control));
  chmodSync(program, 0o755);
  const env = { PATH: `${project.root}/bin:${project.env.PATH}` };
  const until = (file: string) => waitFor(`the file ${file}`, () => existsSync(`${project.control}/${file}`));
  return { project, env, until };
}

it.each([
  ['SIGINT', 130, 'cancelled'],
  ['SIGTERM', 143, 'interrupted'],
] as const)(
  '%s does not wait for it: nothing is told of it, and what a call has changed is kept',
  async (signal, code, status) => {
    const { project, env, until } = makeSlowRepository((control) => `echo b >> a.txt; : > ${control}/edited; sleep 60`);
    const wf = startWf(['run', 'flow.js', '--drain', '0s', ...SHELL], { project, env, timeoutMs: 20_000 });
    await until('looking');
    await until('edited');
    wf.kill(signal);
    const ended = await wf.done;
    expect(ended.code).toBe(code);
    expect(ended.stderr).not.toMatch(/WF_WORKTREE_BASE/);
    expect(readState(project)).toMatchObject({ status, worktrees: [{ files: ['a.txt'] }] });
    expect(treesOf(project)).toHaveLength(1);
    await expectNoProcessesLeft(project.root);
  },
);

it('a cancel that comes when the script has come to its end, and only the look is waited for, ends the waiting', async () => {
  const { project, env, until } = makeSlowRepository(() => 'echo fine');
  const wf = startWf(['run', 'flow.js', ...SHELL], { project, env, timeoutMs: 20_000 });
  await until('looking');
  await wf.waitForStderr(/#1 edits: ok|edits.*ok/);
  await waitFor(
    'the sandbox to be gone',
    () => !familyOf(wf.pid).some(({ command }) => command.includes('sandbox.cjs')),
  );
  wf.kill('SIGINT');
  const ended = await wf.done;
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('fine') });
  expect(ended.stderr).not.toMatch(/WF_WORKTREE_BASE/);
  expect(readState(project)).toMatchObject({ status: 'completed' });
  expect(treesOf(project)).toEqual([]);
});

it('a run that nobody ends waits for it and tells of it', async () => {
  const { project, env, until } = makeSlowRepository(() => 'echo fine');
  const wf = startWf(['run', 'flow.js', ...SHELL], { project, env });
  await until('looking');
  project.write('../control/look', '');
  const ended = await wf.done;
  expect(ended.code).toBe(0);
  expect(ended.stderr).toMatch(/WF_WORKTREE_BASE: The working tree has 1 uncommitted change:/);
});
