/** The `codex` backend with a scripted program: what it is started with, what its lines mean, and where it would wait for ever. */
import { describe, expect, test } from 'vitest';
import { classifyMessage } from '../../src/agents/codex/classify-message.js';
import { type CodexOptions, createCodexBackend } from '../../src/agents/codex/codex-backend.js';
import { readToldTime } from '../../src/agents/codex/told-time.js';
import { executeCall } from '../../src/agents/execute-call.js';
import { createMask } from '../../src/agents/mask-secrets.js';
import { isStrictSchema } from '../../src/agents/native-schema.js';
import { isProcessAlive } from '../../src/shared/process-info.js';
import { makeContext, makePolicy, makeRequest } from './call-kit.js';
import { type CodexStart, scriptedCodex } from './codex-kit.js';

const STRICT = {
  type: 'object',
  properties: { verdict: { enum: ['yes', 'no'] } },
  required: ['verdict'],
  additionalProperties: false,
};
const LOOSE = { type: 'object', properties: { verdict: { enum: ['yes', 'no'] } } };
const GOOD = '{"verdict":"yes"}';

async function callWith(
  steps: readonly object[],
  request: Parameters<typeof makeRequest>[0] = {},
  options: CodexOptions = {},
  policy: Parameters<typeof makePolicy>[0] = { retries: 0 },
) {
  const { backend, starts } = scriptedCodex(steps, options);
  const context = makeContext();
  const outcome = await executeCall(backend, makeRequest(request), makePolicy(policy), context);
  return { outcome, starts: starts(), start: starts()[0] as CodexStart, context };
}

/** Values of `-c name=value`, the last one of a name. */
const configOf = ({ argv }: CodexStart): Record<string, string> =>
  Object.fromEntries(
    argv.flatMap((word, i) => {
      if (argv[i - 1] !== '-c') return [];
      const at = word.indexOf('=');
      return [[word.slice(0, at), word.slice(at + 1)]];
    }),
  );

describe('what codex is started with', () => {
  test('the prompt on stdin and never among the arguments, the sandbox by the permission, nobody to ask', async () => {
    for (const [permission, mode] of [
      ['read', 'read-only'],
      ['edit', 'workspace-write'],
      ['full', 'danger-full-access'],
    ] as const) {
      const { start } = await callWith([{ text: 'x' }], { prompt: '--help MARK-17', permission });
      expect(start.prompt).toBe('--help MARK-17');
      expect(start.argv.join(' ')).not.toContain('MARK-17');
      expect(start.argv.slice(0, 3)).toEqual(['exec', '--json', '--skip-git-repo-check']);
      expect(configOf(start)).toMatchObject({ sandbox_mode: `"${mode}"`, approval_policy: '"never"' });
    }
  });

  test('model, effort and settings of codex itself; none of them widens the permission', async () => {
    const settings = {
      ...{ model: 'set-model', effort: 'low' },
      config: { sandbox_mode: 'danger-full-access', 'features.x': false, a: { 'b c': ['"d"', 1] } },
    };
    const { start, outcome } = await callWith([{ text: 'x' }], { permission: 'read' }, { settings });
    expect(start.argv).toContain('--model=set-model');
    expect(outcome).toMatchObject({ model: 'set-model' });
    expect(configOf(start)).toMatchObject({
      model_reasoning_effort: '"low"',
      sandbox_mode: '"read-only"',
      'features.x': 'false',
      a: '{"b c" = ["\\"d\\"", 1]}',
    });
    const { start: named } = await callWith([{ text: 'x' }], { model: 'given', effort: 'high' }, { settings });
    expect(named.argv).toContain('--model=given');
    expect(configOf(named).model_reasoning_effort).toBe('"high"');
  });

  test('the text of an agent definition as developer instructions, a very long one before the prompt', async () => {
    const agent = (prompt: string) => ({ agent: { prompt } as never, prompt: 'DO IT' });
    const { start } = await callWith([{ text: 'x' }], agent('You are "X".\nBe brief.\n'));
    expect(configOf(start).developer_instructions).toBe('"You are \\"X\\".\\nBe brief."');
    const long = await callWith([{ text: 'x' }], agent(`LONG ${'y'.repeat(200_000)}`));
    expect(configOf(long.start).developer_instructions).toBeUndefined();
    expect(long.start.prompt).toMatch(/^LONG y+\n\nDO IT$/);
  });

  test('a schema that strict mode takes as a file, any other in the prompt; neither file stays', async () => {
    const strict = await callWith([{ text: GOOD }], { schema: STRICT });
    expect(strict.start.schema).toEqual(STRICT);
    expect(strict.start.prompt).toBe('Say hello.');
    const loose = await callWith([{ text: GOOD }], { schema: LOOSE });
    expect(loose.start.schema).toBeUndefined();
    expect(loose.start.prompt).toContain(JSON.stringify(LOOSE));
    for (const { outcome } of [strict, loose]) expect(outcome).toMatchObject({ kind: 'ok', output: GOOD });
  });

  test('trap 9: a closed environment, and the keys in it are taken from the commands of the agent', async () => {
    const { start } = await callWith(
      [{ text: 'x' }],
      {},
      {
        settings: { apiKeyEnv: 'MY_KEY', env: ['GH_TOKEN'] },
        env: { CODEX_API_KEY: 'k1', MY_KEY: 'k2', GH_TOKEN: 'k3', AWS_SECRET_ACCESS_KEY: 'k4', CODEX_HOME: '/nowhere' },
      },
    );
    expect(start.env).toMatchObject({ CODEX_API_KEY: 'k1', MY_KEY: 'k2', GH_TOKEN: 'k3', CODEX_HOME: '/nowhere' });
    expect(start.env.AWS_SECRET_ACCESS_KEY).toBeUndefined();
    const config = configOf(start);
    expect(config['shell_environment_policy.set.CODEX_API_KEY']).toBe('""');
    expect(config['shell_environment_policy.set.MY_KEY']).toBe('""');
    expect(config['shell_environment_policy.set.GH_TOKEN']).toBeUndefined();
    expect(JSON.stringify(start.argv)).not.toMatch(/k[1-4]/);
  });
});

