import { describe, expect, test } from 'vitest';
import { createAcpBackend } from '../../src/agents/acp/acp-backend.js';
import { type CallOutcome, executeCall } from '../../src/agents/execute-call.js';
import { createMask, type Mask } from '../../src/agents/mask-secrets.js';
import { isProcessAlive } from '../../src/shared/process-info.js';
import { waitFor } from '../support/wait.js';
import { type Action, removeAcpFiles, type ScriptedAgent, scriptAgent } from './acp-kit.js';
import { makePolicy, makeRequest } from './call-kit.js';

removeAcpFiles();

const SCHEMA = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const once = { retries: 0 };

const messageOf = (outcome: CallOutcome): string => (outcome as { error: { message: string } }).error.message;
const warningsOf = ({ context }: ScriptedAgent): string[] =>
  context.events.flatMap((event) => (event.type === 'warning' ? event.text : []));
const progressOf = ({ context }: ScriptedAgent): string[] =>
  context.events.flatMap((event) => (event.type === 'progress' ? event.text : []));

function expectNothingLeft({ context }: ScriptedAgent): void {
  expect(context.ended).toEqual(context.started);
  expect(context.started.filter((pid) => isProcessAlive(pid))).toEqual([]);
}

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

describe('model, effort, mode', () => {
  const select = (id: string, category: string, values: string[]): object => ({
    ...{ id, category, name: id, type: 'select', currentValue: values[0] },
    options: values.map((value) => ({ value, name: value.toUpperCase() })),
  });

  test('the model by the option of that category, the effort by the level of thought', async () => {
    const configOptions = [select('m', 'model', ['small', 'large']), select('t', 'thought_level', ['low', 'high'])];
    const agent = scriptAgent({ start: { configOptions } });
    expect(await agent.run({ model: 'LARGE', effort: 'high' })).toMatchObject({ kind: 'ok', model: 'LARGE' });
    expect(agent.noted('option')).toEqual([
      { id: 'm', value: 'large' },
      { id: 't', value: 'high' },
    ]);
    expect(warningsOf(agent)).toEqual([]);
  });

  test('the model by the option that the settings name, by the list of models, or by arguments', async () => {
    const named = scriptAgent(
      { start: { configOptions: [select('x', 'other', ['a', 'b'])] } },
      { modelConfigId: 'x', model: 'b' },
    );
    await named.run();
    expect(named.noted('option')).toEqual([{ id: 'x', value: 'b' }]);
    const listed = scriptAgent({
      start: { models: { currentModelId: 'a', availableModels: [{ modelId: 'a' }, { modelId: 'b' }] } },
    });
    await listed.run({ model: 'b' });
    expect(listed.noted('model')).toEqual(['b']);
    const byArgument = scriptAgent({}, { modelArgs: ['--model={model}'] });
    await byArgument.run({ model: '--yolo' });
    expect(byArgument.noted('start')).toMatchObject([{ argv: ['--model=--yolo'] }]);
  });

  test('a model that the agent does not have fails the call before anything is spent', async () => {
    const agent = scriptAgent({ start: { configOptions: [select('m', 'model', ['small', 'large'])] } });
    const outcome = await agent.run({ model: 'opus' });
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_FAILED' }, attempts: 1 });
    expect(messageOf(outcome)).toContain('has no model "opus"; it offers small, large');
    expect(agent.noted('prompt')).toEqual([]);
    expectNothingLeft(agent);
  });

  test('what cannot be set is said, and the call runs', async () => {
    const agent = scriptAgent({});
    expect(await agent.run({ model: 'opus', effort: 'high' })).toMatchObject({ kind: 'ok' });
    expect(warningsOf(agent)).toEqual([
      'scripted does not let its model be chosen; it answers with its own.',
      'scripted does not let its effort be set to high.',
    ]);
  });

  test('the mode of the permission, and a mode that is not there stops the run', async () => {
    const modes = {
      currentModeId: 'auto',
      availableModes: [
        { id: 'auto', name: 'Auto' },
        { id: 'ask', name: 'Ask' },
      ],
    };
    const agent = scriptAgent({ start: { modes } }, { modes: { edit: 'ask' } });
    await agent.run();
    expect(agent.noted('mode')).toEqual(['ask']);
    const wrong = scriptAgent({ start: { modes } }, { modes: { edit: 'careful' } });
    const outcome = await wrong.run();
    expect(outcome).toMatchObject({ kind: 'failed', shared: true, error: { code: 'WF_BACKEND_SETUP' } });
    expect(messageOf(outcome)).toContain('has no session mode "careful"; it offers auto, ask');
  });
});

