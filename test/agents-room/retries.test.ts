/** Further attempts of a call: by the kind of the error, and through the gate that all calls of a backend share. */
import { describe, expect, test } from 'vitest';
import { type AgentRequest, BackendError, type BackendErrorKind, defineBackend } from '../../src/agents/backend.js';
import { executeCall } from '../../src/agents/execute-call.js';
import { createRateGate } from '../../src/agents/rate-gate.js';
import { retryDelay, triesFor } from '../../src/agents/retry-policy.js';
import { sumUsage } from '../../src/agents/usage-words.js';
import { seededRandom, testSeed } from '../support/seeds.js';
import { waitFor } from '../support/wait.js';
import { backendOf, failing, makeContext, makePolicy, makeRequest } from './call-kit.js';

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