describe('what its answers mean', () => {
  test('trap 5: prose and a broken schema end with exit code 0; it is asked again in its thread', async () => {
    const { outcome, starts } = await callWith(
      [{ text: 'All good!' }, { text: '{"verdict":"maybe"}' }, { text: GOOD }],
      {
        schema: STRICT,
      },
    );
    expect(outcome).toMatchObject({ kind: 'ok', output: GOOD, attempts: 3 });
    const [first, second, third] = starts as [CodexStart, CodexStart, CodexStart];
    expect(first.argv[1]).toBe('--json');
    expect(second.argv.slice(0, 3)).toEqual(['exec', 'resume', (outcome as { session: string }).session]);
    expect(third.argv.slice(1, 3)).toEqual(second.argv.slice(1, 3));
    expect(second.prompt).toContain('does not fit the JSON Schema');
    // What the first turn was started with holds for the others too.
    expect(configOf(third)).toEqual(configOf(first));
    expect(third.schema).toEqual(STRICT);
  });

  test('trap 7: a thread counts what it has cost in all; each attempt is charged its own part', async () => {
    const usage = { in: 1_000, out: 50, cached: 400 };
    const { outcome } = await callWith(
      [
        { text: 'no', usage },
        { text: 'no', usage },
        { text: GOOD, usage },
      ],
      {
        schema: STRICT,
      },
    );
    expect(outcome).toMatchObject({
      kind: 'ok',
      usage: { inputTokens: 3_000, outputTokens: 150, cacheReadTokens: 1_200 },
    });
  });

  test('tools, changes, thoughts and warnings are told; the last message is the answer', async () => {
    const item = (id: string, type: string, more: object, state = 'completed') => ({
      type: `item.${state}`,
      item: { id, type, ...more },
    });
    const { outcome, context } = await callWith([
      {
        text: 'the answer',
        lines: [
          item('1', 'reasoning', { text: 'Hm.' }),
          item('2', 'agent_message', { text: 'I look around.' }),
          item('3', 'command_execution', { command: 'ls' }, 'started'),
          item('3', 'command_execution', { command: 'ls', exit_code: 0 }),
          item('4', 'mcp_tool_call', { server: 'docs', tool: 'find' }),
          item('5', 'file_change', { changes: [{ path: 'a.txt', kind: 'add' }] }),
          item('6', 'of_the_future', {}),
          { type: 'of.the.future' },
          'no JSON at all',
          'null',
        ],
      },
    ]);
    expect(outcome).toMatchObject({ kind: 'ok', output: '"the answer"' });
    expect(
      context.events.map((event) =>
        event.type === 'tool' ? `${event.name} ${event.state}` : 'text' in event && event.text,
      ),
    ).toEqual([
      'Model metadata not found.',
      'Hm.',
      'I look around.',
      'command start',
      'command end',
      'docs.find start',
      'docs.find end',
      'add a.txt',
      'the answer',
    ]);
  });

  test('a secret at the edge of what is told of a failure is masked whole', async () => {
    const secret = 'sk-half-and-half-0123456789';
    const mask = createMask({ KEY: secret });
    const { backend } = scriptedCodex([{ fail: `${'y'.repeat(1_990)}${secret}` }]);
    const policy = makePolicy({ retries: 0 });
    const outcome = await executeCall(backend, makeRequest(), policy, makeContext(mask && { mask }));
    expect(outcome).toMatchObject({ error: { message: expect.stringMatching(/y\[secret:KEY\]/) } });
  });

  test('a line of another shape than is known ends neither the call nor the engine', async () => {
    const lines = [
      { type: 'error', message: { code: 'x' } },
      { type: 'item.completed', item: { type: 'agent_message', text: 7 } },
      { type: 'item.completed', item: { type: 'file_change', changes: null } },
      { type: 'item.completed', item: { type: 'reasoning', text: ['a'] } },
      ...[7, [], true, { type: 'turn.failed', error: { message: [1] } }],
    ];
    const { outcome, context } = await callWith([{ text: 'well', lines }]);
    expect(outcome).toMatchObject({ kind: 'ok', output: '"well"' });
    expect(context.events).toContainEqual({ type: 'progress', text: '{"code":"x"}' });
  });

  test.each<[what: string, step: object, code: string, words: string]>([
    ['exit code 0 without the end of the turn', { exit: 0 }, 'WF_AGENT_UNREACHABLE', 'before the end of its turn'],
    ['ended by a signal', { signal: 'SIGKILL' }, 'WF_AGENT_UNREACHABLE', 'SIGKILL'],
    [
      'a set-up that it does not take',
      { exit: 1, stderr: 'WARNING: x\nError loading config.toml: unknown variant `bad`' },
      'WF_BACKEND_SETUP',
      'unknown variant',
    ],
    [
      'a thread that is gone',
      { exit: 1, stderr: 'Error: thread/resume failed: no rollout found' },
      'WF_AGENT_FAILED',
      'no rollout found',
    ],
    [
      'usage limit',
      { fail: 'You’ve hit your usage limit. … try again at Jan 2nd, 2040 12:00 AM.' },
      'WF_USAGE_LIMIT',
      'usage limit',
    ],
    ['quota', { fail: 'Quota exceeded. Check your plan and billing details.' }, 'WF_BILLING', 'Quota exceeded'],
    ['no room', { fail: "Codex ran out of room in the model's context window." }, 'WF_AGENT_FAILED', 'ran out of room'],
    ['no model', { fail: 'The model gpt-5 does not exist' }, 'WF_AGENT_FAILED', 'gpt-5'],
    [
      'cut',
      { fail: 'stream disconnected before completion: stream closed before response.completed' },
      'WF_AGENT_UNREACHABLE',
      'stream closed',
    ],
    ['no key', { fail: 'Missing environment variable: `X`' }, 'WF_AUTH', 'codex login'],
  ])('%s', async (_what, step, code, words) => {
    const { outcome, context } = await callWith([step], {}, { env: { TZ: 'UTC' } });
    expect(outcome, JSON.stringify(outcome)).toMatchObject({ kind: 'failed', error: { code }, attempts: 1 });
    const { error } = outcome as { error: { message: string; resetsAt?: string } };
    expect(error.message).toContain(words);
    if (code === 'WF_USAGE_LIMIT') expect(error.resetsAt).toMatch(/^2040-01-02T00:00:00(\.000)?Z$/);
    expect(context.ended).toEqual(context.started);
  });

  test.each([
    ['unexpected status 403 Forbidden: Country not supported', 'auth'],
    ['Reconnecting... 1/1 (unexpected status 401 Unauthorized)', 'auth'],
    ['exceeded retry limit, last status: 429 Too Many Requests', 'rate_limit'],
    ['unexpected status 402 Payment Required', 'billing'],
    ['unexpected status 500 Internal Server Error', 'server'],
    ['unexpected status 503 Service Unavailable', 'overloaded'],
    ['unexpected status 400 Bad Request: rate limit of nothing', 'invalid_request'],
    ['tests/network.ts: 3 of 4 failed', 'failed'],
    ['something else', 'failed'],
  ])('%s: %s', (message, kind) => {
    expect(classifyMessage(message, {}).kind).toBe(kind);
  });
});

