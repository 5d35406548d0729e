/** The reading verbs, help and usage: shapes that programs rely on, and words that help people. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { MOCK, newestRun, THREE, workflow } from './cli-kit.js';

const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const KEY = expect.stringMatching(/^[0-9a-f]{64}$/);
const COUNTS = ['calls', 'ok', 'failed', 'recovered', 'skipped', 'abandoned', 'noResult', 'reused', 'executed'];
const USAGE = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'usd', 'savedOutputTokens', 'savedUsd'];

describe('help and usage', () => {
  it('wf -h and the -h of each verb say what it does, with two examples, on stdout', async () => {
    const project = makeProject();
    const { code, stdout, stderr } = await runWf(['-h'], { project });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const verbs = [...stdout.matchAll(/^ {2}([a-z]+) .*/gm)].map(([, verb]) => verb as string);
    expect(verbs).toEqual(expect.arrayContaining(['run', 'ls', 'show', 'check', 'prune']));
    for (const verb of verbs.filter((name) => name !== 'help' && name !== 'wf')) {
      const help = await runWf([verb, '--help'], { project });
      expect({ verb, code: help.code, stderr: help.stderr }).toEqual({ verb, code: 0, stderr: '' });
      expect(help.stdout).toMatch(new RegExp(`^Usage: wf ${verb} `));
      expect(help.stdout.match(/^ {2}\$ wf /gm)).toHaveLength(2);
    }
  });

  it('the help of wf run names no flag of a later room', async () => {
    const { stdout } = await runWf(['run', '-h'], { project: makeProject() });
    expect(stdout).not.toMatch(/--(require-same|max-live|rerun|accept|continue-inflight)\b/);
  });

  it('wf --version prints the version and nothing else', async () => {
    const { code, stdout, stderr } = await runWf(['--version'], { project: makeProject() });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  });

  it.each<[string, string[], RegExp]>([
    ['no verb', [], /Usage: wf/],
    ['an unknown verb', ['rnu', 'x.js'], /unknown command 'rnu'\n.*run/],
    ['an unknown flag', ['run', 'flow.js', '--resum-from', 'x'], /unknown option '--resum-from'\n.*--resume-from/],
    ['a flag of a verb that has none', ['ls', '--bogus'], /unknown option '--bogus'/],
    ['too many words', ['run', 'flow.js', 'more'], /too many arguments/],
    ['a missing word', ['show'], /missing required argument 'run'/],
    ['no script', ['run', ...MOCK], /WF_USAGE.*No script/],
    ['no backend', ['run', 'flow.js'], /WF_BACKEND_UNKNOWN[\s\S]*--dry-run/],
    ['an unknown backend', ['run', 'flow.js', '--backend', 'mok'], /WF_BACKEND_UNKNOWN[\s\S]*mock/],
    ['a number that is none', ['run', 'flow.js', '--concurrency', 'many', ...MOCK], /WF_USAGE.*--concurrency.*"many"/],
    ['a number out of range', ['run', 'flow.js', '--concurrency', '0', ...MOCK], /WF_USAGE.*--concurrency/],
    ['a time that is none', ['run', 'flow.js', '--timeout', '5x', ...MOCK], /WF_USAGE.*--timeout.*"5x"/],
    ['a choice that is none', ['ls', '--status', 'done'], /WF_USAGE.*--status.*completed/],
    ['an unknown reporter', ['run', 'flow.js', '--reporter', 'jsnl', ...MOCK], /WF_USAGE[\s\S]*jsonl/],
    ['an id that is none', ['run', 'flow.js', '--run-id', 'x', ...MOCK], /WF_RUN_ID.*"x"/],
    ['two meanings of backend', ['run', 'flow.js', '--dry-run', '--backend', 'command'], /WF_USAGE.*--dry-run/],
    ['a misspelt workflow', ['run', 'reveiw', ...MOCK], /WF_SCRIPT_NOT_FOUND[\s\S]*Did you mean `review`/],
    ['a missing file', ['run', 'missing.js', ...MOCK], /WF_SCRIPT_NOT_FOUND.*missing\.js/],
  ])('%s: exit 2, what is wrong and what is near, nothing made', async (_, args, words) => {
    const project = makeProject({
      files: { 'flow.js': THREE, '.claude/workflows/review.js': workflow('return 1', 'review') },
    });
    const { code, stdout, stderr } = await runWf(args, { project });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/\n {4}at /);
    expect(project.runIds()).toEqual([]);
  });
});

