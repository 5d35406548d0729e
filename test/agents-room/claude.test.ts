/** What Claude Code is started with, and what is made of what it says; with a program that speaks like it. */
import { describe, expect, test } from 'vitest';
import type { AgentDefinition } from '../../src/agents/agent-definitions.js';
import { claudeSettings } from '../../src/agents/claude/claude-settings.js';
import { executeCall } from '../../src/agents/execute-call.js';
import { createMask } from '../../src/agents/mask-secrets.js';
import { isProcessAlive } from '../../src/shared/process-info.js';
import { makeContext, makePolicy, makeRequest } from './call-kit.js';
import { scriptedClaude } from './claude-kit.js';

type Request = Parameters<typeof makeRequest>[0];
type Settings = Parameters<typeof scriptedClaude>[1];

async function start(request: Request, settings: Settings = {}, env: NodeJS.ProcessEnv = {}) {
  const { backend, starts } = scriptedClaude([{ text: '{}' }], settings, env);
  const outcome = await executeCall(backend, makeRequest(request), makePolicy(), makeContext());
  const [first] = starts();
  if (!first) throw new Error(JSON.stringify(outcome));
  return first;
}

async function run(steps: readonly object[], request: Request = {}, stayMs?: number) {
  const context = makeContext();
  const { backend } = scriptedClaude(steps, {}, {}, stayMs);
  return { outcome: await executeCall(backend, makeRequest(request), makePolicy({ retries: 0 }), context), context };
}

/** `--name=value` of the arguments. */
const flag = (argv: readonly string[], name: string): string | undefined =>
  argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);

const SECRET = 'of-the-engine-alone-0123456789';
const reader: AgentDefinition = {
  ...{
    name: 'reader',
    file: 'reader.md',
    digest: '0'.repeat(64),
    description: 'Reads',
    prompt: 'You only read: MARK-5.',
  },
  ...{ model: undefined, effort: undefined, tools: ['Read', 'Bash(git log:*)'], disallowedTools: undefined },
};

