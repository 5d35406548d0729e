/** A verb that was asked for JSON and fails says so in JSON on stdout, besides the words on stderr. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { MOCK, newestRun, THREE, workflow } from './cli-kit.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('--json of a verb that fails', () => {
  it.each<[string[], string]>([
    [['show', UNKNOWN], 'WF_RUN_UNKNOWN'],
    [['show', 'nothing'], 'WF_RUN_ID'],
    [['explain', UNKNOWN], 'WF_RUN_UNKNOWN'],
    [['watch', UNKNOWN], 'WF_RUN_UNKNOWN'],
    [['logs', UNKNOWN], 'WF_RUN_UNKNOWN'],
    [['stop', UNKNOWN], 'WF_RUN_UNKNOWN'],
    [['skip', UNKNOWN, '#1'], 'WF_RUN_UNKNOWN'],
    [['retry', UNKNOWN, '#1'], 'WF_RUN_UNKNOWN'],
    [['plan', '--resume-from', UNKNOWN], 'WF_RUN_UNKNOWN'],
    [['check', 'missing.js'], 'WF_SCRIPT_NOT_FOUND'],
    [['test', 'missing.js'], 'WF_SCRIPT_NOT_FOUND'],
    [['ls', '--status', 'done'], 'WF_USAGE'],
    [['prune', '--keep', 'all'], 'WF_USAGE'],
    [['show'], 'WF_USAGE'],
    [['ls', '--stauts', 'failed'], 'WF_USAGE'],
  ])('wf %j: one object with code, message, remedy and exit code', async (args, code) => {
    const project = makeProject();
    const plain = await runWf(args, { project });
    expect([plain.code, plain.stdout]).toEqual([2, '']);
    const failed = await runWf([...args, '--json'], { project });
    expect(failed).toMatchObject({ code: 2, stderr: plain.stderr });
    const { error } = JSON.parse(failed.stdout);
    expect(error).toMatchObject({ code, message: expect.stringMatching(/\w/), exitCode: 2 });
    expect(failed.stdout.trimEnd()).not.toContain('\n');
    if (code === 'WF_RUN_UNKNOWN') expect(error.remedy).toContain('`wf ls`');
  });

  it('names the place of each fault where there are several', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    await runWf(['run', 'flow.js', ...MOCK], { project });
    project.write('.claude/wf.json', '{ "retris": 1,\n "budget": "x" }');
    const { code, stdout } = await runWf(['plan', '--resume-from', newestRun(project), '--json'], { project });
    expect(code).toBe(2);
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'WF_CONFIG',
      file: '.claude/wf.json',
      line: 1,
      others: [{ code: 'WF_CONFIG', line: 2 }],
    });
  });

  it('help is no failure, and wf run keeps stdout for its result', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    expect((await runWf(['ls', '--json', '-h'], { project })).stdout).toMatch(/^Usage: wf ls/);
    expect(await runWf(['run', 'flow.js', '--json'], { project })).toMatchObject({ code: 2, stdout: '' });
  });
});

describe.each(['jsonl', 'json'])('wf run with --reporter %s', (reporter) => {
  it.each([
    [['--concurrency', 'x'], 'WF_USAGE'],
    [['--args', '{'], 'WF_ARGS'],
    [['--output', 'no/such/folder.json'], 'WF_USAGE'],
    [['--drain', 'soon'], 'WF_USAGE'],
    [['--confirm-above', '1'], 'WF_USAGE'],
    [['--resume-from', UNKNOWN], 'WF_RUN_UNKNOWN'],
  ])('%j: stderr holds the error in that format and no words', async (flags, code) => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const failed = await runWf(['run', 'flow.js', ...MOCK, ...flags, '--reporter', reporter], { project });
    expect(failed).toMatchObject({ code: 2, stdout: '' });
    expect(JSON.parse(failed.stderr)).toMatchObject({ type: 'error', code, message: expect.stringMatching(/\w/) });
  });

  it.each([
    [['--bogus'], /--bogus/],
    [['--bakend', 'mock'], /--bakend.*Did you mean --backend/s],
    [['--model'], /--model/],
    [['one', 'too', 'many'], /too many arguments/],
  ])('%j: also what is no flag is told in that format', async (flags, message) => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    for (const words of [
      ['run', 'flow.js', '--reporter', reporter, ...flags],
      ['run', `--reporter=${reporter}`, 'flow.js', ...flags],
    ]) {
      const failed = await runWf(words, { project });
      expect(failed).toMatchObject({ code: 2, stdout: '' });
      expect(JSON.parse(failed.stderr)).toMatchObject({
        type: 'error',
        code: 'WF_USAGE',
        message: expect.stringMatching(message),
        remedy: expect.stringContaining('wf run -h'),
      });
    }
    // Where the format goes to a file, stderr is for people.
    const plain = await runWf(['run', 'flow.js', '--reporter', `${reporter}=out`, ...flags], { project });
    expect(plain).toMatchObject({ code: 2, stderr: expect.stringMatching(/^wf: /) });
  });

  it('a result that cannot be written is told in that format, with the exit code of the command', async () => {
    const project = makeProject({ files: { 'flow.js': workflow('return await agent("x")'), 'out/.keep': '' } });
    const remove = ['--command', JSON.stringify(['/bin/sh', '-c', 'rm -r out; printf text'])];
    const flags = [...remove, '--reporter', reporter, '--output', 'out/x.json'];
    const failed = await runWf(['run', 'flow.js', ...flags], { project });
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(lastObject(failed.stderr)).toMatchObject(unwritten(/out\/x\.json.*state\.json/));
  });

  it('a full disk behind stdout too', async (context) => {
    context.skip(!existsSync('/dev/full'), '/dev/full is not there');
    const project = makeProject({ files: { 'flow.js': workflow('return "text"') } });
    const failed = await runWf(['run', 'flow.js', '--backend', 'mock', '--reporter', reporter], {
      project,
      under: ['bash', '-c', '"$0" "$@" >/dev/full'],
    });
    expect(failed.code).toBe(1);
    expect(lastObject(failed.stderr)).toMatchObject(unwritten(/stdout.*ENOSPC.*state\.json/));
  });

  /** `jsonl` has one object a line, `json` only one. */
  const lastObject = (stderr: string): unknown =>
    JSON.parse(reporter === 'json' ? stderr : (stderr.trimEnd().split('\n').at(-1) as string));
  const unwritten = (message: RegExp): object => ({
    ...(reporter === 'jsonl' ? { type: 'run.finished' } : { warnings: [] }),
    status: 'completed',
    exitCode: 1,
    error: { code: 'WF_OUTPUT', message: expect.stringMatching(message) },
  });
});

it('a result that cannot be written is a failed case of junit', async () => {
  const project = makeProject({ files: { 'flow.js': workflow('return await agent("x")'), 'out/.keep': '' } });
  const remove = ['--command', JSON.stringify(['/bin/sh', '-c', 'rm -r out; printf text'])];
  const flags = [...remove, '--reporter', 'junit', '--output', 'out/x.json'];
  const { code, stderr } = await runWf(['run', 'flow.js', ...flags], { project });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^<\?xml/);
  expect(stderr).toMatch(/<testcase name="run"[^>]*><error [^>]*WF_OUTPUT/);
});

it('wf run --plan --reporter json fails as wf plan --json does', async () => {
  const project = makeProject();
  const failed = await runWf(['run', '--plan', '--resume-from', UNKNOWN, '--reporter', 'json'], { project });
  expect(failed).toMatchObject({ code: 2, stderr: expect.stringContaining('wf: WF_RUN_UNKNOWN') });
  expect(JSON.parse(failed.stdout)).toMatchObject({ error: { code: 'WF_RUN_UNKNOWN', exitCode: 2 } });
});
