/** `wf stop`, `wf skip` and `wf retry`: a live run steered from another terminal, and clear words where that cannot be. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { journalFile, readJournal } from '../support/journal.js';
import { runWf, startWf, type WfResult } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import {
  answeredLabels,
  expectAllGone,
  familyOf,
  hasState,
  MOCK,
  newestRun,
  readState,
  THREE,
  workflow,
} from './cli-kit.js';
import { snapshot } from './support/runs.js';
import { startThree } from './support/start-three.js';

const wf = (project: TestProject, ...args: string[]): Promise<WfResult> => runWf(args, { project });

const showCalls = async (project: TestProject, id: string) =>
  JSON.parse((await wf(project, 'show', id, '--json')).stdout).calls as {
    n: number;
    label: string;
    status: string;
    attempts: number;
    error?: { code: string };
  }[];

describe('wf stop', () => {
  it('C1 C5: cancels a live run, waits for its end, and says how to go on', async () => {
    const { project, backend, wf: run } = await startThree('B');
    const family = familyOf(run.pid);
    const id = newestRun(project);
    const stopped = await wf(project, 'stop', id.slice(0, 8));

    expect(stopped).toMatchObject({ code: 0, stderr: '' });
    expect(stopped.stdout).toBe(
      `Run ${id}: cancelled, 1 of 2 calls gave an answer.\nTo go on: wf run --resume-from ${id}\n`,
    );
    // It has waited: the end is on the disk.
    expect(readState(project)).toMatchObject({ status: 'cancelled', exitCode: 130, counts: { ok: 1, noResult: 1 } });
    const ended = await run.done;
    expect(ended).toMatchObject({ code: 130, stdout: '' });
    expect(ended.stderr).toMatch(/wf stop asked for a cancel/);
    await expectAllGone(family, 1_000);
    backend.openAllGates();
    expect(await wf(project, 'run', '--resume-from', id)).toMatchObject({ code: 0 });
    expect(['A', 'B', 'C'].map((label) => backend.ledger.starts(label).length)).toEqual([1, 2, 1]);
  });

  it('D1: --drain lets what runs finish; without waiting it says so; --json has the documented shape', async () => {
    const { project, backend, wf: run } = await startThree('B');
    const id = newestRun(project);
    const asked = await wf(project, 'stop', id, '--drain', '--no-wait', '--json');
    expect(JSON.parse(asked.stdout)).toMatchObject({
      runId: id,
      requested: 'drain',
      ended: false,
      status: 'running',
      exitCode: null,
      resumeCommand: null,
    });
    const words = await wf(project, 'stop', id, '--drain', '--no-wait');
    expect(words.stdout).toBe(`Run ${id}: drain requested; it has not ended yet.\n`);
    backend.openGate('B');
    expect(await run.done).toMatchObject({ code: 143, stdout: '' });
    expect(answeredLabels(project)).toEqual(['A', 'B']);
    expect(readState(project)).toMatchObject({ status: 'interrupted', cause: 'drained', exitCode: 143 });
    expect(backend.ledger.starts('C')).toHaveLength(0);

    const after = await wf(project, 'stop', id, '--json');
    expect(after).toMatchObject({ code: 0 });
    expect(JSON.parse(after.stdout)).toEqual({
      runId: id,
      requested: null,
      ended: true,
      status: 'interrupted',
      exitCode: 143,
      counts: expect.objectContaining({ ok: 2 }),
      resumeCommand: `wf run --resume-from ${id}`,
    });
  });

  it('D6: a stop during a drain cancels', async () => {
    const { project, wf: run } = await startThree('A', { rules: { A: { hang: true } } });
    run.kill('SIGTERM');
    await run.waitForStderr(/no new calls are started/);
    expect(await wf(project, 'stop', newestRun(project))).toMatchObject({ code: 0 });
    expect(await run.done).toMatchObject({ code: 143 });
    expect(readState(project)).toMatchObject({ status: 'cancelled' });
  });

  it('C3: a script that loops is ended too', async () => {
    const project = makeProject({
      files: { 'flow.js': workflow(`await agent('a')\nlog('looping')\nawait null\nfor (;;) {}`) },
    });
    const run = startWf(['run', 'flow.js', '--backend', 'mock'], { project });
    await run.waitForStderr(/#1 .*ok/);
    expect(await wf(project, 'stop', newestRun(project))).toMatchObject({ code: 0 });
    expect(await run.done).toMatchObject({ code: 130 });
    expect(readState(project).status).toBe('cancelled');
  });
});

describe('wf skip', () => {
  it('B-089: ends a running call with its whole tree; the script gets null; no resume takes it for an answer', async () => {
    const {
      project,
      backend,
      wf: run,
    } = await startThree('B', {
      rules: { B: { ignoreTerm: true, spawnGrandchild: { ignoreTerm: true }, hang: true } },
    });
    await run.waitForStderr(/#2 B: started/);
    const id = newestRun(project);
    const agents = () => familyOf(run.pid).filter(({ command }) => /agent\.mjs|grandchild/.test(command));
    while (agents().length < 2) await new Promise((resolve) => setImmediate(resolve));
    const tree = agents();
    const skipped = await wf(project, 'skip', id, 'B', '--json');
    expect(JSON.parse(skipped.stdout)).toEqual({ runId: id, n: 2, label: 'B', was: 'running' });
    await expectAllGone(tree, 6_000);
    const ended = await run.done;

    expect(ended.code).toBe(3);
    expect(JSON.parse(ended.stdout)).toMatchObject({ b: null, c: expect.stringContaining('C answered') });
    expect(ended.stderr).toMatch(/#2 B: skipped \(WF_SKIPPED/);
    expect(readState(project)).toMatchObject({
      status: 'completed',
      counts: { calls: 3, ok: 2, skipped: 1, failed: 0, noResult: 0, executed: 3 },
      failures: [{ label: 'B', status: 'skipped', code: 'WF_SKIPPED' }],
    });
    const line = readJournal(journalFile(project, id) as string).find(({ label }) => label === 'B');
    expect(line).toMatchObject({ type: 'result', kind: 'skipped', n: 2, attempts: 1, error: { code: 'WF_SKIPPED' } });
    expect((await showCalls(project, id)).map(({ status }) => status)).toEqual(['ok', 'skipped', 'ok']);

    backend.setRules([]);
    const plan = JSON.parse((await wf(project, 'plan', '--resume-from', id, '--json')).stdout);
    expect(plan.calls).toContainEqual(
      expect.objectContaining({ label: 'B', decision: 'live', reason: 'skipped before' }),
    );
    expect(await wf(project, 'run', '--resume-from', id)).toMatchObject({ code: 0 });
    // It never had a result, so to the agent it is still the same work.
    const starts = backend.ledger.starts('B');
    expect(new Set(starts.map(({ key }) => key)).size).toBe(1);
    expect(starts).toHaveLength(2);
    expect(backend.ledger.starts('A')).toHaveLength(1);
  });

  it('takes a queued call out before it ever starts, and lets the script go on', async () => {
    const project = makeProject({
      files: {
        'flow.js': workflow(
          `return await parallel(['A', 'B', 'C'].map((label) => () => agent('do ' + label, { label })))`,
        ),
      },
    });
    const backend = makeFakeBackend(project, { gated: ['A'] });
    const run = startWf(['run', 'flow.js', '--concurrency', '1', ...backend.flags], { project });
    await backend.waitForStart('A');
    const id = newestRun(project);
    const words = await wf(project, 'skip', id, '#2');
    expect(words).toMatchObject({
      code: 0,
      stdout: 'Skipped #2 B: it was waiting for its turn, and the script gets null for it.\n',
    });
    backend.openAllGates();
    const ended = await run.done;
    expect(JSON.parse(ended.stdout)).toEqual([expect.any(String), null, expect.any(String)]);
    expect(ended.code).toBe(3);
    expect(backend.ledger.starts('B')).toHaveLength(0);
    expect(readState(project).counts).toMatchObject({ ok: 2, skipped: 1, executed: 2 });
    expect((await wf(project, 'show', id)).stdout).toContain(`To go on: wf run --resume-from ${id}\n`);
  });

  it('C6: what the agent still prints after that is no answer', async () => {
    const project = makeProject({ files: { 'flow.js': workflow(`return [await agent('do B', { label: 'B' })]`) } });
    const backend = makeFakeBackend(project, { rules: { B: { ignoreTerm: true, gate: true } } });
    const run = startWf(['run', 'flow.js', ...backend.flags], { project });
    await backend.waitForStart('B');
    await wf(project, 'skip', newestRun(project), 'B');
    backend.openGate('B');
    const ended = await run.done;
    expect(JSON.parse(ended.stdout)).toEqual([null]);
    expect(backend.ledger.ends('B')).toMatchObject([{ outcome: 'ok' }]);
    expect(answeredLabels(project)).toEqual([]);
  });
});

describe('wf retry', () => {
  it('X4: ends the attempt and starts the same call again; its promise gets the second answer; counts are of calls', async () => {
    const {
      project,
      backend,
      wf: run,
    } = await startThree('B', {
      rules: [
        { when: { label: 'B', nth: 1 }, behaviour: { tokens: { in: 5, out: 7 }, hang: true } },
        { when: { label: 'B' }, behaviour: { tokens: { in: 1, out: 2 }, value: 'second, attempt {attempt}' } },
      ],
    });
    await run.waitForStderr(/#2 B: started/);
    const id = newestRun(project);
    const retried = await wf(project, 'retry', id, 'B');
    expect(retried).toMatchObject({ code: 0, stdout: 'Starting #2 B again: its present attempt is ended first.\n' });
    const ended = await run.done;

    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ b: 'second, attempt 2' });
    expect(ended.stderr).toMatch(/#2 B: attempt 2 started/);
    const starts = backend.ledger.starts('B');
    expect(starts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(starts[0]?.key).toBe(starts[1]?.key);
    expect(backend.ledger.ends('B').map(({ outcome }) => outcome)).toEqual(['terminated', 'ok']);
    expect(readState(project)).toMatchObject({ status: 'completed', counts: { calls: 3, ok: 3, executed: 3 } });
    expect(await showCalls(project, id)).toMatchObject([{}, { label: 'B', status: 'ok', attempts: 2 }, {}]);
    expect(answeredLabels(project)).toEqual(['A', 'B', 'C']);
  });

  it.each(['overloaded', 'rate_limit'])('a call that waits after an error (%s) starts now', async (error) => {
    const project = makeProject({
      files: {
        'flow.js': workflow(`return [await agent('do A', { label: 'A' })]`),
        'rules.json': JSON.stringify([{ error, retryAfterMs: 600_000 }]),
      },
    });
    const run = startWf(['run', 'flow.js', '--backend', 'mock', '--mock', 'rules.json'], { project });
    await run.waitForStderr(/A: tried again in 10 min/);
    const id = newestRun(project);
    expect(await wf(project, 'retry', id, '1')).toMatchObject({ code: 0 });
    await run.waitForStderr(/A: attempt 2 started/);
    expect(await wf(project, 'skip', id, '1')).toMatchObject({ code: 0 });
    expect(await run.done).toMatchObject({ code: 3, stdout: '[\n  null\n]\n' });
    expect((await showCalls(project, id))[0]).toMatchObject({ status: 'skipped', attempts: 2 });
  });

  it('D4: during a drain it is refused with the reason, and the call that runs may finish', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const backend = makeFakeBackend(project, { gated: ['B'] });
    const run = startWf(['run', 'flow.js', ...backend.flags], { project });
    await backend.waitForStart('B');
    const id = newestRun(project);
    run.kill('SIGTERM');
    await run.waitForStderr(/no new calls are started/);
    const refused = await wf(project, 'retry', id, 'B');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(
      /WF_CALL_STATE: Call #2 B is not started again: the run is being drained, so nothing new starts\.\n {2}→ What runs may finish/,
    );
    backend.openAllGates();
    expect(await run.done).toMatchObject({ code: 143 });
    expect(backend.ledger.starts('B')).toHaveLength(1);
    expect(answeredLabels(project)).toEqual(['A', 'B']);
  });

  it('C2: a cancel beats a retry whose attempt is not gone yet', async () => {
    const { project, backend, wf: run } = await startThree('A', { rules: { A: { ignoreTerm: true, hang: true } } });
    const id = newestRun(project);
    expect(await wf(project, 'retry', id, 'A')).toMatchObject({ code: 0 });
    run.kill('SIGINT');
    expect(await run.done).toMatchObject({ code: 130 });
    expect(backend.ledger.starts('A')).toHaveLength(1);
    expect(readState(project)).toMatchObject({ status: 'cancelled', counts: { noResult: 1, executed: 1 } });
  });
});

describe('what cannot be done is said', () => {
  const LIST = workflow(
    `return await parallel(['alpha', 'alps', 'beta'].map((label) => () => agent('do ' + label, { label })))`,
  );

  it('calls: unknown, several, ended, queued', async () => {
    const project = makeProject({ files: { 'flow.js': LIST } });
    const backend = makeFakeBackend(project, { gated: ['alps'] });
    const run = startWf(['run', 'flow.js', '--concurrency', '1', ...backend.flags], { project });
    await backend.waitForStart('alps');
    const id = newestRun(project);
    const no = async (verb: string, call: string, words: RegExp) => {
      const { code, stdout, stderr } = await wf(project, verb, id, call);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(words);
    };
    await no('skip', '#9', /WF_USAGE.*No call of this run is "#9"[\s\S]*#1 alpha/);
    await no('skip', 'al', /WF_USAGE.*2 calls of this run are "al"[\s\S]*#1 alpha, #2 alps/);
    await no('skip', 'alpha', /WF_CALL_STATE.*#1 alpha has ended already: ok/);
    await no('retry', 'alpha', /WF_CALL_STATE.*#1 alpha has ended already: ok/);
    await no('retry', 'beta', /WF_CALL_STATE.*#3 beta waits for its turn/);
    backend.openAllGates();
    expect(await run.done).toMatchObject({ code: 0 });
  });

  it('H1 H6: a run whose owner is gone, one that has ended, one that is not there: exit 2, and nothing is touched', async () => {
    const { project, backend, wf: run } = await startThree('B');
    const killed = newestRun(project);
    run.kill('SIGKILL');
    await run.exited;
    await wf(project, 'run', 'flow.js', ...MOCK);
    const completed = newestRun(project);
    const before = snapshot(project.runsDir);

    for (const args of [['stop'], ['stop', '--drain'], ['skip', 'B'], ['retry', '#2']]) {
      const [verb = '', ...rest] = args;
      const gone = await wf(project, verb, killed, ...rest);
      expect(gone).toMatchObject({ code: 2, stdout: '' });
      expect(gone.stderr).toMatch(
        new RegExp(`WF_RUN_NOT_LIVE.*${killed} is not in progress: no end is recorded, and process ${run.pid} is gone`),
      );
    }
    expect((await wf(project, 'stop', 'f'.repeat(8))).stderr).toMatch(/WF_RUN_UNKNOWN/);
    expect((await wf(project, 'skip', 'no id', 'A')).stderr).toMatch(/WF_RUN_ID/);
    for (const verb of ['skip', 'retry']) {
      const ended = await wf(project, verb, completed, 'A');
      expect(ended).toMatchObject({ code: 2, stdout: '' });
      expect(ended.stderr).toMatch(/WF_RUN_NOT_LIVE.*it has ended: completed/);
    }
    // What was asked for is so.
    expect(await wf(project, 'stop', completed)).toMatchObject({
      code: 0,
      stdout: `Run ${completed} had ended before: completed, 3 of 3 calls gave an answer.\n`,
    });
    expect(snapshot(project.runsDir)).toEqual(before);
    expect(backend.ledger.starts()).toHaveLength(2);
    expect(hasState(project, killed)).toBe(false);
  });

  it('O3: an owner on another machine is named, with its host', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    await wf(project, 'run', 'flow.js', ...MOCK);
    const id = newestRun(project);
    const file = join(project.runDir(id), 'run.json');
    const record = JSON.parse(readFileSync(file, 'utf8'));
    const heartbeat = new Date().toISOString();
    const owner = {
      host: 'far-away',
      bootId: 'x',
      pidNamespace: null,
      pid: 4711,
      startTime: '1',
      heartbeat,
      token: 't',
    };
    writeFileSync(file, JSON.stringify({ ...record, status: 'running', endedAt: null, owner }));
    rmSync(join(project.runDir(id), 'state.json'));
    for (const args of [
      ['stop', id],
      ['skip', id, 'A'],
      ['retry', id, 'A'],
    ]) {
      const { code, stderr } = await wf(project, ...args);
      expect(code).toBe(2);
      expect(stderr).toMatch(/WF_CONTROL.*held by process 4711 on far-away/);
    }
  });
});
