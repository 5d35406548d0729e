/** What goes wrong with an `acp` agent, and how its process ends. */
import { describe, expect, test } from 'vitest';
import { isProcessAlive } from '../../src/shared/process-info.js';
import { waitFor } from '../support/wait.js';
import { type Action, expectNothingLeft, messageOf, scriptAgent } from './acp-kit.js';

const once = { retries: 0 };

describe('faults', () => {
  test.each([
    ['sign-in', { code: -32_000, message: 'Authentication required' }, 'WF_AUTH', true],
    ['claude: errorKind', { code: -32_603, message: 'x', data: { errorKind: 'billing_error' } }, 'WF_BILLING', true],
    [
      'claude: rate limit',
      { code: -32_603, message: 'x', data: { errorKind: 'rate_limit' } },
      'WF_AGENT_UNREACHABLE',
      false,
    ],
    ['opencode: errorName', { code: -32_603, message: 'x', data: { errorName: 'ProviderAuthError' } }, 'WF_AUTH', true],
    [
      'codex: usage limit',
      { code: -32_603, message: 'x', data: { codexErrorInfo: 'usageLimitExceeded' } },
      'WF_USAGE_LIMIT',
      true,
    ],
    ['gemini: 401 as code', { code: 401, message: '{"error":{"code":401,"message":"bad key"}}' }, 'WF_AUTH', true],
    ['gemini: 400 as code', { code: 400, message: 'no' }, 'WF_AGENT_FAILED', false],
    ['gemini: 503 as code', { code: 503, message: 'busy' }, 'WF_AGENT_UNREACHABLE', false],
    ['status in data', { code: -32_603, message: 'x', data: { statusCode: 402 } }, 'WF_BILLING', true],
    ['status in words', { code: -32_603, message: 'API Error: 529 overloaded' }, 'WF_AGENT_UNREACHABLE', false],
    ['network in words', { code: -32_603, message: 'fetch failed: ECONNREFUSED' }, 'WF_AGENT_UNREACHABLE', false],
    ['a number that is no status', { code: -32_603, message: 'line 401 is odd' }, 'WF_AGENT_FAILED', false],
  ])('an error of the protocol: %s', async (_what, error, code, shared) => {
    const agent = scriptAgent({ steps: [[{ error }]] });
    expect(await agent.run({}, once)).toMatchObject({ kind: 'failed', error: { code }, shared });
    expectNothingLeft(agent);
  });

  test('sign-in names the ways that the agent offers', async () => {
    const start = {
      authMethods: [
        { id: 'oauth', name: 'Log in with Acme' },
        { id: 'key', name: 'API key' },
      ],
      sessionError: { code: -32_000, message: 'Authentication required' },
    };
    const outcome = await scriptAgent({ start }).run();
    expect(outcome).toMatchObject({ error: { code: 'WF_AUTH' }, shared: true, attempts: 1 });
    expect(messageOf(outcome)).toContain('Log in with Acme, API key');
  });

  test("Google's time to wait is waited", async () => {
    const message = JSON.stringify({ error: { code: 429, message: 'slow', details: [{ retryDelay: '1.5s' }] } });
    const agent = scriptAgent({ steps: [[{ error: { code: 429, message } }], [{ say: 'ok' }]] });
    expect(await agent.run()).toMatchObject({ kind: 'ok', attempts: 2 });
    expect(agent.context.sleeps).toEqual([1_500]);
  });

  test.each([
    ['exceeded retry limit, last status: 429 Too Many Requests, request id: x', 'WF_AGENT_UNREACHABLE'],
    ['unexpected status 401 Unauthorized: bad key', 'WF_AUTH'],
    ["You've hit your usage limit. Try again at 11:16 AM.", 'WF_USAGE_LIMIT'],
    ['Quota exceeded. Check your plan and billing details.', 'WF_BILLING'],
    ['stream disconnected before completion: closed', 'WF_AGENT_UNREACHABLE'],
  ])('trap 6: %j as the whole answer is a fault', async (text, code) => {
    const agent = scriptAgent({ steps: [[{ say: `${text}\n\n` }]] });
    expect(await agent.run({}, once)).toMatchObject({ kind: 'failed', error: { code } });
  });

  test('an answer that speaks of such a fault is an answer', async () => {
    const text = 'The log says: exceeded retry limit, last status: 429 Too Many Requests.';
    expect(await scriptAgent({ steps: [[{ say: text }]] }).run()).toMatchObject({
      kind: 'ok',
      output: JSON.stringify(text),
    });
  });

  test.each([
    ['limit', 'exceeded retry limit, last status: 429 Too Many Requests', 'WF_AGENT_UNREACHABLE'],
    ['limit', "You've hit your usage limit.", 'WF_USAGE_LIMIT'],
    ['access', 'Sign in again.', 'WF_AUTH'],
    ['service', 'unexpected status 500', 'WF_AGENT_UNREACHABLE'],
    ['request', 'The model refused.', 'WF_AGENT_FAILED'],
  ])('trap 6: a turn that reports the failure %s "%s" beside half an answer', async (category, title, code) => {
    const meta = { jetbrains: { air: { version: 1, sessionFailure: { category, title, severity: 'error' } } } };
    const agent = scriptAgent({ steps: [[{ say: 'It is' }, { meta }]] });
    const outcome = await agent.run({}, once);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code } });
    expect(messageOf(outcome)).toContain(title);
  });

  test.each([
    ['refusal', 'WF_AGENT_REFUSED'],
    ['max_tokens', 'WF_AGENT_FAILED'],
    ['max_turn_requests', 'WF_AGENT_FAILED'],
    ['cancelled', 'WF_AGENT_FAILED'],
    ['newer_reason', 'WF_AGENT_UNREACHABLE'],
  ])('a turn that stops for %s is no answer', async (stop, code) => {
    const agent = scriptAgent({
      steps: [[{ say: 'Half of' }, { tokens: { inputTokens: 1, outputTokens: 2 } }, { stop }]],
    });
    expect(await agent.run({}, once)).toMatchObject({ kind: 'failed', error: { code }, usage: { outputTokens: 2 } });
  });

  test('no such program, and one that may not be executed', async () => {
    for (const command of ['wf-no-such-agent', import.meta.filename]) {
      const agent = scriptAgent({}, { command });
      expect(await agent.run()).toMatchObject({ kind: 'failed', error: { code: 'WF_BACKEND_MISSING' }, shared: true });
      expect(await agent.backend.probe()).toMatchObject({ ok: false });
    }
  });

  test('a working folder that is not there is the fault of the call', async () => {
    const agent = scriptAgent({});
    expect(await agent.run({ cwd: '/no/such/folder' })).toMatchObject({
      error: { code: 'WF_AGENT_FAILED' },
      shared: false,
    });
  });

  test('it ends before the handshake: not set up, with its last words', async () => {
    const agent = scriptAgent({ start: { exit: 2, stderr: 'unknown option --acp' } });
    const outcome = await agent.run();
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_BACKEND_SETUP' }, shared: true, attempts: 1 });
    expect(messageOf(outcome)).toMatch(
      /exit code 2 before it answered initialize; its last words: unknown option --acp/,
    );
    expect(await agent.backend.probe()).toMatchObject({ ok: false, reason: expect.stringContaining('exit code 2') });
  });

  test('it ends in the middle of a turn, by itself or by a signal, and is tried again', async () => {
    const agent = scriptAgent({
      steps: [[{ say: 'Half' }, { exit: 3, words: 'boom' }], [{ kill: 'SIGKILL' }], [{ say: 'whole' }]],
    });
    expect(await agent.run()).toMatchObject({ kind: 'ok', output: '"whole"', attempts: 3 });
    expect(agent.context.retries.map(({ kind }) => kind)).toEqual(['protocol', 'protocol']);
    expectNothingLeft(agent);
  });

  test('it ends with exit code 0 and half an answer: no answer', async () => {
    const agent = scriptAgent({ steps: [[{ say: 'Half' }, { exit: 0 }]] });
    const outcome = await agent.run({}, once);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_UNREACHABLE' } });
    expect(messageOf(outcome)).toContain('ended with exit code 0 before it answered session/prompt');
  });

  test('it closes its output and stays', async () => {
    const agent = scriptAgent({ start: { stays: true }, steps: [[{ close: true }, { hang: true }]] });
    const outcome = await agent.run({}, once);
    expect(messageOf(outcome)).toContain('closed its output before it answered session/prompt');
    expectNothingLeft(agent);
  });

  test('words on its output that are no messages are passed over', async () => {
    const garbage = ['Loaded cached credentials.', '[1,2]', '{"a":1}', '"text"', '{broken'];
    const agent = scriptAgent({ start: { garbage }, steps: [[{ raw: 'debug: thinking' }, { say: 'fine' }]] });
    expect(await agent.run()).toMatchObject({ kind: 'ok', output: '"fine"' });
  });

  test('nothing but such words: a limit of its own, and the first of them in the message', async () => {
    const agent = scriptAgent(
      { start: { garbage: ['Usage: agent [options]'], hang: true } },
      { startTimeoutMs: 1_500 },
    );
    const outcome = await agent.run({}, once);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_UNREACHABLE' } });
    expect(messageOf(outcome)).toMatch(/did not open a session within 1500 ms.*Usage: agent \[options\]/);
    expectNothingLeft(agent);
  });

  test('a flood of such words ends the attempt', async () => {
    const agent = scriptAgent({ steps: [[{ raw: 'x'.repeat(5 << 20) }, { hang: true }]] });
    const outcome = await agent.run({}, once);
    expect(messageOf(outcome)).toContain('broke the protocol: it writes what is no message of the protocol');
    expectNothingLeft(agent);
  });

  test('another version of the protocol', async () => {
    const outcome = await scriptAgent({ start: { protocolVersion: 7 } }).run();
    expect(outcome).toMatchObject({ error: { code: 'WF_BACKEND_SETUP' }, shared: true });
  });
});

