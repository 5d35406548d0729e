import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { AgentBackend } from '../../src/agents/backend.js';
import { createCommandBackend } from '../../src/agents/command/command-backend.js';
import { type CallOutcome, executeCall } from '../../src/agents/execute-call.js';
import { isProcessAlive } from '../../src/shared/process-info.js';
import { killProcessTree, readProcess } from '../../src/shared/process-tree.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { waitFor } from '../support/wait.js';
import { makeContext, makePolicy, makeRequest, type NotedContext } from './call-kit.js';

let folder: string;
beforeEach(() => {
  folder = makeTempFolder('command');
});

const sh = (script: string, env: NodeJS.ProcessEnv = {}): AgentBackend =>
  createCommandBackend({ argv: ['sh', '-c', script], env: { PATH: process.env.PATH, ...env } });

const bash = (script: string): AgentBackend =>
  createCommandBackend({ argv: ['bash', '-c', script], env: { PATH: process.env.PATH } });

function run(
  backend: AgentBackend,
  request: Parameters<typeof makeRequest>[0] = {},
  policy: Parameters<typeof makePolicy>[0] = {},
  context = makeContext(),
): Promise<CallOutcome> {
  return executeCall(backend, makeRequest({ cwd: folder, ...request }), makePolicy(policy), context);
}

const answerOf = (outcome: CallOutcome): string => {
  if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
  return JSON.parse(outcome.output) as string;
};

const errorOf = (outcome: CallOutcome): { code: string; message: string } => {
  if (outcome.kind !== 'failed') throw new Error(JSON.stringify(outcome));
  return outcome.error;
};

/** Pids that the program wrote into a file of the folder, once there are that many. */
const pidsIn = (file: string, count: number): Promise<number[]> =>
  waitFor(`${count} pids in ${file}`, () => {
    const path = join(folder, file);
    const pids = existsSync(path) ? readFileSync(path, 'utf8').trim().split(/\s+/).map(Number) : [];
    return pids.length >= count && pids;
  });

const alive = (pids: number[]): number[] => pids.filter((pid) => isProcessAlive(pid));

describe('what the program sees', () => {
  test('the environment is a closed list, and what was named besides', async () => {
    const env = {
      HOME: '/h',
      LANG: 'C',
      XDG_CACHE_HOME: '/x',
      HTTPS_PROXY: 'p',
      SECRET_TOKEN: 's',
      NODE_OPTIONS: '--no',
      MY_KEY: 'k',
    };
    const backend = createCommandBackend({
      argv: ['env', '-0'],
      env: { PATH: process.env.PATH, ...env },
      allowEnv: ['MY_KEY'],
    });
    const names = answerOf(await run(backend))
      .split('\0')
      .map((line) => line.split('=')[0])
      .filter(Boolean);
    expect(names.sort()).toEqual(
      [
        'HOME',
        'HTTPS_PROXY',
        'LANG',
        'MY_KEY',
        'PATH',
        'WF_ATTEMPT',
        'WF_CALL_KEY',
        'WF_CALL_LABEL',
        'WF_CALL_PERMISSION',
        'WF_DEPTH',
        'WF_RUN_ID',
        'XDG_CACHE_HOME',
      ].sort(),
    );
  });

  test('the call is told by WF_ variables; the key stays over attempts', async () => {
    const backend = sh(
      'echo "$WF_RUN_ID $WF_CALL_KEY $WF_CALL_LABEL $WF_CALL_PHASE $WF_CALL_MODEL $WF_CALL_EFFORT $WF_CALL_PERMISSION $WF_ATTEMPT $WF_DEPTH" >> log; [ $WF_ATTEMPT = 2 ] || exit 75',
    );
    const request = {
      label: 'a b',
      phase: 'P',
      model: 'm',
      effort: 'low',
      permission: 'read' as const,
      callKey: 'key',
    };
    expect(await run(backend, request)).toMatchObject({ kind: 'ok', attempts: 2 });
    const { runId } = makeRequest();
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe(
      `${runId} key a b P m low read 1 1\n${runId} key a b P m low read 2 1\n`,
    );
  });

  test('labels that no variable can hold', async () => {
    expect(
      answerOf(await run(sh('printf %s "$WF_CALL_LABEL" | wc -c'), { label: `a\0${'b'.repeat(500_000)}` })).trim(),
    ).toBe('4002');
  });

  test('the schema is a file for this user alone, gone with the call', async () => {
    const schema = { type: 'object', properties: { path: { type: 'string' } }, description: 'x'.repeat(200_000) };
    const backend = sh(
      'stat -c %a "$WF_CALL_SCHEMA" > mode; cp "$WF_CALL_SCHEMA" copy; printf \'{"path":"%s"}\' "$WF_CALL_SCHEMA"',
    );
    const outcome = await run(backend, { schema });
    const { path } = JSON.parse((outcome as { output: string }).output) as { path: string };
    expect(readFileSync(join(folder, 'mode'), 'utf8').trim()).toBe('600');
    expect(JSON.parse(readFileSync(join(folder, 'copy'), 'utf8'))).toEqual(schema);
    expect(existsSync(path)).toBe(false);
    await run(sh('echo "$WF_CALL_SCHEMA" > where; kill -9 $$'), { schema });
    expect(existsSync(readFileSync(join(folder, 'where'), 'utf8').trim())).toBe(false);
  });

  test("an agent definition's body stands in front of the prompt", async () => {
    const definition = {
      name: 'r',
      file: 'r.md',
      digest: '',
      prompt: 'You review.\n',
      description: undefined,
      model: undefined,
      effort: undefined,
      tools: undefined,
      disallowedTools: undefined,
    };
    expect(answerOf(await run(sh('cat'), { prompt: 'Go.', agent: definition, agentType: 'r' }))).toBe(
      'You review.\n\nGo.',
    );
  });

  test('no terminal to ask on, and stdin ends (B-085)', async () => {
    expect(answerOf(await run(sh('cat >/dev/null; (exec 3</dev/tty) 2>/dev/null && echo tty || echo none')))).toBe(
      'none',
    );
  });

  test('a program with a slash is found from where the backend was made, not from the folder of the call', async () => {
    const program = join(folder, 'agent');
    writeFileSync(program, '#!/bin/sh\npwd\n');
    chmodSync(program, 0o755);
    expect(answerOf(await run(createCommandBackend({ argv: [program] }), { cwd: '/' }))).toBe('/');
  });
});

