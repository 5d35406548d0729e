/** Stalls, limits, signals and process trees, as users met them elsewhere: each case with real processes and real signals. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { readJsonLines } from '../support/json-lines.js';
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
  THREE,
  waitUntilLater,
  workflow,
} from './cli-kit.js';
import { listRuns } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

const LABELS = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, i) => `item ${i + 1}`));
const FAN = (count: number): string =>
  workflow(`const all = await parallel(${LABELS(count)}.map((label) => () => agent('do ' + label, { label })))
return { all, end: await agent('close', { label: 'close' }) }`);

describe('F: stalls and limits', () => {
  it('B-081: one of nine hangs: null after the limit, its tree gone, and the closing step runs with the other eight', async () => {
    const project = makeProject({ files: { 'flow.js': FAN(9) } });
    const backend = makeFakeBackend(project, {
      rules: { 'item 4': { hang: true, spawnGrandchild: { detached: true, ignoreTerm: true } } },
    });
    const run = startWf(['run', 'flow.js', '--timeout', '6s', '--concurrency', '9', ...backend.flags], {
      project,
      timeoutMs: 60_000,
    });
    await waitFor('the grandchild', () => backend.ledger.grandchildren()[0]);
    const { code, stdout, stderr } = await run.done;
    await expectNoProcessesLeft(project.root, { timeoutMs: 1_000 });
    expect(code).toBe(3);
    const { all, end } = JSON.parse(stdout);
    expect(all.map((answer: unknown) => answer === null)).toEqual(Array.from({ length: 9 }, (_, i) => i === 3));
    expect(end).toMatch(/^close answered/);
    expect(stderr).toMatch(/item 4: failed \(WF_AGENT_TIMEOUT/);
    expect(readState(project)).toMatchObject({ status: 'completed', counts: { ok: 9, failed: 1 } });
    expect(backend.ledger.starts('item 4')).toHaveLength(1);
  });

  it('B-082: the limit without a sign of life is the call’s own, else the flag’s, else there is none; 0 is none', async () => {
    const project = makeProject({
      files: {
        'flow.js':
          workflow(`const ask = (label, opts) => agent('do ' + label, { label, ...opts }).catch((error) => error.name)
return await Promise.all([ask('flag'), ask('own', { stallMs: 60000 }), ask('off', { stallMs: 0 })])`),
      },
    });
    const slow = { delayMs: 4_000 };
    const backend = makeFakeBackend(project, { rules: { flag: { hang: true }, own: slow, off: slow } });
    const limited = await runWf(['run', 'flow.js', '--idle-timeout', '2s', ...backend.flags], { project });
    expect(JSON.parse(limited.stdout)).toEqual([
      'StallError',
      expect.stringMatching(/^own/),
      expect.stringMatching(/^off/),
    ]);
    backend.setRules({ flag: slow, own: slow, off: slow });
    const free = await runWf(['run', 'flow.js', ...backend.flags], { project });
    expect(free.code).toBe(0);
  });

  it('B-084: an agent that never gives a sign is tried once more and no more; attempts and cause are in the report', async () => {
    const project = makeProject({
      files: { 'flow.js': workflow(`return await parallel([() => agent('do A', { label: 'A' })])`) },
    });
    const backend = makeFakeBackend(project, { rules: { A: { hang: true } } });
    const { code, stdout, stderr } = await runWf(['run', 'flow.js', '--idle-timeout', '1500ms', ...backend.flags], {
      project,
    });
    expect({ code, stdout }).toEqual({ code: 3, stdout: '[\n  null\n]\n' });
    expect(backend.ledger.starts('A').map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(stderr).toMatch(/#1 A: failed \(WF_AGENT_STALLED.*, 2 attempts/);
    const [call] = JSON.parse((await runWf(['show', newestRun(project), '--json'], { project })).stdout).calls;
    expect(call).toMatchObject({ status: 'failed', attempts: 2, error: { code: 'WF_AGENT_STALLED' } });
  });

  it('B-085: an agent that asks has nobody to ask: no terminal, an empty stdin, and its words are the cause', async () => {
    const agent = `cat >/dev/null
if (exec 3</dev/tty) 2>/dev/null; then echo 'has a terminal'; exit 0; fi
if read answer; then echo "got $answer"; exit 0; fi
echo 'needs permission: run tests' >&2
exit 1
`;
    const project = makeProject({
      files: { 'flow.js': workflow(`return [await agent('do A', { label: 'A' })]`), 'agent.sh': agent },
    });
    const command = ['--backend', 'command', '--command', 'sh agent.sh'];
    const { code, stdout, stderr } = await runWf(['run', 'flow.js', ...command], { project, input: 'y\ny\n' });
    expect({ code, stdout }).toEqual({ code: 3, stdout: '[\n  null\n]\n' });
    expect(stderr).toMatch(/WF_AGENT_FAILED: .*needs permission: run tests/);
  });
});

describe('G: stop, signals, process trees', () => {
  it.each(['timeout', 'wf stop'])(
    'B-089: children and grandchildren, also in the background, are gone after %s',
    async (how) => {
      const agent = `cat >/dev/null
sleep 600 &
setsid sleep 600 &
: > ready
sh -c 'sleep 600; true'
`;
      const project = makeProject({
        files: { 'flow.js': workflow(`return [await agent('do A', { label: 'A' })]`), 'agent.sh': agent },
      });
      const limit = how === 'timeout' ? ['--timeout', '2s'] : [];
      const run = startWf(['run', 'flow.js', ...limit, '--backend', 'command', '--command', 'sh agent.sh'], {
        project,
      });
      await waitFor('the agent', () => existsSync(project.path('ready')));
      const family = await waitFor('its children', () => {
        const rows = familyOf(run.pid).filter(({ command }) => /sleep 600/.test(command));
        return rows.length >= 4 && rows;
      });
      if (how === 'wf stop') expect((await runWf(['stop', newestRun(project)], { project })).code).toBe(0);
      expect((await run.done).code).toBe(how === 'timeout' ? 3 : 130);
      await expectAllGone(family, 500);
    },
  );

  it('B-091 B-093: a stop ends the agents of a child workflow too; its queued ones never start; all have an end', async () => {
    const project = makeProject({
      files: {
        'parent.js': workflow(
          `await agent('first', { label: 'first' })
return await workflow('child')`,
          'parent',
        ),
        '.claude/workflows/child.js': workflow(
          `return await parallel(${LABELS(5)}.map((label) => () => agent('do ' + label, { label })))`,
          'child',
        ),
      },
    });
    const backend = makeFakeBackend(project, { gated: ['/^item/'] });
    const run = startWf(['run', 'parent.js', '--concurrency', '3', ...backend.flags], { project });
    await backend.waitForStarts(4);
    const family = familyOf(run.pid);
    const id = newestRun(project);
    expect((await runWf(['stop', id], { project })).code).toBe(0);
    expect((await run.done).code).toBe(130);
    await expectAllGone(family, 1_000);
    expect(backend.ledger.starts()).toHaveLength(4);
    expect(readState(project)).toMatchObject({
      status: 'cancelled',
      counts: { calls: 6, ok: 1, noResult: 5, executed: 4, failed: 0 },
    });
    const events = readJsonLines(readFileSync(join(project.runDir(id), 'events.jsonl'), 'utf8'));
    const ends = events.filter(({ type }) => type === 'call.finished');
    expect(ends.filter(({ status }) => status === 'no-result').length).toBeGreaterThanOrEqual(3);
    const shown = JSON.parse((await runWf(['show', id, '--json'], { project })).stdout);
    expect(shown.calls.map(({ status }: { status: string }) => status)).toEqual(['ok', ...Array(5).fill('no-result')]);
    const [row] = await listRuns(project);
    expect(row).toMatchObject({ status: 'cancelled', counts: { noResult: 5 } });
  });

  it.each([
    ['SIGINT', 1, 130, 'cancelled'],
    ['SIGINT', 2, 130, 'interrupted'],
    ['SIGTERM', 1, 143, 'interrupted'],
    ['SIGHUP', 1, 129, 'interrupted'],
  ] as const)(
    'B-092: %s, %i time(s): exit code, nothing new, nothing left, resumable',
    async (signal, times, code, status) => {
      const project = makeProject({ files: { 'flow.js': THREE }, endsWithinMs: 10_000 });
      const backend = makeFakeBackend(project, { rules: { B: { ignoreTerm: true, gate: true } } });
      const run = startWf(['run', 'flow.js', ...backend.flags], { project });
      await backend.waitForStart('B');
      const family = familyOf(run.pid);
      run.kill(signal);
      await run.waitForStderr(signal === 'SIGINT' ? /cancel requested/ : /no new calls are started/);
      const first = performance.now();
      if (times === 2) {
        await waitUntilLater(first, 450);
        run.kill(signal);
      } else backend.openGate('B');
      expect(await run.exited).toMatchObject({ code });
      await expectAllGone(family, 3_000);
      const [row] = await listRuns(project);
      expect(row?.status).toBe(status);
      expect(hasState(project)).toBe(times === 1);
      expect(backend.ledger.starts('C')).toHaveLength(0);
      // What finished in a drain is kept; what finished after a cancel is no answer.
      expect(answeredLabels(project)).toEqual(signal === 'SIGINT' ? ['A'] : ['A', 'B']);
      backend.openAllGates();
      expect(await runWf(['run', '--resume-from', row?.runId ?? ''], { project })).toMatchObject({ code: 0 });
      expect(backend.ledger.starts('A')).toHaveLength(1);
    },
  );

  it.each([
    ['stdout', '| true', { end: 'x'.repeat(100_000) }],
    ['stdout and stderr', '2>&1 | head -n 1', { end: 'x' }],
    ['stderr', '2>&1 >/dev/null | head -n 1', { end: 'x' }],
  ])('B-092: a closed %s ends the printing and not the run', async (_, pipe, result) => {
    const project = makeProject({
      files: { 'flow.js': `${THREE.replace(/return.*/, `return ${JSON.stringify(result)}`)}` },
    });
    const backend = makeFakeBackend(project, { gated: ['B'] });
    const run = startWf(['run', 'flow.js', ...backend.flags], {
      project,
      under: ['sh', '-c', `("$@"; echo $? > code) ${pipe}`, 'sh'],
    });
    await backend.waitForStart('B');
    backend.openAllGates();
    await run.done;
    expect(project.read('code')).toBe('0\n');
    expect(readState(project)).toMatchObject({ status: 'completed', exitCode: 0, counts: { ok: 3 }, result });
  });

  it('B-095: a call that was cut off in the middle is asked its whole task again, and what it had said is no answer', async () => {
    const project = makeProject({
      files: { 'flow.js': workflow(`return await agent('the whole task', { label: 'A' })`) },
    });
    const agent = project.write(
      'agent.sh',
      `cat > prompt.$WF_ATTEMPT.$(ls prompt.* 2>/dev/null | wc -l)
