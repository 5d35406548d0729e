import { describe, expect, test } from 'vitest';
import {
  type AgentAnswer,
  type AgentBackend,
  type AgentRequest,
  type AgentRunContext,
  BackendError,
  type BackendErrorKind,
  defineBackend,
} from '../../src/agents/backend.js';
import { executeCall } from '../../src/agents/execute-call.js';
import { createMask } from '../../src/agents/mask-secrets.js';
import { createMockBackend } from '../../src/agents/mock/mock-backend.js';
import { createRateGate } from '../../src/agents/rate-gate.js';
import { retryDelay, triesFor } from '../../src/agents/retry-policy.js';
import { sumUsage } from '../../src/agents/usage-words.js';
import { seededRandom, testSeed } from '../support/seeds.js';
import { waitFor } from '../support/wait.js';
import { makeContext, makePolicy, makeRequest } from './call-kit.js';

type Run = (request: AgentRequest, context: AgentRunContext) => Promise<AgentAnswer>;

const backendOf = (run: Run, parts: Partial<AgentBackend> = {}): AgentBackend =>
  defineBackend({ name: 'test', run, ...parts });

const failing = (kind: BackendErrorKind): AgentBackend =>
  backendOf(async () => {
    throw new BackendError(kind, 'because', { usage: { inputTokens: 1, outputTokens: 2 } });
  });

const never = (): Promise<AgentAnswer> => new Promise(() => {});