describe('what the program says', () => {
  test('one trailing newline is not part of the answer', async () => {
    expect(answerOf(await run(sh('printf "a\\n\\n"')))).toBe('a\n');
    expect(answerOf(await run(sh('printf " a"')))).toBe(' a');
  });

  test('stderr: progress for people, words for the engine', async () => {
    const context = makeContext();
    const script = `
      echo 'reading files' >&2
      echo '{"wf":"progress","text":"half"}' >&2
      printf '10%%\\r20%%\\r' >&2
      echo '{"wf":"usage","in":10,"out":20,"usd":0.01}' >&2
      echo '{"wf":"usage","in":1,"out":2,"usd":0.02,"cacheRead":7}' >&2
      echo '{"wf":broken' >&2
      printf 'no line end' >&2; echo ok`;
    const outcome = await run(sh(script), {}, {}, context);
    expect(outcome).toMatchObject({ usage: { inputTokens: 11, outputTokens: 22, cacheReadTokens: 7, usd: 0.03 } });
    expect(context.events).toEqual([
      { type: 'progress', text: 'reading files' },
      { type: 'progress', text: 'half' },
      { type: 'progress', text: '10%' },
      { type: 'progress', text: '20%' },
      { type: 'usage', usage: { inputTokens: 10, outputTokens: 20, usd: 0.01 } },
      { type: 'usage', usage: { inputTokens: 11, outputTokens: 22, usd: 0.03, cacheReadTokens: 7 } },
      { type: 'progress', text: '{"wf":broken' },
      { type: 'progress', text: 'no line end' },
    ]);
  });

  test.each([
    [69, 'WF_AGENT_UNREACHABLE', false, 5],
    [75, 'WF_AGENT_UNREACHABLE', false, 5],
    [77, 'WF_AUTH', true, 1],
    [78, 'WF_BACKEND_SETUP', true, 1],
    [1, 'WF_AGENT_FAILED', false, 1],
    [137, 'WF_AGENT_FAILED', false, 1],
  ])('exit code %i: %s', async (exit, code, shared, attempts) => {
    const outcome = await run(sh(`echo partial; echo first >&2; echo 'the cause' >&2; echo >&2; exit ${exit}`));
    expect(outcome).toMatchObject({ kind: 'failed', error: { code }, shared, attempts });
    expect(errorOf(outcome).message).toContain(`exit code ${exit}: the cause`);
  });

  test('ended by a signal; nothing said', async () => {
    expect(errorOf(await run(sh('kill -9 $$'))).message).toBe('sh was ended by SIGKILL and said nothing.');
    expect(errorOf(await run(sh('echo only stdout; exit 4'))).message).toBe('sh ended with exit code 4: only stdout');
  });

  test('a program may name the kind of its failure and when to come back', async () => {
    const context = makeContext();
    const script = `[ $WF_ATTEMPT = 2 ] && echo ok && exit; echo '{"wf":"error","kind":"rate_limit","retryAfterMs":700,"message":"slow down"}' >&2; exit 1`;
    expect(await run(sh(script), {}, {}, context)).toMatchObject({ kind: 'ok', attempts: 2 });
    expect(context.sleeps).toEqual([700]);
    const limit = `echo '{"wf":"error","kind":"usage_limit","resetsAt":"2026-12-01T10:00:00Z"}' >&2; exit 1`;
    expect(await run(sh(limit))).toMatchObject({
      shared: true,
      error: { code: 'WF_USAGE_LIMIT', resetsAt: '2026-12-01T10:00:00Z' },
    });
  });

  test.each([
    ['no such program', ['/nowhere/agent'], 'there is no such program'],
    ['no such program on PATH', ['wf-no-such-agent'], 'there is no such program'],
    ['not executable', [join(import.meta.dirname, 'call-kit.ts')], 'it cannot be executed (EACCES)'],
  ])('%s: stops the run with what to do', async (_name, argv, reason) => {
    const backend = createCommandBackend({ argv, env: { PATH: process.env.PATH } });
    expect(await backend.probe()).toMatchObject({ ok: false });
    const outcome = await run(backend);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_BACKEND_MISSING' }, shared: true, attempts: 1 });
    expect(errorOf(outcome).message).toContain(reason);
    expect(errorOf(outcome).message).toContain('Install it or correct the command');
  });

  test('a working folder that does not exist concerns the call alone', async () => {
    const outcome = await run(sh('echo x'), { cwd: join(folder, 'gone') });
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_FAILED' }, shared: false });
    expect(errorOf(outcome).message).toContain('working folder');
  });

  test('a program that does not read its prompt (5 MB)', async () => {
    expect(answerOf(await run(sh('echo ok'), { prompt: 'x'.repeat(5_000_000) }))).toBe('ok');
  });

  test('endless output ends the call and takes no memory', async () => {
    const before = process.memoryUsage.rss();
    const context = makeContext();
    const outcome = await run(sh('yes "a long line of noise on stdout"'), {}, { maxAnswerBytes: 1_000_000 }, context);
    expect(errorOf(outcome).code).toBe('WF_ANSWER_SIZE');
    expect(process.memoryUsage.rss() - before).toBeLessThan(150e6);
    expect(alive(context.started)).toEqual([]);
  });

  test('endless noise on stderr without a line end takes no memory', async () => {
    const before = process.memoryUsage.rss();
    const context = makeContext();
    const outcome = await run(sh('head -c 100000000 /dev/zero | tr "\\0" x >&2; echo ok'), {}, {}, context);
    expect(answerOf(outcome)).toBe('ok');
    expect(process.memoryUsage.rss() - before).toBeLessThan(150e6);
    expect(context.events).toHaveLength(1);
  });
});

