/** Ctrl-C, and what it leaves: nothing running, an honest record, and a run that can be gone on with. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { waitForJournalLines } from '../support/journal.js';
import { expectNoProcessesLeft } from '../support/processes.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import {
  answeredLabels,
  expectAllGone,
  familyOf,
  hasState,
  newestRun,
  readState,
  sandboxOf,
  THREE,
  waitUntilBusy,
  waitUntilLater,
  workflow,
} from './cli-kit.js';
import { listRuns } from './support/runs.js';
import { startThree } from './support/start-three.js';

describe('SIGINT cancels', () => {
  it('C1 C5 C6 H9: the run ends in under 5 s with nothing left, says so honestly, and can be resumed', async () => {
    const { project, backend, wf } = await startThree('B');
    await waitForJournalLines(project, 1);
    const family = familyOf(wf.pid);

    const start = performance.now();
    // npm hands a Ctrl-C on a second time: that is no second one.
    wf.kill('SIGINT');
    wf.kill('SIGINT');
    const ended = await wf.done;
    expect(performance.now() - start).toBeLessThan(5_000);
    expect(ended).toMatchObject({ code: 130, signal: null, stdout: '' });
    await expectAllGone(family, 1_000);

    const first = newestRun(project);
    expect(ended.stderr).toContain('cancel requested');
    expect(ended.stderr).toContain(`wf run --resume-from ${first}`);
    expect(readState(project)).toMatchObject({
      status: 'cancelled',
      cause: 'WF_CANCELLED',
      exitCode: 130,
      counts: { calls: 2, ok: 1, failed: 0, noResult: 1, executed: 2 },
    });
    expect(answeredLabels(project, first)).toEqual(['A']);
    expect(backend.ledger.ends('B')).toMatchObject([{ outcome: 'terminated' }]);
    const shown = JSON.parse((await runWf(['show', first, '--json'], { project })).stdout);
    expect(shown.calls.map((call: { status: string }) => call.status)).toEqual(['ok', 'no-result']);

    backend.openGate('B');
    expect(await runWf(['run', '--resume-from', first], { project })).toMatchObject({ code: 0 });
    expect(['A', 'B', 'C'].map((label) => backend.ledger.starts(label).length)).toEqual([1, 2, 1]);
  });

  it('C1 H10 B-089: agents that ignore SIGTERM, and their children, are gone after the grace', async () => {
    const { project, backend, wf } = await startThree('A', {
      rules: { A: { ignoreTerm: true, spawnGrandchild: { detached: true, ignoreTerm: true }, hang: true } },
    });
    const family = await waitForGrandchild(wf.pid, backend);

    const agents = family.filter(({ command }) => /agent\.mjs|grandchild/.test(command));
    expect(agents).toHaveLength(2);
    wf.kill('SIGINT');
    await expectAllGone(agents, 10_000);
    const told = backend.ledger.lines().find(({ event }) => event === 'sigterm');
    // Grace 3 s, and less than the 5 s that an agent has when nobody waits for the run.
    expect(Date.now() - (told?.at ?? 0)).toBeLessThan(4_900);
    expect(await wf.done).toMatchObject({ code: 130 });
    await expectAllGone(family, 500);
    expect(readState(project)).toMatchObject({ status: 'cancelled' });
  });

  it('C2 C8 B-091: of 100 queued items none starts after the signal, and nothing of it reaches the script', async () => {
    const project = makeProject({
      files: {
        'flow.js': workflow(`try {
  const all = await parallel(Array.from({ length: 100 }, (_, i) => () => agent('item ' + i, { label: 'item' })))
  log('after: ' + all.length)
} catch (error) {
  log('caught: ' + error.message)
} finally {
  log('finally')
}
await agent('last', { label: 'last' })`),
      },
    });
    const backend = makeFakeBackend(project, { gated: ['item'] });
    const wf = startWf(['run', 'flow.js', '--concurrency', '3', ...backend.flags], { project });
    await backend.waitForStarts(3);
    wf.kill('SIGINT');
    const ended = await wf.done;

    expect(ended).toMatchObject({ code: 130 });
    expect(backend.ledger.starts()).toHaveLength(3);
    expect(ended.stderr).not.toMatch(/after:|caught:|finally|log/);
    expect(answeredLabels(project)).toEqual([]);
    expect(readState(project).counts).toMatchObject({ calls: 100, executed: 3, noResult: 100, failed: 0, ok: 0 });
  });

  it.each([
    ['for (;;) {}', 'SIGINT', 130, 'cancelled'],
    ['for (;;) await null', 'SIGINT', 130, 'cancelled'],
    ['for (;;) {}', 'SIGTERM', 143, 'interrupted'],
  ] as const)('C3: %s is ended by %s', async (loop, signal, code, status) => {
    const project = makeProject({ files: { 'flow.js': workflow(`await agent('do A', { label: 'A' })\n${loop}`) } });
    const backend = makeFakeBackend(project);
    const wf = startWf(['run', 'flow.js', ...backend.flags], { project });
    await waitForJournalLines(project, 1);
    await waitUntilBusy(sandboxOf(wf.pid).pid);
    const family = familyOf(wf.pid);

    const start = performance.now();
    wf.kill(signal);
    expect(await wf.done).toMatchObject({ code });
    expect(performance.now() - start).toBeLessThan(5_000);
    await expectAllGone(family, 1_000);
    expect(readState(project).status).toBe(status);
    expect(answeredLabels(project)).toEqual(['A']);
  });

  it('C6 H11: what an agent still prints after the cancel is no answer and changes no status', async () => {
    const { project, backend, wf } = await startThree('B', { rules: { B: { ignoreTerm: true, gate: true } } });
    wf.kill('SIGINT');
    await wf.waitForStderr(/cancel requested/);
    backend.openGate('B');
    const ended = await wf.done;

    expect(ended).toMatchObject({ code: 130, stdout: '' });
    expect(backend.ledger.ends('B')).toMatchObject([{ outcome: 'ok' }]);
    expect(readState(project)).toMatchObject({ status: 'cancelled', counts: { ok: 1, noResult: 1 } });
    expect(answeredLabels(project)).toEqual(['A']);
    expect(backend.ledger.starts('C')).toHaveLength(0);
  });

  it('C7: another run in the same project goes on', async () => {
    const project = makeProject({
      files: {
        'one.js': workflow(`return await agent('one', { label: 'one' })`, 'one'),
        'two.js': workflow(`return await agent('two', { label: 'two' })`, 'two'),
      },
    });
    const backend = makeFakeBackend(project, { gated: ['one', 'two'] });
    const one = startWf(['run', 'one.js', ...backend.flags], { project });
    const two = startWf(['run', 'two.js', ...backend.flags], { project });
    await backend.waitForStarts(2);
    one.kill('SIGINT');
    expect(await one.done).toMatchObject({ code: 130 });
    backend.openAllGates();
    expect(await two.done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^two answered #\d\n$/) });
  });

  it('D6: a second SIGINT leaves at once; the guard ends what is left, and the run is interrupted', async () => {
    const { project, backend, wf } = await startThree('B', {
      rules: { B: { ignoreTerm: true, spawnGrandchild: { ignoreTerm: true }, hang: true } },
    });
    const family = await waitForGrandchild(wf.pid, backend);
    const first = performance.now();
    wf.kill('SIGINT');
    await wf.waitForStderr(/cancel requested/);
    await waitUntilLater(first, 300);
    const second = performance.now();
    wf.kill('SIGINT');

    expect(await wf.exited).toMatchObject({ code: 130 });
    // The grace of the agent, 3 s, is not waited for.
    expect(performance.now() - second).toBeLessThan(2_300);
    await expectAllGone(family, 2_000);
    expect(hasState(project)).toBe(false);
    const [row] = await listRuns(project);
    expect(row).toMatchObject({ status: 'interrupted' });
    backend.setRules([]);
    expect(await runWf(['run', '--resume-from', row?.runId ?? ''], { project })).toMatchObject({ code: 0 });
    expect(backend.ledger.starts('A')).toHaveLength(1);
  });

  it('C2: also while a failure that concerns all calls awaits what is in flight', async () => {
    const project = makeProject({
      files: {
        'flow.js': workflow(`await parallel([
  () => agent('slow', { label: 'slow' }),
  () => agent('refused', { label: 'refused' }),
])`),
      },
    });
    const backend = makeFakeBackend(project, { rules: { slow: { hang: true }, refused: { gate: true, fail: 77 } } });
    const wf = startWf(['run', 'flow.js', ...backend.flags], { project });
    await backend.waitForStarts(2);
    backend.openGate('refused');
    await wf.waitForStderr(/refused.*WF_AUTH/);
    wf.kill('SIGINT');
    expect(await wf.done).toMatchObject({ code: 6 });
    expect(readState(project)).toMatchObject({ status: 'failed', cause: 'WF_AUTH', counts: { noResult: 2 } });
    expect(backend.ledger.ends('slow')).toMatchObject([{ outcome: 'terminated' }]);
  });
});

describe('SIGTERM drains', () => {
  it('D1: what runs may finish, nothing new starts, exit 143; the resume runs only what is missing', async () => {
    const { project, backend, wf } = await startThree('B');
    wf.kill('SIGTERM');
    await wf.waitForStderr(/no new calls are started/);
    backend.openGate('B');
    const ended = await wf.done;

    expect(ended).toMatchObject({ code: 143, stdout: '' });
    const first = newestRun(project);
    expect(answeredLabels(project, first)).toEqual(['A', 'B']);
    expect(readState(project)).toMatchObject({ status: 'interrupted', cause: 'drained', exitCode: 143 });
    expect(backend.ledger.starts('C')).toHaveLength(0);
    expect(await runWf(['run', '--resume-from', first], { project })).toMatchObject({ code: 0 });
    expect(['A', 'B', 'C'].map((label) => backend.ledger.starts(label).length)).toEqual([1, 1, 1]);
  });

  it('D1: a script that comes to its end in that time completes the run', async () => {
    const { project, backend, wf } = await startThree('C');
    wf.kill('SIGTERM');
    await wf.waitForStderr(/no new calls are started/);
    backend.openGate('C');
    expect(await wf.done).toMatchObject({ code: 0 });
    expect(readState(project)).toMatchObject({ status: 'completed', counts: { ok: 3 } });
  });

  it('D2: the run is marked on the disk before an agent that does not finish in time gets its signal', async () => {
    const agent = `trap 'grep -l interrupted .claude/workflow-runs/*/run.json > seen; exit 0' TERM
