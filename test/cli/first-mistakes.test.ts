/** What somebody new gets wrong, and whether the words that come back lead on from there. */
import { describe, expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { MOCK, THREE, workflow } from './cli-kit.js';

const refusalOf = async (project: TestProject, args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runWf(args, { project });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  return stderr;
};

describe('a verb or flag of other tools', () => {
  it.each<[string[], string]>([
    [['resume', 'x'], 'wf run --resume-from <uuid>'],
    [['fork', 'x'], 'wf run --resume-from <uuid> --fork'],
    [['list'], 'wf ls'],
    [['status'], 'wf ls'],
    [['rm', 'x'], 'wf prune'],
    [['cancel', 'x'], 'wf stop <run>'],
    [['run', '--resume', 'x'], '--resume-from <uuid>'],
    [['run', 'flow.js', '--json'], '--reporter json'],
    [['run', 'flow.js', '--parallel', '2'], '--concurrency <n>'],
  ])('wf %j is answered with the one that is meant', async (args, meant) => {
    const told = await refusalOf(makeProject({ files: { 'flow.js': THREE } }), args);
    expect(told).toContain(`\n(Did you mean ${meant}?)\n  → wf`);
    expect(told.match(/Did you mean/g)).toHaveLength(1);
  });

  it('a plan without a run says how to see the calls of a script that never ran', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    expect(await refusalOf(project, ['plan', 'flow.js'])).toMatch(
      /A plan needs a run to go on from\.\n {2}→ wf plan --resume-from <uuid> \[script\]; .*wf run <script> --dry-run/,
    );
  });
});

describe('args that are no JSON', () => {
  it.each<[string, string[], RegExp]>([
    ['a comment', ['--args', '{"a": 1 // one\n}'], /→ JSON takes no comments\.\n/],
    [
      'a comment in a file',
      ['--args-file', 'commented.json'],
      /commented\.json is no JSON.*\n {2}→ JSON takes no comments/,
    ],
    ['single quotes', ['--args', "{'a': 1}"], /→ Names and texts stand in double quotes/],
    ['a bare name', ['--args', '{a: 1}'], /→ Names and texts stand in double quotes/],
    ['a last comma', ['--args', '{"a": [1, 2,]}'], /→ No comma stands before a closing bracket\.\n/],
    ['a typed value', ['--arg', 'n:=five'], /→ Write --arg n=… for text; after := stands JSON/],
    ['a file that is there', ['--args', 'plain.json'], /→ To read the file: --args-file plain\.json\n/],
    ['a file in the way of other tools', ['--args', '@plain.json'], /→ To read the file: --args-file plain\.json\n/],
    ['a file that is not there', ['--args-file', 'none.json'], /none\.json cannot be read: there is no such file\.\n/],
    ['slashes in a text are no comment', ['--args', '{"a": "http://x" "b"}'], /→ Plain text goes into --args-text/],
  ])('%s: the remedy is for that', async (_, flags, words) => {
    const files = { 'flow.js': THREE, 'commented.json': '{ // one\n}', 'plain.json': '{}' };
    expect(await refusalOf(makeProject({ files }), ['run', 'flow.js', ...MOCK, ...flags])).toMatch(words);
  });

  it('a text that is taken for a list is told apart from one', async () => {
    const project = makeProject({ files: { 'flow.js': workflow('return args.files.map((x) => x)') } });
    const told = await runWf(['run', 'flow.js', ...MOCK, '--arg', 'files=["a"]'], { project });
    expect(told.stderr).toContain(
      'args.files.map is not a function. `args.files` is no list: `--arg files:=\'["a","b"]\'` gives one, and `--arg files=…` always a text. (flow.js:2:',
    );
    const list = await runWf(['run', 'flow.js', ...MOCK, '--arg', 'files:=["a","b"]'], { project });
    expect(JSON.parse(list.stdout)).toEqual(['a', 'b']);
  });
});
