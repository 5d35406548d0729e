/** Stack traces of `wf` itself: only with -v, which every command takes; and what nobody foresaw. */
import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeError } from '../../src/cli/show-error.js';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { MOCK } from './cli-kit.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

it.each([
  [['run', 'none.js', ...MOCK]],
  [['plan', '--resume-from', UNKNOWN]],
  [['ls', '--status', 'done']],
  [['prune', '--keep', 'all']],
  [['check', 'none.js']],
  [['test', 'none.js']],
  ...['show', 'explain', 'watch', 'logs', 'stop'].map((verb): [string[]] => [[verb, UNKNOWN]]),
  ...['skip', 'retry'].map((verb): [string[]] => [[verb, UNKNOWN, '#1']]),
])('wf %j shows its own frames with -v and not without', async (args) => {
  const project = makeProject();
  const plain = await runWf(args, { project });
  expect(plain).toMatchObject({ code: 2, stderr: expect.stringMatching(/^wf: WF_/) });
  expect(plain.stderr).not.toMatch(/^ {4}at /m);
  const verbose = await runWf([...args, '-v'], { project });
  expect(verbose).toMatchObject({ code: 2, stderr: expect.stringMatching(/^ {4}at .*dist/m) });
  expect(verbose.stderr.startsWith(plain.stderr)).toBe(true);
});

it('what nobody foresaw has a code too, and what to do', () => {
  const fault = new TypeError('x is not a function');
  const told = 'wf: WF_INTERNAL: A fault in wf itself: x is not a function\n';
  expect(describeError(fault, false)).toBe(`${told}  → Run it again with -v to see where, and report that.\n`);
  expect(describeError(fault, true)).toMatch(new RegExp(`^${told}  → Report this\\.\n${fault}\n {4}at `));
});

it('in a folder that was removed meanwhile every command says so', async () => {
  const project = makeProject();
  const removed = project.path('removed');
  for (const args of [
    ['ls'],
    ['show', UNKNOWN],
    ['run', 'flow.js', ...MOCK],
    ['doctor'],
    ['check', 'flow.js'],
    ['test', 'flow.js', '--mock', 'x'],
  ]) {
    project.write('removed/x', '');
    const { code, stdout, stderr } = await runWf(args, {
      project,
      under: ['sh', '-c', 'cd "$1" && rm -r "$1" && shift && exec "$@"', 'sh', removed],
    });
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
    expect(stderr).toMatch(/^wf: WF_FOLDER_MISSING: The folder .* is no longer there\.\n {2}→ .*\.\n$/);
  }
  rmSync(removed, { recursive: true, force: true });
});