describe('claude: what it is started with', () => {
  test('prompt and definition go by stdin, never in the arguments', async () => {
    const { argv, prompt, setUp } = await start({
      prompt: 'MARK-7',
      agent: reader,
      agentType: 'reader',
      tools: reader.tools,
    });
    expect(prompt).toBe('MARK-7');
    expect(setUp.agents?.reader?.prompt).toContain('MARK-5');
    expect(flag(argv, 'agent')).toBe('reader');
    expect(argv.join(' ')).not.toMatch(/MARK/);
  });

  test.each([
    ['read', 'dontAsk', 'Read,Grep,Glob,WebFetch,WebSearch'],
    ['edit', 'acceptEdits', undefined],
  ] as const)('B-151: --permission %s is the mode %s', async (permission, mode, tools) => {
    const { argv } = await start({ permission });
    expect(flag(argv, 'permission-mode')).toBe(mode);
    expect(flag(argv, 'tools')).toBe(tools);
    expect(flag(argv, 'allowedTools') ?? '').not.toMatch(/Bash|Edit|Write/);
  });

  test('B-151: full asks nothing, or allows each tool where root may not ask nothing', async () => {
    const isRoot = process.getuid?.() === 0;
    const { argv } = await start({ permission: 'full' });
    expect(flag(argv, 'permission-mode')).toBe(isRoot ? 'dontAsk' : 'bypassPermissions');
    if (isRoot)
      expect(flag(argv, 'allowedTools')?.split(',')).toEqual(expect.arrayContaining(['Bash', 'Edit', 'Write']));
    const sandboxed = await start({ permission: 'full' }, {}, { IS_SANDBOX: '1' });
    expect(flag(sandboxed.argv, 'permission-mode')).toBe('bypassPermissions');
  });

  test('B-151: what call, definition or config name never widens a permission', async () => {
    const { argv, setUp } = await start(
      { permission: 'read', agent: reader, agentType: 'reader', tools: ['Read', 'Bash(git log:*)', 'Write'] },
      { allowedTools: ['Bash', 'Write'] },
    );
    expect(flag(argv, 'tools')).toBe('Read');
    expect(flag(argv, 'allowedTools')).toBe('Read,Grep,Glob,WebFetch,WebSearch');
    expect(setUp.agents?.reader?.tools).toEqual(['Read']);
  });

  test('B-127: a call with a schema can be answered whatever tools are left', async () => {
    for (const tools of [[], ['Read']]) {
      const agent = { ...reader, tools };
      const { setUp } = await start({ agent, agentType: 'reader', tools, schema: { type: 'object' } });
      expect(setUp.jsonSchema).toEqual({ type: 'object' });
      expect(setUp.agents?.reader?.tools).toEqual([...tools, 'StructuredOutput']);
    }
  });

  test('model, effort and what is refused stand in the arguments; the config’s model is the last choice', async () => {
    const given = await start({ model: 'opus', effort: 'high', disallowedTools: ['WebFetch'] }, { model: 'haiku' });
    expect([flag(given.argv, 'model'), flag(given.argv, 'effort')]).toEqual(['opus', 'high']);
    expect(flag(given.argv, 'disallowedTools')).toBe('WebFetch');
    expect(flag((await start({}, { model: 'haiku' })).argv, 'model')).toBe('haiku');
    expect(flag((await start({})).argv, 'model')).toBeUndefined();
  });

  test('settings and MCP servers: all settings, no servers, unless the config says otherwise', async () => {
    const plain = await start({});
    expect(flag(plain.argv, 'setting-sources')).toBe('user,project,local');
    expect(plain.argv).toContain('--strict-mcp-config');
    const set = await start({}, { settingSources: [], mcp: true, mcpConfig: ['mcp.json'] });
    expect(flag(set.argv, 'setting-sources')).toBe('');
    expect(set.argv).not.toContain('--strict-mcp-config');
    expect(set.argv[set.argv.indexOf('--mcp-config') + 1]).toMatch(/^\/.*\/mcp\.json$/);
  });

  test('it sees its own variables and no others, and not those of a session that wf runs in', async () => {
    const { env } = await start(
      {},
      { env: ['MY_TOOL_HOME'], scrubEnv: true, maxRetries: 1 },
      {
        ...{
          ANTHROPIC_API_KEY: 'k',
          CLAUDE_CONFIG_DIR: '/c',
          MY_TOOL_HOME: '/t',
          AWS_PROFILE: 'p',
          DEPLOY_TOKEN: SECRET,
        },
        ...{ CLAUDECODE: '1', CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_CODE_SSE_PORT: '1' },
      },
    );
    expect(env).toMatchObject({
      ...{ ANTHROPIC_API_KEY: 'k', CLAUDE_CONFIG_DIR: '/c', MY_TOOL_HOME: '/t', CLAUDE_CODE_MAX_RETRIES: '1' },
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', CLAUDE_CODE_SUBPROCESS_ENV_SCRUB: '1' },
    });
    for (const name of [
      'DEPLOY_TOKEN',
      'AWS_PROFILE',
      'CLAUDECODE',
      'CLAUDE_CODE_ENTRYPOINT',
      'CLAUDE_CODE_SSE_PORT',
    ]) {
      expect(env).not.toHaveProperty(name);
    }
  });

  test('a re-ask goes on in the session, and is B-077 a process of its own', async () => {
    const schema = { type: 'object', required: ['a'] };
    const { backend, starts } = scriptedClaude([
      { text: 'no', session: 's-1' },
      { text: '{"a":1}', session: 's-1' },
    ]);
    const outcome = await executeCall(backend, makeRequest({ schema }), makePolicy(), makeContext());
    expect(outcome).toMatchObject({ kind: 'ok', output: '{"a":1}', session: 's-1', attempts: 2 });
    expect(starts().map(({ argv }) => flag(argv, 'resume'))).toEqual([undefined, 's-1']);
    expect(starts()[1]?.prompt).toMatch(/does not fit/);
  });

  test('the config refuses what it does not know', () => {
    expect(claudeSettings.safeParse({ model: 'haiku', settingSources: ['user'] }).success).toBe(true);
    for (const wrong of [{ modell: 'x' }, { settingSources: ['all'] }, { env: ['A=b'] }, { maxRetries: -1 }]) {
      expect(claudeSettings.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false);
    }
  });
});

