/** The real AI SDK against servers on loopback: what it sends, what it answers, and what it needs. */
import { describe, expect, test } from 'vitest';
import { createAiSdkBackend } from '../../src/agents/ai-sdk/ai-sdk-backend.js';
import type { AiSdkSettings } from '../../src/agents/ai-sdk/ai-sdk-settings.js';
import { type CallOutcome, executeCall } from '../../src/agents/execute-call.js';
import { makeContext, makePolicy, makeRequest } from '../agents-room/call-kit.js';
import { makeProject } from '../support/temp-project.js';
import {
  SCHEMA,
  GOOD,
  HERE,
  callWith,
  anthropicStart,
  anthropicText,
  anthropicEnd,
  openaiStart,
  openaiText,
  openaiEnd,
} from './support/ai-sdk-calls.js';
import {
  chatChunk,
  chatUsage,
  DONE,
  type Reply,
  replyChat,
  replyEvents,
  replyJson,
  startScriptedServer,
} from './support/scripted-server.js';

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
