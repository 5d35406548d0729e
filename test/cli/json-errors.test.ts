/** A verb that was asked for JSON and fails says so in JSON on stdout, besides the words on stderr. */
import { describe, expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { MOCK, newestRun, THREE } from './cli-kit.js';

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
});
