/** Failures that concern all calls, and a backend that asks for fewer: one stop, its cause everywhere, nothing paid twice. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { readState, workflow } from './cli-kit.js';
import { idOf, madeIn, run } from './support/runs.js';
import { makeShellAgent, mostAtOnce, usageLine } from './support/shell-agent.js';

const fan = (count: number): string =>
  workflow(`const got = await parallel(Array.from({ length: ${count} }, (_, i) => () => agent('do ' + i, { label: 'c' + i })))
return got.filter((x) => x === null).length`);
const failing = (kind: string, more: object = {}): { fail: number; says: string } => ({
  fail: 1,
  says: JSON.stringify({ wf: 'error', kind, message: `fake ${kind}`, ...more }),
});
const RESET = '2033-05-18T03:33:20Z';
const stateText = (project: TestProject, id: string): string =>
  readFileSync(join(project.runDir(id), 'state.json'), 'utf8');

it('B-072 B-078 20 calls in flight when the first says usage limit: nothing more starts, what runs is kept, no call is told null', async () => {
  const project = makeProject({ files: { 'fan.js': fan(40) } });
  const agent = makeShellAgent(project, {
    c0: { gate: 'first', ...failing('usage_limit', { resetsAt: 2_000_000_000 }) },
    'c1*': { gate: 'rest' },
    '*': { gate: 'rest' },
  });
  const wf = startWf(['run', 'fan.js', ...agent.flags, '--concurrency', '20', '--reporter', 'jsonl'], { project });
  await agent.waitForStarts(20);
  agent.openGate('first');
  await wf.waitForStderr(/"type":"call\.finished","n":1,/);
  agent.openGate('rest');
  const ended = await wf.done;
  expect([ended.code, ended.stdout]).toEqual([6, '']);
  const id = idOf(ended.stderr);
  expect(agent.started()).toHaveLength(20);
  expect(readState(project, id)).toMatchObject({
    status: 'failed',
    cause: 'WF_USAGE_LIMIT',
    exitCode: 6,
    error: { code: 'WF_USAGE_LIMIT', resetsAt: RESET },
    counts: { calls: 40, ok: 19, failed: 0, noResult: 21, executed: 20 },
  });
  expect(madeIn(project, id).map(({ kind }) => kind)).toEqual(Array(19).fill('ok'));
  const last = JSON.parse(ended.stderr.trimEnd().split('\n').at(-1) as string);
  expect(last).toMatchObject({ type: 'run.finished', status: 'failed', exitCode: 6, error: { resetsAt: RESET } });

  // Before the limit is lifted: one more try, and nothing of what is on record is lost or paid again.
  agent.closeAllGates();
  agent.setRules({ '*': failing('usage_limit', { resetsAt: RESET }) });
  const early = await run(project, ['--resume-from', id, '--concurrency', '1'], {
    env: { TZ: 'Europe/Berlin' },
  });
  expect([early.code, agent.started(early.id)]).toEqual([6, ['c0']]);
  expect(early.stderr).toContain('until    2033-05-18 03:33 UTC (05:33 here, Europe/Berlin)');
  expect(early.stderr).toContain(`wf run --resume-from ${early.id}`);
  expect(early.state.counts).toMatchObject({ reused: 19, executed: 1, ok: 19, failed: 0 });

  // After it.
  agent.setRules({});
  const late = await run(project, ['--resume-from', early.id]);
  expect([late.code, late.result]).toEqual([0, 0]);
  expect(agent.started(late.id).sort()).toEqual(['c0', ...Array.from({ length: 20 }, (_, i) => `c${20 + i}`)].sort());
});

it('a call that a limit cut off is never told as made up for, though the same was asked before it and answered', async () => {
  const body = "return [await agent('vote', { label: 'one' }), await agent('vote', { label: 'two' })]";
  const project = makeProject({ files: { 'flow.js': workflow(body) } });
  const agent = makeShellAgent(project, { two: failing('usage_limit') });
  const ended = await run(project, ['flow.js', ...agent.flags, '--reporter', 'github']);
  expect(ended.code).toBe(6);
  expect(ended.state.failures).toMatchObject([{ label: 'two', status: 'no-result', recovered: false }]);
  expect(ended.state.counts).toMatchObject({ ok: 1, recovered: 0, noResult: 1 });
});

describe('B-076 the time at which a limit is lifted', () => {
  it.each([
    ['in seconds since 1970', 2_000_000_000, RESET, 'until    2033-05-18 03:33 UTC'],
    ['with its zone', 'Wed, 18 May 2033 03:33:20 GMT', RESET, 'until    2033-05-18 03:33 UTC'],
    ['not told', undefined, null, 'until    unknown: the backend named no time'],
  ])('%s', async (_, resetsAt, recorded, told) => {
    const project = makeProject({ files: { 'fan.js': fan(1) } });
    const agent = makeShellAgent(project, { '*': failing('usage_limit', { resetsAt }) });
    const reports = ['--reporter', 'plain', '--reporter', 'json=out.json', '--reporter', 'junit=out.xml'];
    const ended = await run(project, ['fan.js', ...agent.flags, ...reports]);
    expect([ended.code, agent.started().length]).toEqual([6, 1]);
    expect(JSON.parse(stateText(project, ended.id)).error).toMatchObject({
      code: 'WF_USAGE_LIMIT',
      resetsAt: recorded,
    });
    expect(JSON.parse(project.read('out.json')).error).toMatchObject({ resetsAt: recorded });
    expect(ended.stderr).toContain(told);
    expect(project.read('out.xml')).toContain(told.replace(/ +/, ' '));
    const shown = await runWf(['show', ended.id], { project });
    expect(shown.stdout).toContain(told.replace(/ +/, '      '));
  });
});

it('B-077 sign-in lost half-way: dispatch stops, and after signing in a resume runs only what is missing, with a fresh process', async () => {
  const project = makeProject({ files: { 'fan.js': fan(8) } });
  const agent = makeShellAgent(project, { 'c[012]': {}, '*': {} });
  const lost = { fail: 77 };
  agent.setRules({ c3: lost, c4: lost, c5: lost, c6: lost, c7: lost });
  const first = await run(project, ['fan.js', ...agent.flags, '--concurrency', '1']);
  expect([first.code, first.state.cause]).toEqual([6, 'WF_AUTH']);
  expect(agent.started()).toEqual(['c0', 'c1', 'c2', 'c3']);
  expect(first.stderr).toMatch(/\S\. Sign in to it, then go on with the run\./);
  agent.setRules({});
  const second = await run(project, ['--resume-from', first.id]);
  expect([second.code, second.result, agent.started(second.id).sort()]).toEqual([0, 0, ['c3', 'c4', 'c5', 'c6', 'c7']]);
  expect(new Set(agent.lines('start').map(({ pid }) => pid)).size).toBe(9);
});

it('B-079 without a terminal a stopped run ends with its own exit code; afterwards cause, time and next step are shown', async () => {
  const project = makeProject({ files: { 'fan.js': fan(2) } });
  const agent = makeShellAgent(project, { '*': failing('billing') });
  const ended = await run(project, ['fan.js', ...agent.flags], { env: { CI: '1' } });
  expect(ended.code).toBe(6);
  const shown = await runWf(['show', ended.id], { project });
  for (const text of [
    'status     failed',
    'ended      20',
    'error      WF_BILLING: ',
    `To go on: wf run --resume-from ${ended.id}`,
  ])
    expect(shown.stdout).toContain(text);
  const listed = await runWf(['ls', '--json'], { project });
  expect(JSON.parse(listed.stdout)).toMatchObject([{ runId: ended.id, status: 'failed' }]);
});

it('B-073 B-074 B-080 refusals are waited for by all, spread out, counted in money, and keep their keys; a resume runs nothing', async () => {
  const project = makeProject({ files: { 'fan.js': fan(12) } });
  const agent = makeShellAgent(project);
  // Each third call is refused once; the program itself knows its attempt by WF_ATTEMPT.
  const limited = { ...failing('rate_limit', { retryAfterMs: 1 }), onlyFirst: true };
  agent.setRules({ c0: limited, c3: limited, c6: limited, c9: limited, '*': { says: usageLine(7) } });
  const ended = await run(project, ['fan.js', ...agent.flags, '--concurrency', '4']);
  expect([ended.code, ended.result]).toEqual([0, 0]);
  expect(ended.state.counts).toMatchObject({ calls: 12, ok: 12, executed: 12, failed: 0 });
  const starts = agent.lines('start');
  expect(starts).toHaveLength(16);
  for (const label of ['c0', 'c3', 'c6', 'c9']) {
    const mine = starts.filter((line) => line.label === label);
    expect(mine.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(mine.map(({ key }) => key)).size).toBe(1);
  }
  expect(new Set(madeIn(project, ended.id).map(({ key }) => key)).size).toBe(12);
  expect(mostAtOnce(agent.lines())).toBeLessThanOrEqual(4);
  const again = await run(project, ['--resume-from', ended.id]);
  expect([again.code, agent.started(again.id)]).toEqual([0, []]);
});

it('B-078 B-161 a call that waits for another try when the run is stopped is tried no more, and has no result', async () => {
  const project = makeProject({ files: { 'fan.js': fan(2) } });
  const agent = makeShellAgent(project, {
    c0: failing('rate_limit', { retryAfterMs: 600_000 }),
    c1: { gate: 'g', ...failing('auth') },
  });
  const wf = startWf(['run', 'fan.js', ...agent.flags, '--concurrency', '2', '--reporter', 'jsonl'], { project });
  await wf.waitForStderr(/"type":"call\.retry"/);
  agent.openGate('g');
  const ended = await wf.done;
  expect(ended.code).toBe(6);
  expect(
    agent
      .lines('start')
      .map(({ label }) => label)
      .sort(),
  ).toEqual(['c0', 'c1']);
  expect(readState(project).counts).toMatchObject({ noResult: 2, failed: 0 });
  await waitFor('the run to have no line of an outcome', () => madeIn(project, idOf(ended.stderr)).length === 0);
});
