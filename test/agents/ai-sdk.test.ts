/** The real AI SDK against servers on loopback: what it sends, and what each way of failing means. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createAiSdkBackend } from '../../src/agents/ai-sdk/ai-sdk-backend.js';
import type { AiSdkSettings } from '../../src/agents/ai-sdk/ai-sdk-settings.js';
import { type CallOutcome, executeCall } from '../../src/agents/execute-call.js';
import { makeContext, makePolicy, makeRequest } from '../agents-room/call-kit.js';
import { makeProject } from '../support/temp-project.js';
import {
  chatChunk,
  chatUsage,
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

const SCHEMA = {
  type: 'object',
  properties: { verdict: { type: 'string', enum: ['yes', 'no'] }, score: { type: 'integer' } },
  required: ['verdict', 'score'],
  additionalProperties: false,
};
const GOOD = '{"verdict":"yes","score":3}';
const HERE = import.meta.dirname;

interface Changes {
  settings?: AiSdkSettings;
  env?: Record<string, string>;
  request?: Parameters<typeof makeRequest>[0];
  policy?: Parameters<typeof makePolicy>[0];
}

async function callWith(replies: readonly Reply[], changes: Changes = {}) {
  const { url, requests } = await startScriptedServer(replies);
  const context = makeContext();
  const backend = createAiSdkBackend({
    settings: { provider: 'openai-compatible', baseURL: url, model: 'm1', ...changes.settings },
    env: { ANTHROPIC_API_KEY: 'dummy-key-0001', OPENAI_API_KEY: 'dummy-key-0002', ...changes.env },
    folder: HERE,
  });
  const outcome = await executeCall(
    backend,
    makeRequest(changes.request),
    makePolicy({ retries: 0, ...changes.policy }),
    context,
  );
  return { outcome, requests, context };
}

const event = (type: string, value: object): string => `event: ${type}\n${data({ type, ...value })}`;

const anthropicStart = event('message_start', {
  message: {
    ...{ id: 'm', type: 'message', role: 'assistant', model: 'claude', content: [] },
    ...{ stop_reason: null, stop_sequence: null },
    usage: { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 90, cache_creation_input_tokens: 0 },
  },
});
const anthropicText = (text: string): string =>
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
const anthropicEnd = (reason: string): string =>
  event('content_block_stop', { index: 0 }) +
  event('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 7 } }) +
  event('message_stop', {});

const openaiStart = event('response.created', {
  response: { id: 'r', object: 'response', created_at: 1, model: 'gpt-5', status: 'in_progress', output: [] },
});
const openaiItem = { type: 'message', id: 'i', status: 'in_progress', role: 'assistant', content: [] };
const openaiText = (text: string): string =>
  event('response.output_item.added', { output_index: 0, item: openaiItem }) +
  event('response.output_text.delta', { item_id: 'i', output_index: 0, content_index: 0, delta: text }) +
  event('response.output_item.done', {
    output_index: 0,
    item: { ...openaiItem, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] },
  });
const openaiEnd = event('response.completed', {
  response: { usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 90 }, output_tokens: 7 } },
});

const PROVIDERS: Record<string, { settings: AiSdkSettings; reply: (text: string) => Reply; path: string }> = {
  anthropic: {
    settings: { provider: 'anthropic' },
    path: '/v1/messages',
    reply: (text) => replyEvents([anthropicStart, anthropicText(text), anthropicEnd('end_turn')]),
  },
  openai: {
    settings: { provider: 'openai' },
    path: '/v1/responses',
    reply: (text) => replyEvents([openaiStart, openaiText(text), openaiEnd]),
  },
  'openai-compatible': {
    settings: {},
    path: '/v1/chat/completions',
    reply: (text) => replyChat(text, { in: 100, out: 7, cached: 90 }),
  },
};

describe.each(Object.entries(PROVIDERS))('ai-sdk, %s', (name, { settings, reply, path }) => {
  test('text, usage with what came from a cache, model and system prompt', async () => {
    const agent = { prompt: 'You are terse.', tools: [], disallowedTools: undefined } as never;
    const { outcome, requests } = await callWith([reply('hello')], {
      settings,
      request: { agent, model: 'given-model', prompt: 'MARK-17' },
    });
    expect(outcome).toMatchObject({
      kind: 'ok',
      output: '"hello"',
      model: 'given-model',
      usage: { inputTokens: 100, outputTokens: 7, cacheReadTokens: 90 },
    });
    expect(requests[0]?.path).toBe(path);
    const sent = JSON.stringify(requests[0]?.body);
    for (const part of ['You are terse.', 'MARK-17', '"given-model"']) expect(sent).toContain(part);
    const key = requests[0]?.headers['x-api-key'] ?? requests[0]?.headers.authorization;
    expect(key).toBe({ anthropic: 'dummy-key-0001', openai: 'Bearer dummy-key-0002' }[name]);
  });

  test('a schema goes to the server, and a wrong answer is asked for again in the same talk', async () => {
    const { outcome, requests } = await callWith([reply('{"verdict":"maybe","score":1}'), reply(GOOD)], {
      settings,
      request: { schema: SCHEMA, prompt: 'MARK-17' },
    });
    expect(outcome).toMatchObject({ kind: 'ok', output: GOOD, attempts: 2, usage: { outputTokens: 14 } });
    const [first, second] = requests.map(({ body }) => JSON.stringify(body)) as [string, string];
    expect(first).toContain('"enum":["yes","no"]');
    // The whole talk: the prompt, the answer that did not fit, and why.
    for (const part of ['MARK-17', 'maybe', 'does not fit the JSON Schema']) expect(second).toContain(part);
    expect(second).not.toContain('item_reference');
  });

  test('a schema that no server takes stands in the prompt', async () => {
    const schema = { type: 'array', items: { type: 'integer' } };
    const { outcome, requests } = await callWith([reply('[1,2]')], { settings, request: { schema } });
    expect(outcome).toMatchObject({ kind: 'ok', output: '[1,2]' });
    expect(JSON.stringify(requests[0]?.body)).toContain('It must fit this JSON Schema');
  });
});

test('a schema that strict mode refuses is sent without it', async () => {
  const sent = async (schema: object) =>
    (await callWith([replyChat(GOOD)], { request: { schema } })).requests[0]?.body.response_format.json_schema.strict;
  expect(await sent(SCHEMA)).toBe(true);
  expect(await sent({ ...SCHEMA, required: ['verdict'] })).toBe(false);
});

test('a server that refuses response_format is named the way out, and that way works', async () => {
  const refusal = replyJson(400, { error: { message: 'response_format json_schema is not supported' } });
  const { outcome } = await callWith([refusal], { request: { schema: SCHEMA } });
  expect((outcome as { error: { message: string } }).error.message).toContain('"structuredOutput": "prompt"');
  const asked = await callWith([replyChat(GOOD)], {
    request: { schema: SCHEMA },
    settings: { structuredOutput: 'prompt' },
  });
  expect(asked.outcome).toMatchObject({ kind: 'ok', output: GOOD });
  expect(asked.requests[0]?.body.response_format).toBeUndefined();
});

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

describe('ai-sdk: file tools', () => {
  const place = () => {
    const project = makeProject({
      files: {
        'src/a.txt': 'one\ntwo needle\nthree\n',
        'b.txt': 'b',
        '.git/config': 'needle',
        'node_modules/x/y': 'needle',
      },
    });
    writeFileSync(join(project.root, 'outside.txt'), 'secret needle');
    symlinkSync(join(project.root, 'outside.txt'), project.path('link.txt'));
    mkdirSync(project.path('empty'));
    writeFileSync(project.path('binary'), Buffer.from([0, 1, 2]));
    return project;
  };
  const use = async (name: string, input: unknown, request: Changes['request'] = {}) => {
    const replies = [replyToolCall(name, input, { in: 1, out: 1 }), replyChat('done', { in: 10, out: 2 })];
    const { outcome, requests, context } = await callWith(replies, { request: { cwd: place().dir, ...request } });
    return { outcome, requests, context, told: String(requests[1]?.body.messages.at(-1).content) };
  };

  test('list, read from a line on, search', async () => {
    const list = await use('list_files', {});
    expect(list.told).toBe('b.txt\nbinary\nsrc/a.txt');
    expect(list.outcome).toMatchObject({ kind: 'ok', output: '"done"', usage: { inputTokens: 11, outputTokens: 3 } });
    expect(list.context.events.filter(({ type }) => type === 'tool')).toEqual([
      { type: 'tool', name: 'list_files', state: 'start' },
      { type: 'tool', name: 'list_files', state: 'end' },
    ]);
    expect((await use('read_file', { path: 'src/a.txt', fromLine: 2 })).told).toBe('two needle\nthree\n');
    expect((await use('search_files', { text: 'needle' })).told).toBe('src/a.txt:2: two needle');
  });

  test.each([
    ['../outside.txt', 'lies outside'],
    ['/etc/hostname', 'lies outside'],
    ['link.txt', 'lies outside'],
    ['src', 'is no file'],
    ['nothing', 'There is no nothing'],
    ['binary', 'no text file'],
  ])('reading %s is refused, and the model is told why', async (path, words) => {
    const { outcome, told } = await use('read_file', { path });
    expect(told).toContain(words);
    expect(told).not.toContain('secret');
    expect(outcome).toMatchObject({ kind: 'ok', output: '"done"' });
  });

  test.each<[what: string, request: Changes['request'], settings: AiSdkSettings, names: string[] | undefined]>([
    ['all', {}, {}, ['list_files', 'read_file', 'search_files']],
    ['those of the call', { tools: ['Read', 'Bash'] }, {}, ['read_file']],
    ['all but the forbidden', { disallowedTools: ['Grep', 'search_files', 'Glob'] }, {}, ['read_file']],
    ['those of the definition', { agent: { prompt: 'x', tools: ['Grep'] } as never }, {}, ['search_files']],
    ['none, as none is named', { tools: ['Bash(git log:*)'] }, {}, undefined],
    ['none by the settings', {}, { tools: 'none' }, undefined],
  ])('the model gets %s', async (_what, request, settings, names) => {
    const { requests } = await callWith([replyChat('x')], { request: { ...request }, settings });
    const tools = requests[0]?.body.tools as { function: { name: string } }[] | undefined;
    expect(tools?.map((tool) => tool.function.name)).toEqual(names);
  });

  test('a model that never stops using tools is stopped', async () => {
    const { outcome, requests } = await callWith([replyToolCall('list_files', {}, { in: 1, out: 1 })], {
      request: { cwd: place().dir },
      settings: { maxSteps: 3 },
    });
    expect(requests).toHaveLength(3);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_FAILED' }, usage: { outputTokens: 3 } });
  });
});

describe('ai-sdk: set-up', () => {
  const outcomeOf = async (settings: AiSdkSettings, env: Record<string, string>, folder = HERE): Promise<CallOutcome> =>
    await executeCall(createAiSdkBackend({ settings, env, folder }), makeRequest(), makePolicy(), makeContext());

  test.each<[what: string, settings: AiSdkSettings, env: Record<string, string>, code: string, words: string]>([
    ['no provider', { model: 'm' }, {}, 'WF_BACKEND_SETUP', 'no key is set'],
    [
      'two keys',
      { model: 'm' },
      { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b' },
      'WF_BACKEND_SETUP',
      'anthropic and openai',
    ],
    ['no key', { model: 'm', provider: 'openai' }, {}, 'WF_AUTH', 'OPENAI_API_KEY is not set'],
    [
      'no key of that name',
      { model: 'm', provider: 'openai', apiKeyEnv: 'MY_KEY' },
      { OPENAI_API_KEY: 'a' },
      'WF_AUTH',
      'MY_KEY',
    ],
    ['no address', { model: 'm', provider: 'openai-compatible' }, {}, 'WF_BACKEND_SETUP', '11434'],
    ['no model', { provider: 'openai' }, { OPENAI_API_KEY: 'a' }, 'WF_BACKEND_SETUP', '--model'],
    [
      'no variable for a header',
      { model: 'm', baseURL: 'http://127.0.0.1:1', headers: { 'x-a': '${NOPE}' } },
      {},
      'WF_BACKEND_SETUP',
      'NOPE',
    ],
  ])('%s', async (_what, settings, env, code, words) => {
    const outcome = await outcomeOf(settings, env);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code }, shared: true, attempts: 1 });
    expect((outcome as { error: { message: string } }).error.message).toContain(words);
  });

  test('headers from the environment, and an address with a path stays', async () => {
    const { requests } = await callWith([replyChat('x')], {
      settings: { headers: { 'x-team': 'team ${TEAM}' } },
      env: { TEAM: 'seven' },
    });
    expect(requests[0]?.headers['x-team']).toBe('team seven');
    expect(requests[0]?.headers.authorization).toBeUndefined();
    const { url, requests: others } = await startScriptedServer([replyChat('x')]);
    await outcomeOf({ model: 'm', baseURL: `${url}/api/v9/` }, {});
    expect(others[0]?.path).toBe('/api/v9/chat/completions');
  });

  test('without the package: the line that installs it', async () => {
    const project = makeProject({ files: { 'node_modules/ai/package.json': '{"version":"5.0.0","main":"x.js"}' } });
    const options = {
      settings: { provider: 'openai', model: 'm' } as const,
      env: { OPENAI_API_KEY: 'a' },
      folder: project.dir,
    };
    const backend = createAiSdkBackend(options);
    const probed = await backend.probe();
    expect(probed).toMatchObject({ ok: false, fix: expect.stringContaining('npm i ai@7 @ai-sdk/openai@4') });
    expect(await outcomeOf(options.settings, options.env, project.dir)).toMatchObject({
      error: { code: 'WF_BACKEND_MISSING' },
    });
    project.write('node_modules/@ai-sdk/openai/package.json', '{"version":"4.0.0","main":"x.js"}');
    expect(await backend.probe()).toMatchObject({ ok: false, reason: expect.stringContaining('ai 5.0.0') });
  });

  test('the probe names what is installed', async () => {
    const backend = createAiSdkBackend({
      settings: { provider: 'openai' },
      env: { OPENAI_API_KEY: 'a' },
      folder: HERE,
    });
    expect(await backend.probe()).toEqual({
      ok: true,
      version: expect.stringMatching(/^ai 7\.\S+, @ai-sdk\/openai 4\./),
    });
  });
});

test('words of the model are told in pieces while it speaks, its thoughts too', async () => {
  const pieces = Array.from({ length: 5_000 }, () => chatChunk({ content: 'word ' }));
  const { context } = await callWith([
    replyEvents([
      chatChunk({ reasoning_content: 'I wonder.' }),
      ...pieces,
      chatChunk({}, 'stop'),
      chatUsage({ in: 1, out: 1 }),
      DONE,
    ]),
  ]);
  const told = context.events.flatMap((event) => (event.type === 'progress' ? [event.text] : []));
  expect(told.join('')).toBe(`I wonder.${'word '.repeat(5_000)}`);
  expect(told.length).toBeLessThan(100);
});