describe('the end of an agent', () => {
  const stopWhileItHangs = async (start: Record<string, unknown>, steps: Action[], graceMs = 1_200) => {
    const agent = scriptAgent({ start, steps: [[...steps, { hang: true }]] });
    const outcome = agent.run({}, { graceMs });
    await waitFor('the turn', () => agent.noted('hangs').length === 1);
    agent.context.controller.abort();
    expect(await outcome).toMatchObject({ kind: 'cancelled' });
    expect(agent.noted('cancel')).toHaveLength(1);
    return agent;
  };

  test('an abort is the cancel of the protocol, then the end', async () => {
    const agent = await stopWhileItHangs({}, []);
    expectNothingLeft(agent);
  });

  test('it ignores the cancel, its closed input and SIGTERM (C1)', async () => {
    const agent = await stopWhileItHangs({ ignoreCancel: true, ignoreTerm: true }, []);
    expectNothingLeft(agent);
  });

  test('a child with a session of its own ends with it, after an abort and after an answer', async () => {
    const stopped = await stopWhileItHangs({}, [{ child: true }]);
    const answered = scriptAgent({ steps: [[{ child: true }, { say: 'done' }]] });
    expect(await answered.run()).toMatchObject({ kind: 'ok' });
    const children = [...stopped.noted('child'), ...answered.noted('child')] as number[];
    expect(children).toHaveLength(2);
    expect(children.filter((pid) => isProcessAlive(pid))).toEqual([]);
    expectNothingLeft(answered);
  });

  test('it is killed from outside: its child with a session of its own is found by its marks', async () => {
    const agent = scriptAgent({ steps: [[{ child: true }, { kill: 'SIGKILL' }]] });
    expect(await agent.run({}, once)).toMatchObject({ kind: 'failed' });
    const [child] = agent.noted('child') as number[];
    await waitFor('the end of the child', () => !isProcessAlive(child as number));
  });

  test('it does not leave when its input ends', async () => {
    const agent = scriptAgent({ start: { stays: true } });
    expect(await agent.run()).toMatchObject({ kind: 'ok' });
    expectNothingLeft(agent);
  });

  test('a cancel while it starts', async () => {
    const agent = scriptAgent({ start: { hang: true } });
    const outcome = agent.run();
    await waitFor('the start', () => agent.noted('start').length === 1);
    agent.context.controller.abort();
    expect(await outcome).toMatchObject({ kind: 'cancelled' });
    expectNothingLeft(agent);
  });
});