describe('trap 8: where codex would wait for ever', () => {
  test('no network: it is ended when it has waited long enough, also when it says so again and again', async () => {
    const waiting = { type: 'error', message: 'Reconnecting... waiting for network (Connection failed)' };
    const { outcome, context } = await callWith(
      [{ lines: [waiting, waiting], hang: true }],
      {},
      { networkWaitMs: 300 },
    );
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_UNREACHABLE' }, attempts: 1 });
    expect((outcome as { error: { message: string } }).error.message).toContain('waited for the network for 300 ms');
    expect(context.started.filter((pid) => isProcessAlive(pid))).toEqual([]);
  });

  test('a network that comes back is not held against it', async () => {
    const lines = [
      { type: 'error', message: 'Reconnecting... waiting for network' },
      { type: 'item.completed', item: { id: '1', type: 'reasoning', text: 'on again' } },
    ];
    const { outcome } = await callWith(
      [{ lines, hang: true }],
      {},
      { networkWaitMs: 300 },
      { idleTimeoutMs: 900, retries: 0 },
    );
    expect(outcome).toMatchObject({ error: { code: 'WF_AGENT_STALLED' } });
  });

  test('a refused sign-in is not tried again by codex itself', async () => {
    const refused = { type: 'error', message: 'Reconnecting... 1/5 (unexpected status 401 Unauthorized)' };
    const { outcome, context } = await callWith([{ lines: [refused], hang: true }]);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AUTH' }, shared: true, attempts: 1 });
    expect(context.started.filter((pid) => isProcessAlive(pid))).toEqual([]);
  });

  test('an answer counts although codex does not exit after it, and is not asked for again', async () => {
    const { outcome, starts, context } = await callWith([{ text: 'done', stays: true }], {}, { stayMs: 200 });
    expect(outcome).toMatchObject({ kind: 'ok', output: '"done"', attempts: 1 });
    expect(starts).toHaveLength(1);
    expect(JSON.stringify(context.events)).toContain('did not exit within 200 ms');
    expect(context.started.filter((pid) => isProcessAlive(pid))).toEqual([]);
  });

  test('a failure counts as well', async () => {
    const { outcome, context } = await callWith([{ fail: 'something else', stays: true }], {}, { stayMs: 200 });
    expect(outcome).toMatchObject({ error: { code: 'WF_AGENT_FAILED', message: expect.stringContaining('else') } });
    expect(context.started.filter((pid) => isProcessAlive(pid))).toEqual([]);
  });

  test('a limit without a sign of life holds without being set', () => {
    // Codex sleeps ten minutes without a word when a server asks it to.
    const { idleTimeoutMs } = createCodexBackend({ env: {} }).capabilities;
    expect(idleTimeoutMs).toBeGreaterThan(300_000);
    expect(idleTimeoutMs).toBeLessThan(600_000);
  });
});