describe('wf ls', () => {
  it('R9: --json has the documented shape, newest first; -n, --status and -q choose', async () => {
    const project = makeProject({ files: { 'flow.js': THREE, 'bad.js': workflow('throw new Error("x")', 'bad') } });
    expect((await runWf(['ls'], { project })).stdout).toMatch(/No runs here yet/);
    expect((await runWf(['ls', '--json'], { project })).stdout).toBe('[]\n');
    await runWf(['run', 'flow.js', ...MOCK], { project });
    const first = newestRun(project);
    await runWf(['run', 'bad.js', ...MOCK], { project });
    const second = project.runIds().find((id) => id !== first) as string;

    const rows = JSON.parse((await runWf(['ls', '--json'], { project })).stdout);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({ runId: second, workflow: 'bad', status: 'failed', resumedFrom: null });
    expect(rows[1]).toMatchObject({
      runId: UUID,
      workflow: 'flow',
      status: 'completed',
      startedAt: TIME,
      endedAt: TIME,
      resumedFrom: null,
      backend: 'mock',
      counts: { calls: 3, ok: 3, executed: 3, reused: 0, failed: 0 },
      usage: { usd: 0, savedUsd: null },
    });
    expect(Object.keys(rows[1].counts)).toEqual(COUNTS);
    expect(Object.keys(rows[1].usage)).toEqual(USAGE);

    const ids = async (...flags: string[]) => (await runWf(['ls', '-q', ...flags], { project })).stdout;
    expect(await ids()).toBe(`${second}\n${first}\n`);
    expect(await ids('-n', '1')).toBe(`${second}\n`);
    expect(await ids('--status', 'completed')).toBe(`${first}\n`);
    expect(await ids('--status', 'cancelled')).toBe('');
    const table = (await runWf(['ls'], { project })).stdout;
    expect(table).toMatch(new RegExp(`^RUN +WORKFLOW +STATUS.*\n${second} +bad.*failed.*\n${first} +flow.*completed`));
  });
});