describe('retries', () => {
  test.each<[BackendErrorKind, number, string, 'null' | 'throw', boolean]>([
    ['auth', 1, 'WF_AUTH', 'throw', true],
    ['billing', 1, 'WF_BILLING', 'throw', true],
    ['usage_limit', 1, 'WF_USAGE_LIMIT', 'throw', true],
    ['config', 1, 'WF_BACKEND_SETUP', 'throw', true],
    ['backend_missing', 1, 'WF_BACKEND_MISSING', 'throw', true],
    ['rate_limit', 8, 'WF_AGENT_UNREACHABLE', 'null', false],
    ['overloaded', 5, 'WF_AGENT_UNREACHABLE', 'null', false],
    ['server', 5, 'WF_AGENT_UNREACHABLE', 'null', false],
    ['network', 3, 'WF_AGENT_UNREACHABLE', 'null', false],
    ['protocol', 3, 'WF_AGENT_UNREACHABLE', 'null', false],
    ['empty', 3, 'WF_AGENT_EMPTY', 'null', false],
    ['timeout', 1, 'WF_AGENT_TIMEOUT', 'null', false],
    ['stalled', 2, 'WF_AGENT_STALLED', 'throw', false],
    ['refused', 1, 'WF_AGENT_REFUSED', 'null', false],
    ['schema', 1, 'WF_SCHEMA_UNMET', 'throw', false],
    ['invalid_request', 1, 'WF_AGENT_FAILED', 'null', false],
    ['failed', 1, 'WF_AGENT_FAILED', 'null', false],
    ['too_large', 1, 'WF_ANSWER_SIZE', 'null', false],
    ['cancelled', 1, 'WF_AGENT_FAILED', 'null', false],
  ])('%s: %i tries, %s (B-063, B-072, B-074)', async (kind, tries, code, tell, shared) => {
    const context = makeContext();
    const outcome = await executeCall(failing(kind), makeRequest(), makePolicy(), context);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code }, tell, shared, attempts: tries });
    expect(outcome).toMatchObject({ usage: { inputTokens: tries, outputTokens: 2 * tries } });
    expect(context.retries.map(({ attempt }) => attempt)).toEqual(Array.from({ length: tries - 1 }, (_, i) => i + 2));
  });

  test('the setting counts tries after the first, for kinds that are worth it', () => {
    expect([triesFor('server', 0), triesFor('server', 9), triesFor('auth', 9), triesFor('failed', 9)]).toEqual([
      1, 10, 1, 1,
    ]);
    expect([triesFor('stalled', 0), triesFor('stalled', 9)]).toEqual([1, 2]);
  });

  test('back-off grows, is spread over its whole range, and ends (B-073, B-074)', () => {
    const random = seededRandom(testSeed());
    for (const kind of ['server', 'rate_limit'] as const) {
      const mean = (failures: number) =>
        Array.from({ length: 400 }, () => retryDelay(kind, failures, undefined, random)).reduce((a, b) => a + b) / 400;
      expect(mean(1)).toBeLessThan(mean(3));
      expect(mean(3)).toBeLessThan(mean(5));
      const delays = Array.from({ length: 400 }, () => retryDelay(kind, 50, undefined, random));
      expect(Math.max(...delays)).toBeLessThanOrEqual(60_000);
      expect(Math.min(...delays)).toBeLessThan(3_000);
    }
    expect(retryDelay('rate_limit', 1, 90_000.2)).toBe(90_001);
    expect(retryDelay('stalled', 1, undefined)).toBe(0);
  });

  test('the call keeps its key and its request; only the attempt counts up (B-080)', async () => {
    const seen: AgentRequest[] = [];
    const backend = backendOf(async (request) => {
      seen.push(request);
      if (request.attempt < 3) throw new BackendError('server', 'busy');
      return { text: 'ok' };
    });
    await executeCall(backend, makeRequest({ prompt: 'p' }), makePolicy(), makeContext());
    expect(seen.map(({ attempt, callKey, prompt, session }) => [attempt, callKey, prompt, session])).toEqual(
      [1, 2, 3].map((attempt) => [attempt, makeRequest().callKey, 'p', undefined]),
    );
  });

  test('a cancel ends the wait for the next try', async () => {
    const context = makeContext({
      sleep: (_ms, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    const outcome = executeCall(failing('server'), makeRequest(), makePolicy(), context);
    await waitFor('the wait', () => context.retries.length === 1);
    context.controller.abort();
    expect(await outcome).toEqual({
      kind: 'cancelled',
      attempts: 1,
      usage: { inputTokens: 1, outputTokens: 2 },
    });
  });

  test('what an attempt has used so far is told with what those before it have cost', async () => {
    const told: unknown[] = [];
    const context = makeContext({ onEvent: (event) => void (event.type === 'usage' && told.push(event.usage)) });
    const backend = defineBackend({
      name: 'counting',
      async run({ attempt }, { onEvent }) {
        const usage = { inputTokens: 10, outputTokens: 5 };
        onEvent({ type: 'usage', usage });
        if (attempt === 1) throw new BackendError('server', 'busy', { usage });
        return { text: 'ok', usage };
      },
    });
    const outcome = await executeCall(backend, makeRequest(), makePolicy(), context);
    expect(outcome).toMatchObject({ usage: { inputTokens: 20, outputTokens: 10 } });
    expect(told).toEqual([
      { inputTokens: 10, outputTokens: 5 },
      { inputTokens: 20, outputTokens: 10 },
    ]);
  });

  test('the time limit holds over tries and waits', async () => {
    const context = makeContext({
      sleep: (_ms, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    const outcome = await executeCall(failing('server'), makeRequest(), makePolicy({ timeoutMs: 100 }), context);
    expect(outcome).toMatchObject({
      kind: 'failed',
      error: { code: 'WF_AGENT_TIMEOUT' },
      attempts: 1,
      usage: { outputTokens: 2 },
    });
  });

  test('of costs of which one does not know its money the sum is that of the other, and says so', () => {
    expect(sumUsage({ inputTokens: 1, outputTokens: 1, usd: 1 }, { inputTokens: 1, outputTokens: 1 })).toEqual({
      inputTokens: 2,
      outputTokens: 2,
      usd: 1,
      usdPartial: true,
    });
    expect(
      sumUsage({ inputTokens: 1, outputTokens: 1 }, { inputTokens: 1, outputTokens: 1, cacheReadTokens: 4 }),
    ).toEqual({ inputTokens: 2, outputTokens: 2, cacheReadTokens: 4 });
    expect(sumUsage(undefined, undefined)).toBeUndefined();
  });
});

describe('a gate for all calls of a backend', () => {
  test('after a 429 everybody waits until its time has come, then one after the other', async () => {
    let now = 0;
    const sleepers: { until: number; wake: () => void }[] = [];
    const sleep = (ms: number): Promise<void> => new Promise((wake) => sleepers.push({ until: now + ms, wake }));
    const gate = createRateGate({ now: () => now, sleep }, seededRandom(testSeed()));
    const context = makeContext({ gate });
    const backend = backendOf(async (request) => {
      if (request.n === 1 && request.attempt === 1)
        throw new BackendError('rate_limit', 'slow', { retryAfterMs: 5_000 });
      return { text: String(now) };
    });
    const first = executeCall(backend, makeRequest({ n: 1 }), makePolicy(), context);
    await waitFor('the hold', () => !gate.isOpen());
    const others = [2, 3, 4].map((n) => executeCall(backend, makeRequest({ n }), makePolicy(), context));
    await waitFor('all to wait', () => sleepers.length === 4);
    expect(context.attempts).toEqual([1]);
    const times = sleepers.map(({ until }) => until);
    expect(new Set(times).size).toBe(4);
    for (const time of times) expect(time >= 5_000 && time <= 5_500).toBe(true);
    for (const { until, wake } of sleepers.sort((x, y) => x.until - y.until)) {
      now = until;
      wake();
    }
    const outcomes = await Promise.all([first, ...others]);
    expect(outcomes.map(({ kind, attempts }) => `${kind} ${attempts}`)).toEqual(['ok 2', 'ok 1', 'ok 1', 'ok 1']);
  });

  test('a shorter hold does not end a longer one; a longer one prolongs the wait', async () => {
    let now = 0;
    const gate = createRateGate(
      {
        now: () => now,
        sleep: async (ms) => {
          now += ms;
          if (now < 2_000) gate.hold(3_000);
        },
      },
      () => 0,
    );
    expect(gate.isOpen()).toBe(true);
    gate.hold(1_000);
    gate.hold(10);
    expect(gate.isOpen()).toBe(false);
    await gate.wait(new AbortController().signal);
    expect(now).toBe(4_000);
  });

  test('a cancel ends the wait', async () => {
    const gate = createRateGate({
      now: () => 0,
      sleep: (_ms, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    gate.hold(1_000);
    const context = makeContext({ gate });
    const outcome = executeCall(failing('server'), makeRequest(), makePolicy(), context);
    context.controller.abort();
    expect(await outcome).toEqual({ kind: 'cancelled', attempts: 0 });
  });
});

describe('limits', () => {
  test('signs of life, and a tool at work, keep a call going (B-082)', async () => {
    const backend = backendOf(async (_request, context) => {
      for (let i = 0; i < 6; i++) {
        await new Promise((resolve) => setTimeout(resolve, 60));
        context.onEvent({ type: 'progress', text: `${i}` });
      }
      context.onEvent({ type: 'tool', name: 'build', state: 'start' });
      await new Promise((resolve) => setTimeout(resolve, 500));
      context.onEvent({ type: 'tool', name: 'build', state: 'end' });
      return { text: 'ok' };
    });
    expect(await executeCall(backend, makeRequest(), makePolicy({ idleTimeoutMs: 250 }), makeContext())).toMatchObject({
      kind: 'ok',
      attempts: 1,
    });
  });

  test('a stall after a tool has ended is seen', async () => {
    const backend = backendOf(async (_request, context) => {
      context.onEvent({ type: 'tool', name: 'x', state: 'start' });
      context.onEvent({ type: 'tool', name: 'x', state: 'end' });
      return await stopped(context);
    });
    expect(await executeCall(backend, makeRequest(), makePolicy({ idleTimeoutMs: 60 }), makeContext())).toMatchObject({
      kind: 'failed',
      attempts: 2,
      error: { code: 'WF_AGENT_STALLED' },
    });
  });

  test('one stall, then an answer', async () => {
    const backend = backendOf(async (request, context) =>
      request.attempt === 1 ? await stopped(context) : { text: 'ok' },
    );
    const context = makeContext();
    expect(await executeCall(backend, makeRequest(), makePolicy({ idleTimeoutMs: 60 }), context)).toMatchObject({
      kind: 'ok',
      attempts: 2,
    });
    expect(context.retries).toEqual([{ kind: 'stalled', delayMs: 0, attempt: 2 }]);
  });

  test('an answer that comes after the cancel is none (C6)', async () => {
    const backend = backendOf(async (_request, context) => {
      await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve(), { once: true }));
      return { text: 'late' };
    });
    const context = makeContext();
    const outcome = executeCall(backend, makeRequest(), makePolicy(), context);
    context.controller.abort();
    expect(await outcome).toEqual({ kind: 'cancelled', attempts: 1 });
  });

  test.each([
    ['cancel', {}, { kind: 'cancelled' }],
    ['time limit', { timeoutMs: 50 }, { kind: 'failed', error: { code: 'WF_AGENT_TIMEOUT' } }],
  ])('a backend that does not obey is left to itself after the grace: %s', async (how, policy, expected) => {
    const context = makeContext();
    const started = performance.now();
    const outcome = executeCall(backendOf(never), makeRequest(), makePolicy({ graceMs: 100, ...policy }), context);
    if (how === 'cancel') context.controller.abort();
    expect(await outcome).toMatchObject(expected);
    expect(performance.now() - started).toBeLessThan(4_000);
  });

  test('the grace is that of the policy, and 3 s at most while cancelling', async () => {
    const graces: number[] = [];
    const backend = backendOf(async (_request, context) => {
      graces.push(context.graceMs);
      await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve(), { once: true }));
      graces.push(context.graceMs);
      throw new BackendError('cancelled', 'stopped');
    });
    const context = makeContext();
    const outcome = executeCall(backend, makeRequest(), makePolicy({ graceMs: 5_000 }), context);
    context.controller.abort();
    await outcome;
    await executeCall(backend, makeRequest(), makePolicy({ graceMs: 5_000, timeoutMs: 20 }), makeContext());
    expect(graces).toEqual([5_000, 3_000, 5_000, 5_000]);
  });

  test('no listener stays on the signal of the run', async () => {
    const context = makeContext();
    let added = 0;
    const { signal } = context;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      added++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      added--;
      remove(...args);
    };
    await executeCall(failing('server'), makeRequest(), makePolicy({ timeoutMs: 1_000, idleTimeoutMs: 500 }), context);
    expect(added).toBe(0);
  });
});

const stopped = (context: AgentRunContext): Promise<never> =>
  new Promise((_, reject) =>
    context.signal.addEventListener('abort', () => reject(new BackendError('cancelled', 'stopped')), { once: true }),
  );

describe('answers', () => {
  test.each<[string, unknown, RegExp]>([
    ['an error', new Error('boom'), /^boom$/],
    ['a text', 'boom', /^boom$/],
    ['nothing', undefined, /undefined/],
    [
      'another copy of BackendError',
      Object.assign(new Error('who are you'), { name: 'BackendError', kind: 'auth' }),
      /who are you/,
    ],
  ])('a backend that throws %s', async (name, thrown, message) => {
    const backend = backendOf(() => Promise.reject(thrown));
    const outcome = await executeCall(backend, makeRequest(), makePolicy(), makeContext());
    const code = name.startsWith('another') ? 'WF_AUTH' : 'WF_AGENT_FAILED';
    expect(outcome).toMatchObject({
      kind: 'failed',
      error: { code, message: expect.stringMatching(message) },
      attempts: 1,
    });
  });

  test.each<[string, () => unknown]>([
    [
      'throws at once',
      () => {
        throw new Error('sync');
      },
    ],
    ['gives nothing', async () => undefined],
    ['gives a text instead of an answer', async () => 'text'],
    ['gives a structure that is no JSON', async () => ({ text: '', structured: 1n })],
  ])('a backend that %s fails the call, not the run', async (_name, run) => {
    const outcome = await executeCall(backendOf(run as Run), makeRequest(), makePolicy(), makeContext());
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_FAILED' }, shared: false });
  });

  test('model and session are handed on; an event tells them too', async () => {
    const backend = backendOf(async (_request, context) => {
      context.onEvent({ type: 'model', model: 'm1' });
      context.onEvent({ type: 'usage', usage: { inputTokens: 3, outputTokens: 4 } });
      return { text: 'x', session: 's1' };
    });
    const outcome = await executeCall(backend, makeRequest(), makePolicy(), makeContext());
    expect(outcome).toEqual({
      kind: 'ok',
      output: '"x"',
      usage: { inputTokens: 3, outputTokens: 4 },
      model: 'm1',
      session: 's1',
      attempts: 1,
    });
  });

  test('what a stopped attempt had cost is counted', async () => {
    const backend = backendOf(async (_request, context) => {
      context.onEvent({ type: 'usage', usage: { inputTokens: 3, outputTokens: 4 } });
      return await stopped(context);
    });
    expect(await executeCall(backend, makeRequest(), makePolicy({ timeoutMs: 30 }), makeContext())).toMatchObject({
      usage: { outputTokens: 4 },
    });
  });

  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

  test('a re-ask goes on in the session where there is one', async () => {
    const seen: AgentRequest[] = [];
    const backend = backendOf(
      async (request) => {
        seen.push(request);
        return { text: request.attempt === 1 ? '{"n":"x"}' : '{"n":1}', session: 's1' };
      },
      { capabilities: { schema: 'requested', tools: false, sessions: true, usd: false, permissions: ['edit'] } },
    );
    expect(
      await executeCall(backend, makeRequest({ prompt: 'Count.', schema }), makePolicy(), makeContext()),
    ).toMatchObject({ kind: 'ok', output: '{"n":1}' });
    expect(seen[1]?.session).toBe('s1');
    expect(seen[1]?.prompt).toContain('- /n must be integer');
    expect(seen[1]?.prompt).not.toContain('Count.');
  });

  test('without sessions a new attempt is told all: prompt, bad answer, faults', async () => {
    const seen: AgentRequest[] = [];
    const backend = backendOf(async (request) => {
      seen.push(request);
      return { text: '{"n":"x"}', session: 's1' };
    });
    await executeCall(backend, makeRequest({ prompt: 'Count.', schema }), makePolicy({ retries: 0 }), makeContext());
    expect(seen).toHaveLength(3);
    for (const text of ['Count.', '{"n":"x"}', '- /n must be integer']) expect(seen[1]?.prompt).toContain(text);
    // The third is not told the second's words twice.
    expect(seen[2]?.prompt).toBe(seen[1]?.prompt);
    expect(seen[2]?.session).toBeUndefined();
  });

  test('an error in between does not lose the re-ask (B-073)', async () => {
    const seen: string[] = [];
    const backend = backendOf(async (request) => {
      seen.push(request.prompt);
      if (request.attempt === 2) throw new BackendError('server', 'busy');
      return { text: request.attempt === 1 ? 'prose' : '{"n":1}' };
    });
    const outcome = await executeCall(backend, makeRequest({ schema }), makePolicy(), makeContext());
    expect(outcome).toMatchObject({ kind: 'ok', attempts: 3 });
    expect(seen[2]).toBe(seen[1]);
  });

  test('what is too long is cut after it was masked: no part of a secret stays at the edge', async () => {
    const secret = 'tok-of-some-length-0123456789';
    const mask = createMask({ TOKEN: secret });
    const backend = backendOf(async (_request, context) => {
      context.onEvent({ type: 'progress', text: `${'x'.repeat(15_990)}${secret} more` });
      throw new BackendError('failed', `${'y'.repeat(2_490)}${secret} more`);
    });
    const context = makeContext(mask && { mask });
    const outcome = await executeCall(backend, makeRequest(), makePolicy({ retries: 0 }), context);
    expect(context.events[0]).toEqual({ type: 'progress', text: `${'x'.repeat(15_990)}[secret:TO` });
    expect(outcome).toMatchObject({ error: { message: `${'y'.repeat(2_490)}[secret:TO` } });
  });

  test('secrets are masked in everything that the backend hands over', async () => {
    const secret = 'tok-"quoted"-0123456789';
    const mask = createMask({ TOKEN: secret, SHORT: 'abc', LONGER: `${secret}-more` });
    const backend = backendOf(async (request, context) => {
      context.onEvent({ type: 'progress', text: `using ${secret}` });
      if (request.label === 'fail') throw new BackendError('failed', `bad ${secret}-more`);
      return {
        text: `text ${secret} abc`,
        ...(request.schema && { structured: { n: 1, key: secret, [secret]: true } }),
      };
    });
    const context = makeContext(mask && { mask });
    const run = (changes: Parameters<typeof makeRequest>[0]) =>
      executeCall(backend, makeRequest(changes), makePolicy(), context);
    expect(await run({})).toMatchObject({ output: '"text [secret:TOKEN] abc"' });
    expect(await run({ schema })).toMatchObject({ output: '{"n":1,"key":"[secret:TOKEN]","[secret:TOKEN]":true}' });
    expect(await run({ label: 'fail' })).toMatchObject({ error: { message: 'bad [secret:LONGER]' } });
    expect(context.events[0]).toEqual({ type: 'progress', text: 'using [secret:TOKEN]' });
    expect(createMask({ A: 'short', B: undefined })).toBeUndefined();
  });
});

test('its own cost is that of a few promises and a listener', async () => {
  const backend = await createMockBackend();
  const context = makeContext({ onAttempt: () => {}, onEvent: () => {} });
  const request = makeRequest();
  const policy = makePolicy();
  const measure = async (work: () => Promise<unknown>): Promise<number> => {
    const started = performance.now();
    for (let i = 0; i < 1_000; i++) await work();
    return performance.now() - started;
  };
  const call = () => executeCall(backend, request, policy, context);
  const yardstick = async () => {
    const listener = () => {};
    context.signal.addEventListener('abort', listener, { once: true });
    await Promise.resolve();
    context.signal.removeEventListener('abort', listener);
  };
  // Measured in short turns, as the machine may be busy with other tests.
  let [cost, least] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let i = 0; i < 100; i++) {
    cost = Math.min(cost, await measure(call));
    least = Math.min(least, await measure(yardstick));
  }
  console.log(`executeCall over mock: ${cost.toFixed(2)} µs a call, yardstick ${least.toFixed(2)} µs`);
  expect(cost).toBeLessThan(12 * least);
});