test.each([
  ['try again at 10:51 PM.', 'UTC', '2026-11-30T22:51:00.000Z'],
  ['try again at 8:05 AM.', 'UTC', '2026-12-01T08:05:00.000Z'],
  ['try again at 12:30 AM.', 'Asia/Tokyo', '2026-11-30T15:30:00.000Z'],
  ['try again at Dec 3rd, 2026 9:00 AM.', 'America/New_York', '2026-12-03T14:00:00.000Z'],
  ['try again later', 'UTC', undefined],
])('the end of a usage limit: %s (%s)', (message, zone, time) => {
  expect(readToldTime(message, Date.UTC(2026, 10, 30, 12), zone)).toBe(time);
});

test.each<[schema: object, strict: boolean]>([
  [STRICT, true],
  [LOOSE, false],
  [{ type: 'array', items: { type: 'string' } }, false],
  [{ ...STRICT, anyOf: [STRICT] }, false],
  [{ ...STRICT, properties: { verdict: { type: 'array', items: LOOSE } } }, false],
  [{ ...STRICT, properties: { verdict: { type: 'array', items: STRICT } } }, true],
  [{ ...STRICT, properties: { verdict: { anyOf: [{ type: 'null' }, STRICT] } } }, true],
  [{ ...STRICT, properties: { verdict: {} } }, false],
  [{ ...STRICT, properties: { verdict: { $ref: '#/$defs/v' } }, $defs: { v: STRICT } }, true],
  [{ ...STRICT, properties: { verdict: { $ref: '#/$defs/v' } }, $defs: { v: LOOSE } }, false],
  [{ ...STRICT, properties: { verdict: { type: 'string', not: { const: 'x' } } } }, false],
])('strict mode takes %j: %s', (schema, strict) => {
  expect(isStrictSchema(schema)).toBe(strict);
});