echo 'half an answer'
echo 'working' >&2
[ -e go ] || sleep 600
echo 'and the rest'
`,
    );
    const command = ['--backend', 'command', '--command', `sh ${agent}`];
    const run = startWf(['run', 'flow.js', '--drain', '100ms', ...command], { project });
    await run.waitForStderr(/working/);
    run.kill('SIGTERM');
    expect((await run.done).code).toBe(143);
    project.write('go', '');
    const again = await runWf(['run', '--resume-from', newestRun(project)], { project });
    expect(again).toMatchObject({ code: 0, stdout: 'half an answer\nand the rest\n' });
    expect([project.read('prompt.1.0'), project.read('prompt.1.1')]).toEqual(['the whole task', 'the whole task']);
  });
});

describe('6.7: drains', () => {
  it('D3: of 100 short calls a drain loses none and a resume repeats none', async () => {
    const project = makeProject({
      files: {
        'flow.js': workflow(
          `return (await parallel(${LABELS(100)}.map((label) => () => agent('do ' + label, { label })))).filter(Boolean).length`,
        ),
      },
    });
    const agent = makeShellAgent(project);
    const run = startWf(['run', 'flow.js', '--concurrency', '4', ...agent.flags], { project, timeoutMs: 60_000 });
    await agent.waitForStarts(30);
    run.kill('SIGTERM');
    expect((await run.done).code).toBe(143);
    const first = newestRun(project);
    const ended = agent.lines('ok').length;
    expect(ended).toBeLessThan(100);
    expect(answeredLabels(project, first)).toHaveLength(ended);
    expect(agent.started()).toHaveLength(ended);
    const again = await runWf(['run', '--resume-from', first], { project, timeoutMs: 60_000 });
    expect(again).toMatchObject({ code: 0, stdout: '100\n' });
    expect(agent.started()).toHaveLength(100);
    expect(new Set(agent.started()).size).toBe(100);
    expect(readState(project).counts).toMatchObject({ reused: ended, executed: 100 - ended });
  });

  it('D4: calls that come up during a drain are held: neither dispatched nor answered, and the resume makes them', async () => {
    const project = makeProject({
      files: {
        'flow.js': workflow(`const chain = async (name) => {
  try { return [await agent(name + ' 1', { label: name + ' 1' }), await agent(name + ' 2', { label: name + ' 2' })] }
  catch (error) { log('caught ' + error.message); throw error }
}
return await Promise.all([chain('A'), chain('B')])`),
      },
    });
    const backend = makeFakeBackend(project, { gated: ['A 1', 'B 1'] });
    const run = startWf(['run', 'flow.js', ...backend.flags], { project });
    await backend.waitForStarts(2);
    run.kill('SIGTERM');
    await run.waitForStderr(/no new calls are started/);
    backend.openGate('A 1');
    await run.waitForStderr(/A 2: queued/);
    backend.openGate('B 1');
    const ended = await run.done;
    expect(ended.code).toBe(143);
    expect(ended.stderr).not.toMatch(/caught/);
    expect(backend.ledger.starts(/ 2$/)).toHaveLength(0);
    expect(readState(project)).toMatchObject({ status: 'interrupted', counts: { ok: 2, noResult: 2, executed: 2 } });
    expect(await runWf(['run', '--resume-from', newestRun(project)], { project })).toMatchObject({ code: 0 });
    expect(backend.ledger.starts()).toHaveLength(4);
  });

  it('D5: the unit in docs/cli.md gives a drain its time, and the signal to wf alone', () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'cli.md'), 'utf8');
    const unit = /```ini\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    const drain = Number(/--drain (\d+)s/.exec(unit)?.[1]);
    const timeout = Number(/^TimeoutStopSec=(\d+)s?$/m.exec(unit)?.[1]);
    // Grace for agents that ignore the end of the drain, and some time for what is left to be written.
    expect(timeout).toBeGreaterThanOrEqual(drain + 15);
    expect(unit).toMatch(/^KillMode=mixed$/m);
    expect(unit).toMatch(/^SuccessExitStatus=143$/m);
  });
});

