/** What every backend must do, told by steps: what the other side does in each attempt of a call. */
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { realpathSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { AgentBackend, BackendErrorKind } from '../../src/agents/backend.js';
import { type CallOutcome, executeCall } from '../../src/agents/execute-call.js';
import { isProcessAlive } from '../../src/shared/process-info.js';
import { waitFor } from '../support/wait.js';
import { makeContext, makePolicy, makeRequest } from './call-kit.js';

export type Step = { usage?: { in: number; out: number; usd?: number } } & (
  | { text: string; repeat?: number }
  | { error: BackendErrorKind; retryAfterMs?: number; message?: string }
  | { hang: true }
  /** Answers with the hash of the prompt's bytes and the working folder, as JSON. */
  | { echo: true }
);

export interface ConformingBackend {
  name: string;
  /** Answers attempt n by step n; the last step repeats. */
  make(steps: readonly Step[]): AgentBackend | Promise<AgentBackend>;
  /** The backend cannot look at the call (`mock`): steps with `echo` are left out. */
  blind?: boolean;
  /** What answers sees no folder: an `echo` leaves it out. */
  placeless?: boolean;
  /** A failed attempt tells no usage, and none tells money. */
  tokensOnly?: boolean;
}

const SCHEMA = {
  type: 'object',
  properties: { verdict: { enum: ['yes', 'no'] }, score: { type: 'integer' } },
  required: ['verdict'],
  additionalProperties: false,
};
const GOOD = '{"verdict":"yes","score":3}';

export function describeConformance({ name, make, blind, placeless, tokensOnly }: ConformingBackend): void {
  const run = async (
    steps: readonly Step[],
    changes: { request?: Parameters<typeof makeRequest>[0]; policy?: Parameters<typeof makePolicy>[0] } = {},
    context = makeContext(),
  ): Promise<CallOutcome> =>
    await executeCall(await make(steps), makeRequest(changes.request), makePolicy(changes.policy), context);

  describe(`${name}: conformance`, () => {
    test('text', async () => {
      const outcome = await run([{ text: 'hello' }]);
      expect(outcome).toMatchObject({ kind: 'ok', output: '"hello"', usage: undefined, attempts: 1 });
    });

    test.each([
      ['alone', GOOD],
      ['fenced, with words around', `Here it is:\n\n\`\`\`json\n${GOOD}\n\`\`\`\nDone.`],
      ['in a sentence', `The verdict is ${GOOD}, as you asked.`],
      ['in a JSON string', JSON.stringify(GOOD)],
    ])('an answer that fits the schema: %s (B-125)', async (_how, text) => {
      const outcome = await run([{ text }], { request: { schema: SCHEMA } });
      expect(outcome).toMatchObject({ kind: 'ok', output: GOOD, attempts: 1 });
    });

    test('a schema whose root is no object', async () => {
      const schema = { type: 'array', items: { type: 'integer' } };
      expect(await run([{ text: '[1, 2]' }], { request: { schema } })).toMatchObject({ kind: 'ok', output: '[1,2]' });
    });

    test('wrong twice, then right: three tries, all of them paid for', async () => {
      const context = makeContext();
      const usage = { in: 10, out: 5 };
      const steps = [
        { text: '{"verdict":"maybe"}', usage },
        { text: 'no idea', usage },
        { text: GOOD, usage },
      ];
      const outcome = await run(steps, { request: { schema: SCHEMA } }, context);
      expect(outcome).toMatchObject({
        kind: 'ok',
        output: GOOD,
        attempts: 3,
        usage: { inputTokens: 30, outputTokens: 15 },
      });
      expect(context.retries.map(({ kind, attempt }) => `${kind} ${attempt}`)).toEqual(['schema 2', 'schema 3']);
    });

    test('never right: the script is thrown a StructuredOutputError that names the fault (B-124, B-126)', async () => {
      const context = makeContext();
      const outcome = await run(
        [{ text: '{"verdict":"maybe"}', usage: { in: 1, out: 1 } }],
        { request: { schema: SCHEMA } },
        context,
      );
      expect(outcome).toMatchObject({
        kind: 'failed',
        error: { code: 'WF_SCHEMA_UNMET', name: 'StructuredOutputError' },
        tell: 'throw',
        shared: false,
        attempts: 3,
        usage: { outputTokens: 3 },
      });
      expect((outcome as { error: { message: string } }).error.message).toContain(
        '/verdict must be equal to one of the allowed values',
      );
      // The text of each attempt is told, so that it can be kept.
      const isToldText = (text: string): boolean => text.includes('does not fit the schema') && text.includes('maybe');
      const told = context.events.filter((event) => event.type === 'progress' && isToldText(event.text));
      expect(told).toHaveLength(3);
    });

    test.each(['', '{}', '[]', '   '])('an empty answer %j does not fit a schema (B-062)', async (text) => {
      expect(await run([{ text }], { request: { schema: SCHEMA } })).toMatchObject({
        kind: 'failed',
        error: { code: 'WF_SCHEMA_UNMET' },
      });
    });

    test('a schema that cannot be used is refused before anything is spent (B-124)', async () => {
      const context = makeContext();
      const outcome = await run(
        [{ text: '{}' }],
        { request: { schema: { $ref: 'https://example.invalid/x.json' } } },
        context,
      );
      expect(outcome).toMatchObject({
        kind: 'failed',
        error: { code: 'WF_SCHEMA_INVALID' },
        tell: 'throw',
        attempts: 0,
      });
      expect(context.attempts).toEqual([]);
    });

    test('sign-in: one attempt, and it concerns all calls (B-077)', async () => {
      const outcome = await run([{ error: 'auth', message: 'not signed in' }]);
      expect(outcome).toMatchObject({
        kind: 'failed',
        error: { code: 'WF_AUTH' },
        shared: true,
        tell: 'throw',
        attempts: 1,
      });
      expect((outcome as { error: { message: string } }).error.message).toContain('not signed in');
    });

    test('rate limit with a time: the next attempt waits that long (B-073)', async () => {
      const context = makeContext();
      const outcome = await run([{ error: 'rate_limit', retryAfterMs: 1_234 }, { text: 'ok' }], {}, context);
      expect(outcome).toMatchObject({ kind: 'ok', attempts: 2 });
      expect(context.sleeps).toEqual([1_234]);
    });

    test('rate limit without a time: it backs off', async () => {
      const context = makeContext();
      const steps: Step[] = [{ error: 'rate_limit' }, { error: 'rate_limit' }, { text: 'ok' }];
      expect(await run(steps, {}, context)).toMatchObject({ kind: 'ok', attempts: 3 });
      expect(context.retries.map(({ kind }) => kind)).toEqual(['rate_limit', 'rate_limit']);
      for (const { delayMs } of context.retries) expect(delayMs).toBeLessThanOrEqual(4_000);
    });

    test('two short overloads, then an answer (B-074)', async () => {
      const context = makeContext();
      const steps: Step[] = [{ error: 'server' }, { error: 'overloaded' }, { text: 'ok' }];
      expect(await run(steps, {}, context)).toMatchObject({ kind: 'ok', output: '"ok"', attempts: 3 });
      expect(context.attempts).toEqual([1, 2, 3]);
    });

    test('an overload that stays: null after five tries', async () => {
      const outcome = await run([{ error: 'overloaded' }]);
      expect(outcome).toMatchObject({
        kind: 'failed',
        error: { code: 'WF_AGENT_UNREACHABLE' },
        tell: 'null',
        shared: false,
        attempts: 5,
      });
    });

    test("an agent's own failure is not tried again", async () => {
      const outcome = await run([{ error: 'failed', message: 'no such file: notes' }]);
      expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_FAILED' }, tell: 'null', attempts: 1 });
      expect((outcome as { error: { message: string } }).error.message).toContain('no such file: notes');
    });

    test('cancel while it runs: cancelled, and nothing of it stays', async () => {
      const context = makeContext();
      const outcome = run([{ hang: true }], {}, context);
      await waitFor('the attempt', () => context.attempts.length === 1);
      context.controller.abort();
      expect(await outcome).toEqual({ kind: 'cancelled', attempts: 1 });
      expectNothingLeft(context);
    });

    test('cancel before it starts: no attempt', async () => {
      const context = makeContext();
      context.controller.abort();
      expect(await run([{ text: 'x' }], {}, context)).toEqual({ kind: 'cancelled', attempts: 0 });
    });

    test('time limit: null after it, and nothing of it stays (B-081)', async () => {
      const context = makeContext();
      const outcome = await run([{ hang: true }], { policy: { timeoutMs: 500 } }, context);
      expect(outcome).toMatchObject({
        kind: 'failed',
        error: { code: 'WF_AGENT_TIMEOUT' },
        tell: 'null',
        shared: false,
        attempts: 1,
      });
      expectNothingLeft(context);
    });

    test('no sign of life: one more try, then a StallError (B-084)', async () => {
      const context = makeContext();
      const outcome = await run([{ hang: true }], { policy: { idleTimeoutMs: 400 } }, context);
      expect(outcome).toMatchObject({
        kind: 'failed',
        error: { code: 'WF_AGENT_STALLED', name: 'StallError' },
        tell: 'throw',
        attempts: 2,
      });
      expectNothingLeft(context);
    });

    test('a large answer (1 MB)', async () => {
      const outcome = await run([{ text: 'äbc\n', repeat: 250_000 }]);
      if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
      const text = JSON.parse(outcome.output) as string;
      expect(text.replace(/\n$/, '')).toBe('äbc\n'.repeat(250_000).replace(/\n$/, ''));
    });

    test('an answer above the limit fails as such', async () => {
      const outcome = await run([{ text: 'x', repeat: 70_000 }], { policy: { maxAnswerBytes: 65_536 } });
      expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_ANSWER_SIZE' }, tell: 'null', attempts: 1 });
    });

    test('odd characters in an answer', async () => {
      const text = 'NUL \0, e\u0301 and é, \u2028, 👩‍👩‍👧, \r\n, \\u0041';
      expect(await run([{ text }])).toMatchObject({ kind: 'ok', output: JSON.stringify(text) });
    });

    test('odd prompts arrive or are at least no fault (B-101)', async () => {
      for (const prompt of ['', '--help', '\ud800 lone', 'a\0b', '$(id) `id` %PATH% "\'']) {
        expect(await run([{ text: 'ok' }], { request: { prompt } })).toMatchObject({ kind: 'ok' });
      }
    });

    test('usage is that of all attempts', async () => {
      const steps: Step[] = [
        { error: 'server', usage: { in: 100, out: 1, usd: 0.25 } },
        { text: 'ok', usage: { in: 10, out: 20, usd: 0.5 } },
      ];
      const outcome = await run(steps);
      const all = { inputTokens: 110, outputTokens: 21, usd: 0.75 };
      expect(outcome).toMatchObject({ kind: 'ok', usage: tokensOnly ? { inputTokens: 10, outputTokens: 20 } : all });
    });

    test('an empty answer is one, unless the agent is known to have said nothing (B-062)', async () => {
      expect(await run([{ text: '' }])).toMatchObject({ kind: 'ok', output: '""', attempts: 1 });
      const outcome = await run([{ text: '', usage: { in: 5, out: 0 } }]);
      expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_EMPTY' }, tell: 'null', attempts: 3 });
    });

    test('the probe spends nothing and is content', async () => {
      expect(await (await make([{ text: 'x' }])).probe()).toMatchObject({ ok: true });
    });

    if (blind) return;

    test('a large prompt (3 MB) and a lone surrogate arrive as UTF-8 (B-099, B-102)', async () => {
      for (const prompt of ['ä→👩'.repeat(330_000), 'lone \ud800 surrogate', '--help', 'a\0b', 'tail\n\n']) {
        const outcome = await run([{ echo: true }], { request: { prompt, schema: { type: 'object' } } });
        if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
        const sha256 = createHash('sha256').update(Buffer.from(prompt)).digest('hex');
        expect(JSON.parse(outcome.output)).toMatchObject({ sha256 });
      }
    });

    if (placeless) return;

    test('it works in the folder of the call', async () => {
      const cwd = realpathSync(tmpdir());
      const outcome = await run([{ echo: true }], { request: { cwd, schema: { type: 'object' } } });
      expect(JSON.parse((outcome as { output: string }).output)).toMatchObject({ cwd });
    });
  });
}

function expectNothingLeft(context: ReturnType<typeof makeContext>): void {
  expect(context.ended).toEqual(context.started);
  expect(context.started.filter((pid) => isProcessAlive(pid))).toEqual([]);
}
