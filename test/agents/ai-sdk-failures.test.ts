/** The real AI SDK against servers on loopback: what each way of failing means. */
import { describe, expect, test } from 'vitest';
import { createAiSdkBackend } from '../../src/agents/ai-sdk/ai-sdk-backend.js';
import type { AiSdkSettings } from '../../src/agents/ai-sdk/ai-sdk-settings.js';
import { executeCall } from '../../src/agents/execute-call.js';
import { makeContext, makePolicy, makeRequest } from '../agents-room/call-kit.js';
import { makeProject } from '../support/temp-project.js';
import {
  HERE,
  callWith,
  event,
  anthropicStart,
  anthropicText,
  anthropicEnd,
  openaiStart,
  openaiItem,
  openaiEnd,
} from './support/ai-sdk-calls.js';
import {
  chatChunk,
  DONE,
  data,
  neverReply,
  type Reply,
  replyChat,
  replyEvents,
  replyJson,
  replyToolCall,
  startScriptedServer,
} from './support/scripted-server.js';

describe('ai-sdk: failures (B-073 … B-077)', () => {
  const half = chatChunk({ role: 'assistant', content: 'hel' });
  const failed = (code: string, message: string) =>
    event('response.failed', {
      sequence_number: 1,
      response: {
        id: 'r',
        status: 'failed',
        error: { code, message },
        output: [],
        usage: null,
        incomplete_details: null,
      },
    });
  const refusal =
    event('response.output_item.added', { output_index: 0, item: openaiItem }) +
    event('response.refusal.delta', { item_id: 'i', output_index: 0, content_index: 0, delta: 'No.' }) +
    event('response.output_item.done', {
      output_index: 0,
      item: { ...openaiItem, status: 'completed', content: [{ type: 'refusal', refusal: 'No.' }] },
    });

  test.each<[what: string, provider: string, reply: Reply, code: string, words?: string]>([
    ['cut within the answer', 'openai-compatible', replyEvents([half], 'cut'), 'WF_AGENT_UNREACHABLE'],
    ['ended without a finish', 'openai-compatible', replyEvents([half]), 'WF_AGENT_UNREACHABLE'],
    [
      'ended without a finish',
      'anthropic',
      replyEvents([anthropicStart, anthropicText('hel')]),
      'WF_AGENT_UNREACHABLE',
      'interrupted',
    ],
    ['ended without a finish', 'openai', replyEvents([openaiStart]), 'WF_AGENT_UNREACHABLE', 'interrupted'],
    [
      'cut within the answer',
      'anthropic',
      replyEvents([anthropicStart, anthropicText('hel')], 'cut'),
      'WF_AGENT_UNREACHABLE',
    ],
    ['garbage', 'openai-compatible', replyEvents(['data: {not json\n\n']), 'WF_AGENT_UNREACHABLE'],
    ['no events at all', 'openai-compatible', replyEvents([]), 'WF_AGENT_UNREACHABLE'],
    [
      'a page instead of a stream',
      'openai-compatible',
      (response) => response.writeHead(200).end('<html>'),
      'WF_AGENT_UNREACHABLE',
    ],
    [
      'an error as event',
      'openai-compatible',
      replyEvents([data({ error: { message: 'boom', code: 500 } })]),
      'WF_AGENT_UNREACHABLE',
      'boom',
    ],
    [
      'overloaded within the stream',
      'anthropic',
      replyEvents([anthropicStart, event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } })]),
      'WF_AGENT_UNREACHABLE',
      'Overloaded',
    ],
    ['a filter', 'openai-compatible', replyEvents([half, chatChunk({}, 'content_filter'), DONE]), 'WF_AGENT_REFUSED'],
    [
      'a refusal',
      'anthropic',
      replyEvents([anthropicStart, anthropicText('No.'), anthropicEnd('refusal')]),
      'WF_AGENT_REFUSED',
      'No.',
    ],
    ['a refusal', 'openai', replyEvents([openaiStart, refusal, openaiEnd]), 'WF_AGENT_REFUSED', 'No.'],
    [
      'cut off at the token limit',
      'openai-compatible',
      replyEvents([half, chatChunk({}, 'length'), DONE]),
      'WF_AGENT_FAILED',
      'maxOutputTokens',
    ],
    [
      'no quota, status 429',
      'openai',
      replyJson(429, {
        error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'You exceeded your current quota' },
      }),
      'WF_BILLING',
    ],
    [
      'no quota, within the stream',
      'openai',
      replyEvents([openaiStart, failed('insufficient_quota', 'You exceeded your current quota')]),
      'WF_BILLING',
    ],
    [
      'no credit, status 400',
      'anthropic',
      replyJson(400, {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'Your credit balance is too low' },
      }),
      'WF_BILLING',
    ],
    [
      'not allowed, status 403',
      'anthropic',
      replyJson(403, { type: 'error', error: { type: 'permission_error', message: 'no' } }),
      'WF_AUTH',
    ],
    [
      'context too long',
      'openai',
      replyJson(400, { error: { code: 'context_length_exceeded', message: 'Your input exceeds the context window' } }),
      'WF_AGENT_FAILED',
      'context window',
    ],
    [
      'context too long',
      'anthropic',
      replyJson(400, {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
      }),
      'WF_AGENT_FAILED',
      'too long',
    ],
    [
      'no such model',
      'openai-compatible',
      replyJson(404, { error: { message: 'model m1 not found' } }),
      'WF_AGENT_FAILED',
      'model m1 not found',
    ],
    [
      'no tools',
      'openai-compatible',
      replyJson(400, { error: { message: 'm1 does not support tools' } }),
      'WF_AGENT_FAILED',
      '"tools": "none"',
    ],
    [
      'limit for an hour',
      'openai',
      replyJson(429, { error: { message: 'slow down' } }, { 'retry-after': '3600' }),
      'WF_USAGE_LIMIT',
    ],
  ])('%s (%s)', async (_what, provider, reply, code, words = '') => {
    const { outcome, context } = await callWith([reply], { settings: { provider } as AiSdkSettings });
    expect(outcome).toMatchObject({ kind: 'failed', error: { code } });
    expect((outcome as { error: { message: string } }).error.message).toContain(words);
    expect(context.attempts).toEqual([1]);
  });

  test('nobody listens there', async () => {
    const { url } = await startScriptedServer([]);
    const free = `http://127.0.0.1:${new URL(url).port === '9' ? 10 : 1}`;
    const { outcome, context } = await callWith([], { settings: { baseURL: free }, policy: { retries: 2 } });
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_UNREACHABLE' }, attempts: 3 });
    expect(context.retries.map(({ kind }) => kind)).toEqual(['network', 'network']);
  });

  test('a wait asked for in words is kept (B-073)', async () => {
    const limited = replyJson(429, { error: { message: 'Rate limit reached. Please try again in 1m1.5s.' } });
    const { outcome, context } = await callWith([limited, replyChat('ok')], { policy: { retries: 1 } });
    expect(outcome).toMatchObject({ kind: 'ok' });
    expect(context.sleeps).toEqual([61_500]);
  });

  test('the SDK itself tries nothing again', async () => {
    const { requests } = await callWith([replyJson(500, { error: { message: 'x' } })]);
    expect(requests).toHaveLength(1);
  });

  test('cancel in the middle of a stream: at once, with what it had cost', async () => {
    const { url, requests } = await startScriptedServer([
      replyToolCall('list_files', {}, { in: 5, out: 2 }),
      replyEvents([half], 'open'),
    ]);
    const context = makeContext();
    const backend = createAiSdkBackend({ settings: { baseURL: url, model: 'm1' }, env: {}, folder: HERE });
    const usages: unknown[] = [];
    context.onEvent = (event) => {
      if (event.type === 'usage') usages.push(event.usage);
      if (event.type === 'tool' && event.state === 'end') setImmediate(() => context.controller.abort());
    };
    expect(await executeCall(backend, makeRequest({ cwd: makeProject().dir }), makePolicy(), context)).toMatchObject({
      kind: 'cancelled',
      attempts: 1,
    });
    expect(requests.length).toBeLessThanOrEqual(2);
    expect(usages).toContainEqual(expect.objectContaining({ inputTokens: 5, outputTokens: 2 }));
  });

  test('a silent stream stalls although the server has answered (B-084)', async () => {
    const { outcome } = await callWith([replyEvents([half], 'open')], { policy: { idleTimeoutMs: 300 } });
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_STALLED' } });
    expect((await callWith([neverReply], { policy: { idleTimeoutMs: 300 } })).outcome).toMatchObject({
      error: { code: 'WF_AGENT_STALLED' },
    });
  });
});