describe('wf show', () => {
  it('after an error of the script names the file in which it is mended, from the folder where one stands; else the stored copy goes on', async () => {
    const broken = workflow("await agent('A')\nthrow new Error('oops')");
    const project = makeProject({ files: { 'flows/my flow.js': broken, 'deep/er/x': '' } });
    const backend = makeFakeBackend(project, {});
    await runWf(['run', 'flows/my flow.js', ...backend.flags], { project });
    const id = newestRun(project);
    const shown = async (cwd = project.dir) => {
      const { stdout } = await runWf(['show', id], { project, cwd });
      const run = JSON.parse((await runWf(['show', id, '--json'], { project, cwd })).stdout);
      expect(stdout).toContain(`To go on: ${run.resumeCommand}\n`);
      return run.resumeCommand;
    };
    expect(await shown()).toBe(`wf run 'flows/my flow.js' --resume-from ${id}`);
    expect(await shown(join(project.dir, 'deep/er'))).toBe(`wf run '../../flows/my flow.js' --resume-from ${id}`);
    writeFileSync(join(project.dir, 'flows/my flow.js'), workflow("return await agent('A')"));
    const mended = await runWf(['run', 'flows/my flow.js', '--resume-from', id, ...backend.flags], { project });
    expect([mended.code, backend.ledger.starts().length]).toEqual([0, 1]);
    rmSync(join(project.dir, 'flows/my flow.js'));
    expect(await shown()).toBe(`wf run --resume-from ${id}`);
    const { stdout } = await runWf(['show', newestRun(project), '--json'], { project });
    expect(JSON.parse(stdout).resumeCommand).toBe(null);
  });

  it('R9 H7: one run and one call, for people and as JSON; by prefix, number, label and key', async () => {
    const project = makeProject({
      files: {
        'flow.js': workflow(`phase('Look')
const a = await agent('do A', { label: 'A' })
await agent('do A2', { label: 'A2' })
phase('Judge')
await agent('do B', { label: 'B' })
return { a }`),
      },
    });
    const backend = makeFakeBackend(project, {
      rules: { B: { fail: 1 }, A: { tokens: { in: 10, out: 20, usd: 0.5 } } },
    });
    await runWf(['run', 'flow.js', ...backend.flags], { project });
    const id = newestRun(project);

    const run = JSON.parse((await runWf(['show', id.slice(0, 8).toUpperCase(), '--json'], { project })).stdout);
    expect(run).toMatchObject({
      runId: id,
      workflow: 'flow',
      status: 'completed',
      startedAt: TIME,
      endedAt: TIME,
      resumedFrom: null,
      backend: 'command',
      usage: { inputTokens: 10, outputTokens: 20, usd: 0.5 },
      result: { a: 'A answered #1' },
      phases: [
        { title: 'Look', counts: { calls: 2, ok: 2 } },
        { title: 'Judge', counts: { calls: 1, failed: 1 } },
      ],
      notices: [],
    });
    const call = { nth: 0, path: '', key: KEY, reused: false, from: null, attempts: 1, startedAt: TIME, endedAt: TIME };
    expect(run.calls).toMatchObject([
      { ...call, seq: expect.any(Number), label: 'A', phase: 'Look', status: 'ok' },
      { ...call, seq: expect.any(Number), label: 'A2', phase: 'Look', status: 'ok' },
      { ...call, label: 'B', phase: 'Judge', status: 'failed', error: { code: 'WF_AGENT_FAILED' } },
    ]);

    for (const name of ['#1', 'A', run.calls[0].key.slice(0, 10)]) {
      const { stdout } = await runWf(['show', id, name, '--json'], { project });
      expect(JSON.parse(stdout)).toMatchObject({ label: 'A', prompt: 'do A', output: 'A answered #1', status: 'ok' });
    }
    const person = await runWf(['show', id, '#1'], { project });
    expect(person.stdout).toMatch(/prompt\n {2}do A\n[\s\S]*answer\n {2}A answered #1\n/);
    const whole = (await runWf(['show', id], { project })).stdout;
    expect(whole).toMatch(
      /status +completed[\s\S]*Look\n[\s\S]*#1 +A .*ok\n[\s\S]*Judge\n[\s\S]*#3 +B .*failed — WF_AGENT_FAILED/,
    );
    expect(whole).toContain(`wf run --resume-from ${id}`);

    for (const [args, words] of [
      [['show', id, '#9'], /WF_USAGE.*"#9"[\s\S]*#1 A/],
      [['show', id, 'nobody'], /WF_USAGE.*"nobody"/],
      [['show', 'ffffffff'], /WF_RUN_UNKNOWN/],
      [['show', '../x'], /WF_RUN_ID/],
      [['show', ''], /WF_RUN_ID/],
    ] as const) {
      const refused = await runWf(args, { project });
      expect({ args, code: refused.code, stdout: refused.stdout }).toEqual({ args, code: 2, stdout: '' });
      expect(refused.stderr).toMatch(words);
    }
  });
});

describe('wf check', () => {
  it('a sound script is 0; a fault is 2 with file, line, column and code; nothing runs', async () => {
    const project = makeProject({
      files: {
        'flow.js': THREE,
        'bad.js': workflow('const t = Date.now()\nreturn t'),
        'torn.js': workflow('return ('),
      },
    });
    expect(await runWf(['check', 'flow.js'], { project })).toMatchObject({ code: 0, stderr: '' });
    expect(await runWf(['check', 'flow.js', '--json'], { project })).toMatchObject({ code: 0, stdout: '[]\n' });
    const { code, stdout } = await runWf(['check', 'flow.js', 'bad.js', 'torn.js', '--json'], { project });
    expect(code).toBe(2);
    const faults = JSON.parse(stdout);
    expect(faults).toMatchObject([
      { file: 'bad.js', line: 2, column: 11, code: 'WF_SCRIPT_DETERMINISM', severity: 'error' },
      { file: 'torn.js', line: 2, code: 'WF_SCRIPT_SYNTAX', severity: 'error' },
    ]);
    expect(Object.keys(faults[0])).toEqual(['file', 'line', 'column', 'code', 'message', 'severity']);
    const annotated = await runWf(['check', 'bad.js'], { project, env: { GITHUB_ACTIONS: 'true' } });
    expect(annotated.stdout).toMatch(/^bad\.js:2:11: error WF_SCRIPT_DETERMINISM/m);
    expect(annotated.stdout).toMatch(/^::error file=bad\.js,line=2,col=11,title=WF_SCRIPT_DETERMINISM::/m);
    expect(await runWf(['check', 'missing.js'], { project })).toMatchObject({ code: 2 });
    expect(project.runIds()).toEqual([]);
  });
});

describe('T2 H1: reading verbs', () => {
  it('start nothing and write nothing', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const backend = makeFakeBackend(project, { rules: { B: { fail: 77 } } });
    await runWf(['run', 'flow.js', ...backend.flags], { project });
    const id = newestRun(project);
    const look = () =>
      readdirSync(project.runsDir, { recursive: true, encoding: 'utf8' })
        .map((name) => `${project.runsDir}/${name}`)
        .map((path) => {
          const { mtimeMs, mode, ino } = statSync(path);
          const text = statSync(path).isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
          return [path, mtimeMs, mode, ino, text];
        });
    const before = look();
    for (const args of [
      ['ls'],
      ['ls', '--json'],
      ['show', id],
      ['show', id, '#1'],
      ['check', 'flow.js'],
      ['prune', '--dry-run'],
      ['doctor'],
    ]) {
      expect({ args, code: (await runWf(args, { project })).code }).toEqual({ args, code: 0 });
    }
    expect(look()).toEqual(before);
    expect(backend.ledger.starts()).toHaveLength(2);
  });
});