describe('6.4 and 6.9', () => {
  it('C4: a cancel ends the waiting and the agent, not what the agent did; the summary says so', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const effect = project.path('effect');
    const agent = project.write('agent.sh', `cat >/dev/null\necho done >> ${effect}\n: > ready\nsleep 600\n`);
    const run = startWf(['run', 'flow.js', '--backend', 'command', '--command', `sh ${agent}`], { project });
    await waitFor('the effect', () => existsSync(project.path('ready')));
    const family = familyOf(run.pid);
    run.kill('SIGINT');
    const ended = await run.done;
    expect(ended.code).toBe(130);
    await expectAllGone(family, 500);
    expect(readFileSync(effect, 'utf8')).toBe('done\n');
    expect(ended.stderr).toMatch(/what they did outside may remain/);
    expect(ended.stderr).toMatch(
      /1 call without a recorded result; what was done outside is not known, look there first/,
    );
  });

  it('X7: a resume has the permission, limits and tools of the run it goes on from; neither it nor a script widens them', async () => {
    const project = makeProject({
      files: {
        'flow.js': workflow(`const ask = (label) => agent('do ' + label, { label, permission: 'full', tools: ['Read'] })
return [await ask('A'), await ask('B'), await ask('C').catch((error) => error.code)]`),
        'agent.sh': `cat >/dev/null
echo "$WF_CALL_LABEL $WF_CALL_PERMISSION" >> seen
[ "$WF_CALL_LABEL" = A ] || [ -e go ] || { : > ready; sleep 600; }
echo "$WF_CALL_PERMISSION"
`,
      },
    });
    const flags = ['--permission', 'read', '--max-agents', '2', '--concurrency', '1', '--timeout', '10m'];
    const run = startWf(['run', 'flow.js', ...flags, '--backend', 'command', '--command', 'sh agent.sh'], { project });
    await waitFor('B', () => existsSync(project.path('ready')));
    run.kill('SIGINT');
    await run.done;
    const first = newestRun(project);
    project.write('go', '');
    const again = await runWf(['run', '--resume-from', first], { project, env: { WF_MAX_AGENTS: '50' } });
    // The cap is of each run; A was reused, so two more could start, and a third could not.
    expect(JSON.parse(again.stdout)).toEqual(['read', 'read', 'read']);
    expect(project.read('seen')).toBe('A read\nB read\nB read\nC read\n');
    const options = (id: string) => JSON.parse(readFileSync(join(project.runDir(id), 'run.json'), 'utf8')).options;
    expect(options(newestRun(project))).toEqual(options(first));
    expect(options(first)).toMatchObject({ permission: 'read', maxAgents: 2, concurrency: 1, timeoutMs: 600_000 });
    // Only who types a flag widens it, and that is said.
    const wider = await runWf(['run', '--resume-from', first, '--permission', 'edit'], { project });
    expect(wider.stderr).toMatch(/permission.*read.*edit|permission.*edit.*read/);
  });
});