describe('claude: what is made of its words', () => {
  test('B-073: a rate limit of a schema call is a rate limit, not an answer that does not fit', async () => {
    const { outcome } = await run([{ error: 'rate_limit' }], { schema: { type: 'object' } });
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_UNREACHABLE' }, attempts: 1 });
  });

  test.each([
    ['with its end', { status: 'rejected', resetsAt: 2_209_075_200 }, '2040-01-02T00:00:00Z'],
    ['without its end', { status: 'rejected' }, null],
  ])('B-072, B-076, B-078: a usage limit %s stops the run after one attempt', async (_how, info, resetsAt) => {
    const before = [{ type: 'rate_limit_event', rate_limit_info: info }];
    const { outcome } = await run([{ error: 'rate_limit', before }]);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_USAGE_LIMIT' }, shared: true, attempts: 1 });
    expect((outcome as { error: { resetsAt?: string | null } }).error.resetsAt).toBe(resetsAt);
  });

  test('a warning of a limit that still lets requests through stops nothing', async () => {
    const before = [
      { type: 'rate_limit_event', rate_limit_info: { status: 'allowed_warning', resetsAt: 2_209_075_200 } },
    ];
    expect((await run([{ text: 'well', before }])).outcome).toMatchObject({ kind: 'ok', output: '"well"' });
  });

  test('B-126: refused answers are told with their words', async () => {
    const use = { type: 'tool_use', id: 'a', name: 'StructuredOutput', input: { verdict: 'MARK-9' } };
    const before = [
      { type: 'assistant', message: { model: 'm', content: [use] } },
      {
        type: 'user',
        message: { content: [{ type: 'tool_result', tool_use_id: 'a', is_error: true, content: 'no' }] },
      },
    ];
    const result = {
      subtype: 'error_max_structured_output_retries',
      is_error: true,
      result: undefined,
      errors: ['5 tries'],
    };
    const { outcome, context } = await run([{ text: '', before, result }], { schema: { type: 'object' } });
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_SCHEMA_UNMET' }, tell: 'throw' });
    expect(JSON.stringify(context.events)).toContain('MARK-9');
  });

  test('a secret at the edge of what is told of it is masked whole, in progress, failure and last words', async () => {
    const mask = createMask({ KEY: SECRET });
    const failureOf = async (step: object) => {
      const context = makeContext(mask && { mask });
      const { backend } = scriptedClaude([step]);
      const outcome = await executeCall(backend, makeRequest(), makePolicy({ retries: 0 }), context);
      return JSON.stringify([outcome, context.events]);
    };
    const content = [{ type: 'text', text: `${'x'.repeat(3_990)}${SECRET}` }];
    const said = { before: [{ type: 'assistant', message: { model: 'm', content } }], error: 'billing' };
    const told = await failureOf({ ...said, message: `${'y'.repeat(1_990)}${SECRET}` });
    expect(told).toContain('x[secret:KEY]');
    expect(told).toContain('y[secret:KEY]');
    const silent = await failureOf({ exit: 1, stderr: `${'z '.repeat(500)}${SECRET} ${'e '.repeat(990)}` });
    expect(told + silent).not.toContain(SECRET.slice(0, 9));
    expect(silent).not.toContain(SECRET.slice(-9));
    expect(silent).toContain('e e e');
  });

  test('a refusal to start is a fault of the set-up, and says why', async () => {
    const { outcome } = await run([{ exit: 1, stderr: "error: unknown option '--effort'", mute: true }]);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_BACKEND_SETUP' }, shared: true });
    expect((outcome as { error: { message: string } }).error.message).toContain('unknown option');
  });

  test('an end in the middle is no answer', async () => {
    const { outcome } = await run([{ exit: 0 }]);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_UNREACHABLE' }, shared: false });
  });

  test('messages that it has never heard of change nothing', async () => {
    const before = [{ type: 'system', subtype: 'ui_invalidate' }, { type: 'news' }, 7, null, [], { type: 'assistant' }];
    expect((await run([{ text: 'well', before }])).outcome).toMatchObject({ kind: 'ok', output: '"well"' });
  });

  test('messages of another shape than is known end neither the call nor the engine', async () => {
    const before = [
      { type: 'assistant', message: { model: 'm', content: [null, 7, { type: 'text', text: { a: 1 } }] } },
      { type: 'user', message: { content: [null] } },
      { type: 'system', subtype: 'init', tools: 7 },
    ];
    expect((await run([{ text: 'well', before }])).outcome).toMatchObject({ kind: 'ok', output: '"well"' });
  });

  test('an answer counts although claude does not exit after it, and is not asked for again', async () => {
    const { outcome, context } = await run([{ text: 'done', stays: true }], {}, 200);
    expect(outcome).toMatchObject({ kind: 'ok', output: '"done"', attempts: 1 });
    expect(JSON.stringify(context.events)).toContain('did not exit within 200 ms');
    expect(context.started.filter((pid) => isProcessAlive(pid))).toEqual([]);
  });

  test('a failure counts as well', async () => {
    const { outcome, context } = await run([{ error: 'billing', stays: true }], {}, 200);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_BILLING' } });
    expect(context.started.filter((pid) => isProcessAlive(pid))).toEqual([]);
  });

  test('B-094: while something runs beside the turn, its later result is waited for', async () => {
    const task = { type: 'system', task_id: 't1' };
    const last = { type: 'result', subtype: 'success', is_error: false, result: 'done' };
    const messages = [{ ...task, subtype: 'task_notification', status: 'completed' }, last];
    const step = { text: 'I will wait', before: [{ ...task, subtype: 'task_started' }], later: { ms: 600, messages } };
    const { outcome } = await run([{ ...step, stays: true }], {}, 50);
    expect(outcome).toMatchObject({ kind: 'ok', output: '"done"', attempts: 1 });
  });

  test('the probe tells version and sign-in, and what is missing', async () => {
    const { backend } = scriptedClaude([]);
    expect(await backend.probe()).toMatchObject({
      ok: true,
      version: expect.stringMatching(/^9\.9\.9 .*signed in by/),
    });
    const none = scriptedClaude([], { executable: '/no/such/claude' }).backend;
    expect(await none.probe()).toMatchObject({ ok: false, fix: expect.stringContaining('npm install -g') });
    const outcome = await executeCall(none, makeRequest(), makePolicy(), makeContext());
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_BACKEND_MISSING' }, shared: true });
  });
});
