import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type FakeBackend, makeFakeBackend } from './fake-backend.js';
import { isAlive, killTree, sendSignal } from './processes.js';
import { makeProject, type TestProject } from './temp-project.js';

/** Starts the agent as the `command` backend does: prompt on stdin, the call in a short environment. */
function startAgent(
  project: TestProject,
  backend: FakeBackend,
  label: string,
  more: { prompt?: string; env?: object } = {},
) {
  const [file, ...argv] = backend.argv as [string, ...string[]];
  const { PATH, HOME } = project.env;
  const env = { PATH, HOME, WF_CALL_LABEL: label, WF_CALL_KEY: `key-${label}`, WF_ATTEMPT: '1', ...more.env };
  const child = spawn(file, argv, { cwd: project.dir, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  project.onDispose(() => killTree(child.pid as number));
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (output.stderr += text));
  child.stdin.on('error', () => {}).end(more.prompt ?? `do ${label}`);
  const done = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }));
  return { pid: child.pid as number, done, output };
}

const run = (...args: Parameters<typeof startAgent>) => startAgent(...args).done;

describe('the fake agent', () => {
  it('answers with a number of its own and notes start and end', async () => {
    const project = makeProject();
    const backend = makeFakeBackend(project);
    const answers = await Promise.all(['a', 'a', 'b', 'c d/e'].map((label) => run(project, backend, label)));
    const nonces = answers.map(({ stdout }) => Number(/^.+ answered #(\d+)$/.exec(stdout)?.[1]));
    expect([...nonces].sort()).toEqual([1, 2, 3, 4]);
    expect(backend.ledger.starts('a').map((line) => line.nth)).toHaveLength(2);
    expect(backend.ledger.starts(/^[bc]/)).toHaveLength(2);
    expect(backend.ledger.starts('b')).toMatchObject([
      { key: 'key-b', attempt: 1, prompt: 'do b', promptBytes: 4, cwd: project.dir, runFiles: [], journalLines: 0 },
    ]);
    expect(backend.ledger.ends().map((line) => [line.outcome, line.nonce])).toHaveLength(4);
  });

  it('waits at its gate, again after the gate was closed', async () => {
    const project = makeProject();
    const backend = makeFakeBackend(project, { gated: ['A', '/^B/'] });
    for (const label of ['A', 'B1']) {
      const agent = startAgent(project, backend, label);
      await backend.waitForStart(label);
      expect(backend.ledger.ends(label)).toEqual([]);
      backend.openGate(label);
      expect(await agent.done).toMatchObject({ code: 0 });
    }
    await run(project, backend, 'A');
    backend.gate('A');
    const again = startAgent(project, backend, 'A');
    expect(await backend.waitForStart('A', { nth: 3 })).toMatchObject({ nth: 3 });
    expect(backend.ledger.ends('A')).toHaveLength(2);
    backend.openAllGates();
    expect((await again.done).stdout).toBe('A answered #4');
    expect(await backend.waitForEnds(4)).toHaveLength(4);
    await expect(backend.waitForStart('Z', { timeoutMs: 50 })).rejects.toThrow(
      /1 start of Z in the ledger, which holds:\n {2}start A/,
    );
  });

  it('sees what lies in the run folder when it starts', async () => {
    const runId = '00000000-0000-4000-8000-000000000001';
    const project = makeProject({
      files: {
        [`.claude/workflow-runs/${runId}/journal.jsonl`]: '{}\n{}\n{"torn',
        [`.claude/workflow-runs/${runId}/run.json`]: '{}',
      },
    });
    const backend = makeFakeBackend(project);
    await run(project, backend, 'a', { env: { WF_RUN_ID: runId, WF_CALL_PHASE: 'P' } });
    expect(backend.ledger.starts()).toMatchObject([
      { runId, phase: 'P', runFiles: ['journal.jsonl', 'run.json'], journalLines: 2 },
    ]);
  });

  it('does what the first fitting rule says: by label, prompt, phase, and count', async () => {
    const project = makeProject();
    const backend = makeFakeBackend(project, {
      rules: [
        { when: { prompt: '/secret/i' }, behaviour: { value: 'by prompt {prompt}' } },
        { when: { label: 'a', nth: 2 }, behaviour: { value: { nonce: '{nonce}', list: ['{label}', 1, null] } } },
        { when: { label: 'a' }, behaviour: { raw: 'not {json' } },
        { when: { phase: 'late' }, behaviour: { bytes: 1_000_000 } },
        { behaviour: { rawBase64: Buffer.from([0xff, 0x00, 0x0a]).toString('base64') } },
      ],
    });
    const says = async (label: string, more?: Parameters<typeof startAgent>[3]) =>
      (await run(project, backend, label, more)).stdout;
    expect(await says('a', { prompt: 'A Secret' })).toBe('by prompt A Secret');
    expect(await says('a')).toBe('{"nonce":"2","list":["a",1,null]}');
    expect(await says('a')).toBe('not {json');
    expect(await says('x', { env: { WF_CALL_PHASE: 'late' } })).toHaveLength(1_000_000);
    expect(Buffer.from(await says('y'))).toEqual(Buffer.from('\ufffd\0\n'));
    backend.setRules({});
    expect(JSON.parse(await says('z', { env: { WF_CALL_SCHEMA: '/some/file' } }))).toEqual({ answer: 'z', nonce: 6 });
  });

  it('fails as told: for good, at first, or by a signal', async () => {
    const project = makeProject();
    const backend = makeFakeBackend(project, {
      rules: {
        bad: { fail: 77, stderr: ['not signed in'] },
        weak: { flaky: { times: 2, code: 75 } },
        dead: { dieBy: 'SIGKILL' },
        dear: { tokens: { in: 1, out: 2, usd: 0.5 } },
      },
    });
    expect(await run(project, backend, 'bad')).toMatchObject({ code: 77, stdout: '', stderr: 'not signed in\n' });
    const codes = [];
    for (let i = 0; i < 3; i++) codes.push((await run(project, backend, 'weak')).code);
    expect(codes).toEqual([75, 75, 0]);
    expect(await run(project, backend, 'dead')).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect((await run(project, backend, 'dear')).stderr).toBe('{"wf":"usage","in":1,"out":2,"usd":0.5}\n');
    expect(backend.ledger.ends().map((line) => line.outcome)).toEqual([
      'failed',
      'failed',
      'failed',
      'ok',
      'died',
      'ok',
    ]);
  });

  it('hangs, keeps running on SIGTERM, and leaves a grandchild, as told', async () => {
    const project = makeProject();
    const backend = makeFakeBackend(project, {
      rules: { polite: { hang: true }, rude: { hang: true, ignoreTerm: true, spawnGrandchild: { detached: true } } },
    });
    const polite = startAgent(project, backend, 'polite');
    const rude = startAgent(project, backend, 'rude');
    await backend.waitForStarts(2);
    sendSignal(polite.pid, 'SIGTERM');
    sendSignal(rude.pid, 'SIGTERM');
    expect(await polite.done).toMatchObject({ code: 143 });
    await expect
      .poll(() => backend.ledger.lines().some((line) => line.event === 'sigterm' && line.label === 'rude'))
      .toBe(true);
    expect(isAlive(rude.pid)).toBe(true);
    await expect.poll(() => backend.ledger.grandchildren()).toHaveLength(1);
    const grandchild = backend.ledger.grandchildren()[0] as number;
    sendSignal(rude.pid, 'SIGKILL');
    await rude.done;
    expect(isAlive(grandchild)).toBe(true);
    sendSignal(grandchild, 'SIGKILL');
  });

  it('leaves its input unread, touches a file, and kills its parent, as told', async () => {
    const project = makeProject();
    const effect = project.path('effect');
    const backend = makeFakeBackend(project, {
      rules: { deaf: { readInput: false, touch: effect }, killer: { killParent: 'SIGTERM', hang: true } },
    });
    await run(project, backend, 'deaf', { prompt: 'x'.repeat(5_000_000) });
    expect(readFileSync(effect, 'utf8')).toBe('deaf 1\n');
    expect(existsSync(project.path('.claude'))).toBe(false);

    // A shell between, so that it is not this process that is killed.
    const [file, ...argv] = backend.argv as [string, ...string[]];
    const shell = spawn('sh', ['-c', '"$0" "$@"; echo survived', file, ...argv], {
      cwd: project.dir,
      env: { ...project.env, WF_CALL_LABEL: 'killer' },
      stdio: 'ignore',
    });
    expect(await once(shell, 'exit')).toEqual([null, 'SIGTERM']);
    sendSignal(backend.ledger.starts('killer')[0]?.pid as number, 'SIGKILL');
  });
});