describe('permission', () => {
  const answersOf = async (
    tool: object,
    request: Parameters<ScriptedAgent['run']>[0],
    options?: string[],
  ): Promise<unknown[]> => {
    const ask = { title: 'it', ...tool, ...(options && { options }) };
    const agent = scriptAgent({ steps: [[{ ask }, { say: 'x' }]] });
    expect(await agent.run(request)).toMatchObject({ kind: 'ok' });
    return agent.noted('permission');
  };

  test.each([
    ['read', 'read', 'allow_once'],
    ['read', 'edit', 'reject_once'],
    ['read', 'execute', 'reject_once'],
    ['edit', 'edit', 'allow_once'],
    ['edit', 'execute', 'reject_once'],
    ['edit', undefined, 'reject_once'],
    ['full', 'execute', 'allow_once'],
    ['full', undefined, 'allow_once'],
  ] as const)('%s: a tool of the kind %s is answered %s', async (permission, kind, answer) => {
    expect(await answersOf({ kind }, { permission })).toEqual([answer]);
  });

  test.each([
    ['only Read', { tools: ['Read'] }, 'edit', 'reject_once'],
    ['only Read, reading', { tools: ['Read', 'Grep'] }, 'search', 'allow_once'],
    ['no tools at all (B-127)', { tools: [] }, 'read', 'reject_once'],
    ['a pattern allows nothing', { tools: ['Bash(git log:*)'] }, 'execute', 'reject_once'],
    ['not Bash', { disallowedTools: ['Bash'] }, 'execute', 'reject_once'],
    ['a pattern forbids its kind', { disallowedTools: ['Bash(rm:*)'] }, 'execute', 'reject_once'],
    ['not Bash, but edits', { disallowedTools: ['Bash'] }, 'edit', 'allow_once'],
  ])('tools of the call: %s', async (_what, rules, kind, answer) => {
    expect(await answersOf({ kind }, { permission: 'full', ...rules })).toEqual([answer]);
  });

  test('a tool by its own name, also when only its first update told its kind', async () => {
    expect(await answersOf({ name: 'mcp__db__query' }, { permission: 'full', tools: ['mcp__db__query'] })).toEqual([
      'allow_once',
    ]);
    const first = { update: 'tool_call', fields: { toolCallId: 't1', title: 'cat x', kind: 'read' } };
    const agent = scriptAgent({ steps: [[first, { ask: { title: 'cat x' } }, { say: 'x' }]] });
    await agent.run({ permission: 'read' });
    expect(agent.noted('permission')).toEqual(['allow_once']);
  });

  test('"always" is chosen only where nothing is held back; without any option to refuse the turn is cancelled', async () => {
    expect(await answersOf({ kind: 'read' }, { permission: 'read' }, ['allow_always', 'reject_once'])).toEqual([
      'reject_once',
    ]);
    expect(await answersOf({ kind: 'read' }, { permission: 'full' }, ['allow_always'])).toEqual(['allow_always']);
    expect(await answersOf({ kind: 'edit' }, { permission: 'read' }, ['allow_once'])).toEqual(['cancelled']);
  });

  test('a refusal is told, and files or terminals of ours are not to be had', async () => {
    const request = { request: 'fs/read_text_file', params: { sessionId: 's1', path: '/etc/hostname' } };
    const agent = scriptAgent({ steps: [[{ ask: { kind: 'edit', title: 'Write x' } }, request, { say: 'x' }]] });
    await agent.run({ permission: 'read' });
    expect(progressOf(agent)).toContain('not allowed: Write x');
    expect(agent.noted('answer')).toEqual([{ code: -32_601 }]);
  });
});

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