: > ready
while :; do sleep 0.05; done
`;
    const project = makeProject({ files: { 'flow.js': THREE, 'agent.sh': agent } });
    const wf = startWf(['run', 'flow.js', '--drain', '200ms', '--backend', 'command', '--command', 'sh agent.sh'], {
      project,
    });
    await waitFor('the agent to be ready', () => existsSync(project.path('ready')));
    wf.kill('SIGTERM');
    expect(await wf.done).toMatchObject({ code: 143 });
    expect(readFileSync(project.path('seen'), 'utf8')).toContain('run.json');
  });

  it('D2: what does not finish within --drain is ended and has no result', async () => {
    const { project, backend, wf } = await startThree('B', { rules: { B: { hang: true } } }, ['--drain', '300ms']);
    wf.kill('SIGTERM');
    expect(await wf.done).toMatchObject({ code: 143 });
    expect(backend.ledger.ends('B')).toMatchObject([{ outcome: 'terminated' }]);
    expect(readState(project)).toMatchObject({ status: 'interrupted', cause: 'drained', counts: { noResult: 1 } });
    expect(answeredLabels(project)).toEqual(['A']);
  });

  it('D6: a second SIGTERM cancels', async () => {
    const { project, wf } = await startThree('A', { rules: { A: { hang: true } } });
    const first = performance.now();
    wf.kill('SIGTERM');
    await wf.waitForStderr(/no new calls are started/);
    await waitUntilLater(first, 300);
    wf.kill('SIGTERM');
    expect(await wf.done).toMatchObject({ code: 143 });
    expect(readState(project)).toMatchObject({ status: 'cancelled', exitCode: 143 });
  });

  it('D1: SIGHUP drains too and ends with 129', async () => {
    const { project, backend, wf } = await startThree('A');
    wf.kill('SIGHUP');
    await wf.waitForStderr(/no new calls are started/);
    backend.openGate('A');
    const ended = await wf.done;
    expect(ended).toMatchObject({ code: 129 });
    expect(answeredLabels(project)).toEqual(['A']);
    // One exit code everywhere, that of the process.
    expect(readState(project)).toMatchObject({ status: 'interrupted', exitCode: 129 });
    expect(ended.stderr).toMatch(/interrupted after .*, exit code 129/);
    expect((await runWf(['watch', newestRun(project)], { project })).code).toBe(129);
  });
});

describe('SIGKILL of wf', () => {
  it('B-089: the guard ends the agents, their children and the sandbox; the resume goes on', async () => {
    const { project, backend, wf } = await startThree('B', {
      rules: { B: { ignoreTerm: true, spawnGrandchild: { ignoreTerm: true }, hang: true } },
    });
    const family = await waitForGrandchild(wf.pid, backend);
    // Sandbox, guard, agent, the agent's child.
    expect(family).toHaveLength(4);
    wf.kill('SIGKILL');
    expect(await wf.exited).toMatchObject({ signal: 'SIGKILL' });
    await expectAllGone(family, 3_000);

    backend.setRules([]);
    const [row] = await listRuns(project);
    expect(row).toMatchObject({ status: 'interrupted', endedAt: null });
    expect(await runWf(['run', '--resume-from', row?.runId ?? ''], { project })).toMatchObject({ code: 0 });
    expect(['A', 'B', 'C'].map((label) => backend.ledger.starts(label).length)).toEqual([1, 2, 1]);
  });

  it.each([
    ['a sandbox that waits', 'await agent("never")', ['--mock', 'hang.json']],
    ['a sandbox that loops', 'await agent("soon"); for (;;) {}', ['--turn-timeout', '1s']],
  ])('without a guard %s leaves by itself', async (_, body, flags) => {
    const project = makeProject({
      files: { 'flow.js': workflow(body), 'hang.json': '[{ "hang": true }]' },
    });
    const wf = startWf(['run', 'flow.js', '--backend', 'mock', ...flags], { project });
    await wf.waitForStderr(/#1 .*started/);
    const family = familyOf(wf.pid);
    wf.kill('SIGKILL');
    await wf.exited;
    await expectAllGone(family, 5_000);
    await expectNoProcessesLeft(project.root);
  });
});

/** The family of `wf` once the agent's child is among it. */
async function waitForGrandchild(pid: number, backend: ReturnType<typeof makeFakeBackend>) {
  await backend.waitForStarts(1);
  for (;;) {
    const [grandchild] = backend.ledger.grandchildren();
    const family = familyOf(pid);
    if (grandchild !== undefined && family.some((row) => row.pid === grandchild)) return family;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
