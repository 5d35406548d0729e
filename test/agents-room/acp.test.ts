import { describe, expect, test } from 'vitest';
import { createAcpBackend } from '../../src/agents/acp/acp-backend.js';
import { executeCall } from '../../src/agents/execute-call.js';
import { createMask, type Mask } from '../../src/agents/mask-secrets.js';
import { waitFor } from '../support/wait.js';
import { type Action, expectNothingLeft, progressOf, scriptAgent } from './acp-kit.js';
import { makePolicy, makeRequest } from './call-kit.js';

const SCHEMA = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

describe('what an agent is asked', () => {
  test('a closed environment, its own session, no files and no terminal of ours', async () => {
    const agent = scriptAgent({}, { env: ['AGENT_KEY'] });
    expect(await agent.run()).toMatchObject({ kind: 'ok', output: '"hello"', session: 's1' });
    const [start] = agent.noted('start') as [{ env: Record<string, string> }];
    expect(Object.keys(start.env).filter((name) => !/^(PATH|WF_\w+)$/.test(name))).toEqual([]);
    expect(agent.noted('initialize')).toMatchObject([
      { clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false } },
    ]);
    expect(agent.noted('session')).toEqual([{ cwd: process.cwd(), mcpServers: [] }]);
    expectNothingLeft(agent);
  });

  test('the definition in front, the schema behind', async () => {
    const agent = scriptAgent({ steps: [[{ say: '{"n":1}' }]] });
    const definition = { name: 'reviewer', prompt: 'You review.\n', tools: undefined } as never;
    expect(await agent.run({ prompt: 'Look.', agent: definition, schema: SCHEMA })).toMatchObject({ kind: 'ok' });
    const [prompt] = agent.noted('prompt') as [string];
    expect(prompt).toMatch(/^You review\.\n\nLook\.\n\n.*JSON Schema.*\n\{"type":"object"/);
    expect(prompt.endsWith(JSON.stringify(SCHEMA))).toBe(true);
  });

  test('an answer that does not fit is asked about in the same session, by the same process, and then it ends', async () => {
    const agent = scriptAgent({ steps: [[{ say: 'one' }], [{ say: '{"n":"one"}' }], [{ say: '{"n":1}' }]] });
    expect(await agent.run({ schema: SCHEMA })).toMatchObject({ kind: 'ok', output: '{"n":1}', attempts: 3 });
    expect(agent.noted('start')).toHaveLength(1);
    const prompts = agent.noted('prompt') as string[];
    expect(prompts.slice(1).every((prompt) => prompt.startsWith('Your last answer does not fit'))).toBe(true);
    expectNothingLeft(agent);
  });

  test('a session that breaks between two tries: the next agent is asked the whole question', async () => {
    const agent = scriptAgent({ steps: [[{ say: 'one' }], [{ exit: 3 }], [{ say: '{"n":1}' }]] });
    expect(await agent.run({ prompt: 'Count.', schema: SCHEMA })).toMatchObject({ kind: 'ok', attempts: 3 });
    expect(agent.noted('start')).toHaveLength(2);
    const last = (agent.noted('prompt') as string[])[2] as string;
    expect(last).toMatch(/^Count\.[\s\S]*\bone\b[\s\S]*does not fit/);
    expectNothingLeft(agent);
  });

  test('a cancel between the tries leaves no agent behind', async () => {
    const agent = scriptAgent({ steps: [[{ say: 'one' }], [{ hang: true }]] });
    const outcome = agent.run({ schema: SCHEMA });
    await waitFor('the second prompt', () => agent.noted('hangs').length === 1);
    agent.context.controller.abort();
    expect(await outcome).toMatchObject({ kind: 'cancelled' });
    expectNothingLeft(agent);
  });
});

