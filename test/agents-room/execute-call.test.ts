import { describe, expect, test } from 'vitest';
import { type AgentBackend, type AgentRequest, type AgentRunContext, BackendError } from '../../src/agents/backend.js';
import { executeCall } from '../../src/agents/execute-call.js';
import { createMask } from '../../src/agents/mask-secrets.js';
import { createMockBackend } from '../../src/agents/mock/mock-backend.js';
import { backendOf, failing, makeContext, makePolicy, makeRequest, never } from './call-kit.js';

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
    graces.length = 0;
    // A limit is set, and the cancel comes first.
    const cancelled = makeContext();
    const stopping = executeCall(backend, makeRequest(), makePolicy({ graceMs: 5_000, timeoutMs: 60_000 }), cancelled);
    cancelled.controller.abort();
    await stopping;
    expect(graces).toEqual([5_000, 3_000]);
  });

  test('a cancel while a backend ends because of its limit shortens what is left of the grace', async () => {
    const context = makeContext();
    const graces: number[] = [];
    const backend = backendOf(async (_request, own) => {
      await new Promise<void>((resolve) => own.signal.addEventListener('abort', () => resolve(), { once: true }));
      graces.push(own.graceMs);
      context.controller.abort();
      graces.push(own.graceMs);
      throw new BackendError('cancelled', 'stopped');
    });
    await executeCall(backend, makeRequest(), makePolicy({ graceMs: 5_000, timeoutMs: 20 }), context);
    expect(graces).toEqual([5_000, 3_000]);
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
    const outcome = await executeCall(
      backendOf(run as AgentBackend['run']),
      makeRequest(),
      makePolicy(),
      makeContext(),
    );
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
