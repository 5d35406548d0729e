/** What somebody new gets wrong, and whether the words that come back lead on from there. */
import { chmodSync } from 'node:fs';
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
    [['run', 'flow.js', '--resume=x'], '--resume-from <uuid>'],
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
    ['a folder', ['--args', 'folder'], /→ Plain text goes into --args-text/],
    ['a text too long for a name', ['--args', 'word '.repeat(2_000)], /→ Plain text goes into --args-text/],
    [
      'an address that lost its quotes',
      ['--args', '{url: https://x.test}'],
      /→ Names and texts stand in double quotes/,
    ],
    ['a pattern that lost its quotes', ['--args', '[src/*]'], /→ Plain text goes into --args-text/],
    ['slashes in a text are no comment', ['--args', '{"a": "http://x" "b"}'], /→ Plain text goes into --args-text/],
  ])('%s: the remedy is for that', async (_, flags, words) => {
    const files = { 'flow.js': THREE, 'commented.json': '{ // one\n}', 'plain.json': '{}', 'folder/x': '' };
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

describe('a place that is nearly right', () => {
  it('a folder in place of a script names scripts in it', async () => {
    const project = makeProject({
      files: { 'flows/a.js': THREE, 'flows/b.ts': THREE, 'flows/c.md': '', 'empty/x': '' },
    });
    expect(await refusalOf(project, ['run', 'flows', ...MOCK])).toBe(
      'wf: WF_SCRIPT_NOT_FOUND: flows is a folder, and no saved workflow has that name.\n' +
        '  → Give a script in it: flows/a.js, flows/b.ts.\n',
    );
    // As a shell completes it, and with a path before it.
    for (const given of ['flows/', './flows', project.path('flows')])
      expect(await refusalOf(project, ['run', given, ...MOCK])).toMatch(
        /flows: it is a folder\.\n {2}→ Give a script in it: \S*flows\/a\.js, \S*flows\/b\.ts\.\n$/,
      );
    expect(await refusalOf(project, ['check', 'empty'])).toMatch(
      /empty is a folder.*\n {2}→ Give the path of a script, or the name of a saved workflow\.\n$/,
    );
  });

  it('a program of this folder without ./ is told apart from one that is nowhere', async () => {
    const project = makeProject({ files: { 'flow.js': THREE, 'agent.sh': '#!/bin/sh\necho x\n' } });
    const run = (command: string) => runWf(['run', 'flow.js', '-q', '--command', command], { project });
    const here = await run('agent.sh');
    expect(here.code).toBe(6);
    expect(here.stderr).toContain('agent.sh could not be started: there is no such program on the PATH. ');
    expect(here.stderr).toContain('The file agent.sh of this folder is meant by ./agent.sh. ');
    expect((await run('no-such-agent')).stderr).not.toContain('./');
  });

  it('a program that may not be executed, or whose interpreter is missing, says which of both', async () => {
    const files = { 'flow.js': THREE, 'agent.sh': '#!/bin/sh\necho x\n', 'lost.sh': '#!/no/such/shell\n' };
    const project = makeProject({ files });
    chmodSync(project.path('lost.sh'), 0o755);
    const run = (command: string) => runWf(['run', 'flow.js', '-q', '--command', command], { project });
    expect((await run('./agent.sh')).stderr).toContain('Make it executable (chmod +x). ');
    expect((await run('./lost.sh')).stderr).toContain(
      'lost.sh could not be started: the program that its first line names (#!/no/such/shell) is not there. ',
    );
  });

  it('a script with line ends of Windows is not told that its interpreter is missing', async () => {
    const project = makeProject({ files: { 'flow.js': THREE, 'agent.sh': '#!/bin/sh\r\necho x\r\n' } });
    chmodSync(project.path('agent.sh'), 0o755);
    const { code, stderr } = await runWf(['run', 'flow.js', '-q', '--command', './agent.sh'], { project });
    expect(code).toBe(6);
    expect(stderr).toContain('agent.sh could not be started: its first line (#!/bin/sh) ends in a carriage return. ');
    expect(stderr).toContain('Save it with line ends of Unix (LF). ');
  });

  it('phases as a list of texts are told in the form that is meant', async () => {
    const text = "export const meta = { name: 'flow', description: 'd', phases: ['Find'] }\nreturn 1\n";
    const { stdout } = await runWf(['check', 'flow.js'], { project: makeProject({ files: { 'flow.js': text } }) });
    expect(stdout).toContain("→ Write `phases: [{ title: '…' }]`.");
  });
});