describe('the answer', () => {
  const tool = (fields: object): Action => ({
    update: 'tool_call',
    fields: { toolCallId: 'a', title: 'Read x', ...fields },
  });

  test('is what was said last, after the last tool; the rest is told as it comes', async () => {
    const steps = [
      [
        { think: 'Hm.' },
        { say: 'I will look.' },
        tool({ kind: 'read', status: 'pending' }),
        { update: 'tool_call_update', fields: { toolCallId: 'a', status: 'in_progress' } },
        { update: 'tool_call_update', fields: { toolCallId: 'a', status: 'completed' } },
        { say: 'It is ' },
        { say: '42.' },
      ],
    ];
    const agent = scriptAgent({ steps });
    expect(await agent.run()).toMatchObject({ output: '"It is 42."' });
    const told = agent.context.events.map((event) =>
      'text' in event ? event.text : 'state' in event ? event.state : '',
    );
    expect(told).toEqual(['Hm.I will look.', 'start', 'end', 'It is 42.']);
  });

  test('is the last message where messages have ids, and what was said before a tool when nothing came after it', async () => {
    const twoMessages = [
      [
        { say: 'First.', messageId: 'm1' },
        { say: 'Last', messageId: 'm2' },
        { say: '.', messageId: 'm2' },
      ],
    ];
    expect(await scriptAgent({ steps: twoMessages }).run()).toMatchObject({ output: '"Last."' });
    const toolLast = [[{ say: 'Done.' }, tool({ kind: 'think', status: 'completed' })]];
    expect(await scriptAgent({ steps: toolLast }).run()).toMatchObject({ output: '"Done."' });
  });

  test('a secret that comes in pieces is told in one, also around the events of a tool, and so is masked', async () => {
    const secret = 'sk-half-and-half-0123456789';
    const mask = createMask({ KEY: secret }) as Mask;
    const pieces = [`${'word '.repeat(45)}${secret.slice(0, 9)}`, `${secret.slice(9, 15)}`, `${secret.slice(15)} end`];
    const ends = { update: 'usage_update', fields: { used: 1, size: 9, cost: { amount: 1, currency: 'USD' } } };
    const steps = [[{ say: pieces[0] }, ends, { say: pieces[1] }, ends, { say: pieces[2] }]];
    const agent = scriptAgent({ steps });
    await executeCall(agent.backend, makeRequest(), makePolicy(), Object.assign(agent.context, { mask }));
    expect(progressOf(agent).join(' ')).toMatch(/^(word )+\[secret:KEY\] end\b/);
  });

  test('updates of another session, of unknown kinds and without sense are passed over', async () => {
    const other = {
      sessionId: 'other',
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'no' } },
    };
    const noText = { sessionUpdate: 'tool_call', toolCallId: { toString: 1, valueOf: 1 } };
    const odd = { sessionId: 's1', update: noText };
    const steps = [
      [
        { raw: JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: other }) },
        { raw: JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: odd }) },
        { raw: '{"jsonrpc":"2.0","method":"session/update"}' },
        { raw: '{"jsonrpc":"2.0","method":"_vendor/news","params":{}}' },
        { raw: '{"jsonrpc":"2.0","id":4711,"result":{}}' },
        { raw: '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}' },
        { update: 'newer_than_we_are', fields: { x: 1 } },
        { say: 'yes' },
      ],
    ];
    expect(await scriptAgent({ steps }).run()).toMatchObject({ output: '"yes"' });
  });

  test('tokens are those of the turn, money is what a session has cost on top (trap 7)', async () => {
    const tokens = { inputTokens: 10, outputTokens: 5, cachedReadTokens: 100, cachedWriteTokens: 1, totalTokens: 116 };
    const steps = [
      [{ tokens }, { usd: 0.25 }, { say: 'one' }],
      [{ tokens }, { usd: 0.5 }, { say: '{"n":1}' }],
    ];
    const outcome = await scriptAgent({ steps }).run({ schema: SCHEMA });
    expect(outcome).toMatchObject({
      usage: { inputTokens: 222, outputTokens: 10, cacheReadTokens: 200, usd: 0.75 },
    });
  });

  test.each([
    [
      'gemini',
      { meta: { quota: { token_count: { input_tokens: 7, output_tokens: 3 }, model_usage: [{ model: 'g-1' }] } } },
      { inputTokens: 7, outputTokens: 3 },
    ],
    [
      'codex: the cache is part of the input',
      { tokens: { inputTokens: 90, cachedReadTokens: 80, outputTokens: 10, thoughtTokens: 4, totalTokens: 100 } },
      { inputTokens: 90, outputTokens: 10, cacheReadTokens: 80 },
    ],
    [
      'thoughts apart',
      { tokens: { inputTokens: 90, outputTokens: 10, thoughtTokens: 4, totalTokens: 104 } },
      { inputTokens: 90, outputTokens: 14 },
    ],
  ])('usage as %s tells it', async (_who, action, usage) => {
    expect(await scriptAgent({ steps: [[action, { say: 'x' }]] }).run()).toMatchObject({ usage });
  });
});

describe('the probe', () => {
  test('is a handshake without a session, and names the version', async () => {
    const agent = scriptAgent({});
    expect(await agent.backend.probe()).toEqual({ ok: true, version: 'scripted 1.2.3' });
    expect(agent.notes().map(({ what }) => what)).toEqual(['start', 'initialize']);
  });

  test('without a program the backend is not made', () => {
    expect(() => createAcpBackend({ settings: { command: '' } })).toThrow('names no program');
  });
});

test('calls at once keep their agents apart', async () => {
  const steps = [[{ say: 'one' }], [{ say: '{"n":2}' }]];
  const agent = scriptAgent({ steps });
  const runs = [1, 2, 3].map((n) => agent.run({ ...makeRequest({ n }), schema: SCHEMA }));
  for (const outcome of await Promise.all(runs)) expect(outcome).toMatchObject({ kind: 'ok', attempts: 2 });
  expect(agent.noted('start')).toHaveLength(3);
  expect(new Set(agent.context.ended)).toEqual(new Set(agent.context.started));
});