describe('what stays of it: nothing', () => {
  test('after a normal end, also of a grandchild that holds stdout (B-094)', async () => {
    const context = makeContext();
    const started = performance.now();
    const outcome = await run(bash('sleep 71 & sleep 72 & echo $! $(jobs -p) > pids; echo answer'), {}, {}, context);
    expect(answerOf(outcome)).toBe('answer');
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(alive(await pidsIn('pids', 3))).toEqual([]);
    expect(context.events).toContainEqual({
      type: 'progress',
      text: 'bash ended while 2 process(es) of it still ran; they were ended.',
    });
    expect(context.ended).toEqual(context.started);
  });

  test('after a normal end, of one that holds nothing but has a group of its own', async () => {
    const outcome = await run(bash('set -m; sleep 73 >/dev/null 2>&1 </dev/null & echo $! > pids; echo answer'));
    expect(answerOf(outcome)).toBe('answer');
    expect(alive(await pidsIn('pids', 1))).toEqual([]);
  });

  test('what the leader wrote is complete although a grandchild goes on writing', async () => {
    const outcome = await run(
      bash('(while :; do sleep 0.02; echo noise; done) & echo $! > pids; head -c 300000 /dev/zero | tr "\\0" a'),
    );
    expect(answerOf(outcome).replaceAll('noise\n', '').replace('noise', '')).toBe('a'.repeat(300_000));
    expect(alive(await pidsIn('pids', 1))).toEqual([]);
  });

  test('on abort: SIGTERM to the group, grandchildren and own sessions gone, none of it an answer (B-089, C1)', async () => {
    const context = makeContext();
    const script = `trap 'echo late; exit 0' TERM; sleep 74 & a=$!; setsid sleep 75 & b=$!; echo $a $b $$ > pids; echo early; wait`;
    const outcome = run(bash(script), {}, {}, context);
    const pids = await pidsIn('pids', 3);
    await waitFor('the own session', () => readProcess(pids[1] as number)?.session === pids[1]);
    context.controller.abort();
    expect(await outcome).toEqual({ kind: 'cancelled', attempts: 1 });
    expect(alive(pids)).toEqual([]);
  });

  test('one that ignores SIGTERM is killed after the grace (H10)', async () => {
    const context = makeContext();
    const started = performance.now();
    const outcome = run(
      bash(`trap '' TERM; (trap '' TERM; sleep 76; sleep 76) & echo $! $$ > pids; sleep 76; sleep 76`),
      {},
      { graceMs: 400 },
      context,
    );
    const pids = await pidsIn('pids', 2);
    const aborted = performance.now();
    context.controller.abort();
    expect(await outcome).toMatchObject({ kind: 'cancelled' });
    expect(performance.now() - aborted).toBeGreaterThan(350);
    expect(performance.now() - started).toBeLessThan(6_000);
    expect(alive(pids)).toEqual([]);
  });

  test('a cancel shortens the grace to 3 s', async () => {
    const context = makeContext();
    const outcome = run(
      bash(`trap '' TERM; echo $$ > pids; while :; do sleep 77; done`),
      {},
      { graceMs: 60_000 },
      context,
    );
    await pidsIn('pids', 1);
    const aborted = performance.now();
    context.controller.abort();
    expect(await outcome).toMatchObject({ kind: 'cancelled' });
    expect(performance.now() - aborted).toBeLessThan(4_800);
  });

  test('the effect of a stopped call stays; a child that tidies up gets its grace although its parent has gone (C4)', async () => {
    const context = makeContext();
    const script = `echo effect > file; bash -c 'trap "sleep 0.3; echo tidy > tidy; exit" TERM; echo $$ > pids; while :; do sleep 0.05; done' & wait`;
    const outcome = run(bash(script), {}, {}, context);
    await pidsIn('pids', 1);
    context.controller.abort();
    expect(await outcome).toMatchObject({ kind: 'cancelled' });
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('effect\n');
    expect(readFileSync(join(folder, 'tidy'), 'utf8')).toBe('tidy\n');
  });

  test('a detached process that holds the pipe is not waited for, and not touched (H11)', async () => {
    const started = performance.now();
    // Its parent has gone before the leader has: nothing ties it to the call any more.
    const outcome = await run(
      bash('(setsid sh -c "echo \\$\\$ > pids; exec sleep 78" &); until [ -s pids ]; do sleep 0.01; done; echo answer'),
    );
    expect(answerOf(outcome)).toBe('answer');
    expect(performance.now() - started).toBeLessThan(5_000);
    const [pid] = await pidsIn('pids', 1);
    expect(isProcessAlive(pid as number)).toBe(true);
    killProcessTree(pid as number, 'SIGKILL');
  });

  test('forty calls at once leave no process, no file descriptor and no listener', async () => {
    const descriptors = () => readdirSync('/proc/self/fd').length;
    await run(sh('echo warm'));
    const before = descriptors();
    const context: NotedContext = makeContext();
    const backend = sh('sleep 79 & cat');
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, i) => run(backend, { prompt: `p${i}` }, {}, context)),
    );
    expect(outcomes.map(answerOf)).toEqual(Array.from({ length: 40 }, (_, i) => `p${i}`));
    expect(context.started).toHaveLength(40);
    expect(alive(context.started)).toEqual([]);
    await waitFor('closed descriptors', () => descriptors() <= before);
  });
});

test('a backend without a program is refused', () => {
  expect(() => createCommandBackend({ argv: [] })).toThrow(expect.objectContaining({ code: 'WF_BACKEND_CONFIG' }));
  expect(statSync(folder).isDirectory()).toBe(true);
});
