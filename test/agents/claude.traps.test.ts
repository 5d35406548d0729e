/** Ways in which Claude Code once gave a false success, an endless wait or an orphan; with the real program. */
import { describe, expect, test } from 'vitest';
import { createMask } from '../../src/agents/mask-secrets.js';
import { isProcessAlive } from '../../src/shared/process-info.js';
import { createClaudeBackend } from '../../src/agents/claude/claude-backend.js';
import type { ClaudeSettings } from '../../src/agents/claude/claude-settings.js';
import { executeCall } from '../../src/agents/execute-call.js';
import { makeContext, makePolicy, makeRequest } from '../agents-room/call-kit.js';
import { waitFor } from '../support/wait.js';
import { needAgent } from './support/agent-under-test.js';
import { CLAUDE, claudeAgent, claudeEnv, KEY, makeClaude } from './support/claude-agent.js';
import { GOOD, openRig, outputOf, SCHEMA, textsOf } from './support/conformance.js';
import type { ModelStep } from './support/model-step.js';

const PROSE = 'It is forty-two, I am sure.';
const WAITING = 'mkfifo pipe; echo $$ > started; cat pipe';

type Work = (rig: Awaited<ReturnType<typeof openRig>>) => Promise<void>;

function trap(name: string, steps: readonly ModelStep[], work: Work): void {
  test(name, async (context) => {
    needAgent(context, claudeAgent);
    await work(await openRig(claudeAgent, steps));
  });
}

describe('claude: traps', () => {
  const prose: ModelStep[] = [{ text: PROSE }, { text: PROSE }, { json: GOOD }];
  trap('1: prose instead of the schema is no success, and is asked for again in the session', prose, async (rig) => {
    expect(outputOf(await rig.run({ schema: SCHEMA }))).toEqual(GOOD);
    expect(rig.context.attempts).toEqual([1, 2]);
    expect(rig.context.retries.map(({ kind }) => kind)).toEqual(['schema']);
    // The session knows what was said before.
    expect(rig.model.requests[2]?.raw).toContain(PROSE);
  });

  trap('2: an agent type that may only read can still give the answer to a schema', [{ json: GOOD }], async (rig) => {
    const agent = {
      ...{ name: 'reader', file: 'reader.md', digest: '0'.repeat(64), description: undefined, prompt: 'Read.' },
      ...{ model: undefined, effort: undefined, tools: ['Read'], disallowedTools: undefined },
    };
    const outcome = await rig.run({ agent, agentType: 'reader', tools: ['Read'], schema: SCHEMA });
    expect(outputOf(outcome)).toEqual(GOOD);
    expect(rig.model.requests[0]?.tools).toContain('StructuredOutput');
    expect(rig.model.requests[0]?.tools).not.toContain('Bash');
  });

  trap('3: an error of the API that calls itself a success is none', [{ status: 404 }], async (rig) => {
    const outcome = await rig.run();
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_FAILED' }, tell: 'null', shared: false });
  });

  trap(
    '4: an end with exit code 0 and no closing message is no result',
    [{ silent: true }, { text: 'new' }],
    async (rig) => {
      const outcome = rig.run();
      await rig.model.waitForRequest(1);
      process.kill(rig.context.started[0] as number, 'SIGINT');
      expect(outputOf(await outcome)).toBe('new');
      expect(rig.context.retries.map(({ kind }) => kind)).toEqual(['protocol']);
    },
  );

  trap('7: what a session had cost before its re-ask is counted once', prose, async (rig) => {
    const outcome = await rig.run({ schema: SCHEMA });
    if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
    expect(outcome.usage).toMatchObject({ inputTokens: 3_000, outputTokens: 150 });
    // By list prices 3 USD a million tokens in, 15 out.
    expect(outcome.usage?.usd).toBeCloseTo(3 * (0.003 + 0.00075), 6);
  });

  test('8: a refused sign-in is asked once more at most, whatever number of retries is set', async (context) => {
    needAgent(context, claudeAgent);
    const rig = await openRig(claudeAgent, [{ status: 401 }]);
    const backend = createClaudeBackend({
      settings: { executable: CLAUDE, maxRetries: 10 },
      folder: rig.project.dir,
      env: claudeEnv(rig),
    });
    const outcome = await executeCall(backend, makeRequest({ cwd: rig.project.dir }), makePolicy(), rig.context);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AUTH' }, shared: true });
    expect(rig.model.requests.length).toBeLessThanOrEqual(2);
  });

  test('9: tools see no variable but those that are allowed, and a key that they print is masked', async (context) => {
    needAgent(context, claudeAgent);
    const rig = await openRig(claudeAgent, [{ shell: 'env' }, { text: `The key is ${KEY}.` }]);
    const secret = 'of-the-engine-alone-0123456789';
    const backend = createClaudeBackend({
      settings: { executable: CLAUDE },
      folder: rig.project.dir,
      env: { ...claudeEnv(rig), DEPLOY_TOKEN: secret },
    });
    const masked = makeContext({ mask: createMask({ ANTHROPIC_API_KEY: KEY }) });
    const request = makeRequest({ cwd: rig.project.dir, permission: 'full' });
    expect(outputOf(await executeCall(backend, request, makePolicy(), masked))).toBe(
      'The key is [secret:ANTHROPIC_API_KEY].',
    );
    const seen = textsOf(rig.model.requests[1]?.body).find((text) => text.includes('WF_CALL_KEY='));
    expect(seen).toContain(`HOME=${rig.project.home}`);
    expect(seen).not.toContain(secret);
    expect(JSON.stringify(masked.events)).not.toContain(KEY);
  });

  test.each([
    ['read', false],
    ['edit', true],
  ] as const)('B-151: with permission %s an agent can write: %s', async (permission, writes) => {
    let file = '';
    const rig = await openRig(claudeAgent, ({ n }) =>
      n === 1 ? { tool: 'Write', input: { file_path: file, content: 'made' } } : { text: 'done' },
    );
    file = rig.project.path('made.txt');
    expect(outputOf(await rig.run({ permission }))).toBe('done');
    expect(readOr(() => rig.project.read('made.txt'))).toBe(writes ? 'made' : '');
  });

  trap('a prompt that begins as a command of Claude Code reaches the model', [{ text: 'asked' }], async (rig) => {
    expect(outputOf(await rig.run({ prompt: '/cost of this project?' }))).toBe('asked');
    expect(textsOf(rig.model.requests[0]?.body).some((text) => text.includes('/cost of this project?'))).toBe(true);
  });

  trap('a killed claude leaves no shell of its tools behind', [{ shell: WAITING }, { text: 'new' }], async (rig) => {
    const outcome = rig.run({ permission: 'full' });
    const shell = await waitFor('the tool', () => /^\d+/.exec(readOr(() => rig.project.read('started')))?.[0]);
    process.kill(rig.context.started[0] as number, 'SIGKILL');
    expect(outputOf(await outcome)).toBe('new');
    expect(isProcessAlive(Number(shell))).toBe(false);
  });

  describe('B-163 hooks of the project', () => {
    const KEPT_GOING = 'HOOK-GO-ON';
    /** The hook of the end sends the agent back to work twice, the one of the start prints; both note what they see. */
    const openHooked = async (steps: readonly ModelStep[], settings: ClaudeSettings = {}) => {
      const rig = await openRig(claudeAgent, steps);
      const stop = `echo "$WF_RUN_ID $WF_CALL_LABEL" >> stops; [ $(wc -l < stops) -gt 2 ] || echo '{"decision":"block","reason":"${KEPT_GOING}"}'`;
      const hook = (command: string) => [{ hooks: [{ type: 'command', command }] }];
      const hooks = { Stop: hook(stop), SessionStart: hook('echo HOOK-START; echo "$WF_RUN_ID" > start') };
      rig.project.write('.claude/settings.json', JSON.stringify({ hooks }));
      const backend = makeClaude(rig, settings);
      const request = { cwd: rig.project.dir, model: claudeAgent.model };
      return {
        ...rig,
        ask: (more: Parameters<typeof makeRequest>[0] = {}) =>
          executeCall(backend, makeRequest({ ...request, ...more }), makePolicy(), rig.context),
      };
    };
    const words: ModelStep[] = [{ text: 'one' }, { text: 'two' }, { text: 'three' }];

    test('run, know whose agent it is, and their words are no answer', async (context) => {
      needAgent(context, claudeAgent);
      const rig = await openHooked(words);
      expect(outputOf(await rig.ask())).toBe('three');
      const { runId, label } = makeRequest();
      expect(rig.project.read('stops')).toBe(`${runId} ${label}\n`.repeat(3));
      expect(rig.project.read('start')).toBe(`${runId}\n`);
      expect(rig.model.requests[1]?.raw).toContain(KEPT_GOING);
    });

    test('leave the answer to a schema as it was given', async (context) => {
      needAgent(context, claudeAgent);
      const rig = await openHooked([{ json: GOOD }]);
      expect(outputOf(await rig.ask({ schema: SCHEMA }))).toEqual(GOOD);
      expect(rig.context.attempts).toEqual([1]);
    });

    test('are left out by settingSources: []', async (context) => {
      needAgent(context, claudeAgent);
      const rig = await openHooked(words, { settingSources: [] });
      expect(outputOf(await rig.ask())).toBe('one');
      expect(rig.model.requests).toHaveLength(1);
      expect(readOr(() => rig.project.read('stops') + rig.project.read('start'))).toBe('');
    });
  });

  const list = { type: 'array', items: { $ref: '#/definitions/n' }, definitions: { n: { type: 'integer' } } };
  trap('a schema whose root is no object is put into one', [{ json: { value: [7] } }], async (rig) => {
    expect(outputOf(await rig.run({ schema: list }))).toEqual([7]);
    expect(rig.model.requests[0]?.tools).toContain('StructuredOutput');
  });

  const odd = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    prefixItems: [{ type: 'integer' }],
    type: 'array',
  };
  trap('a schema that Claude Code does not know is asked for in the prompt', [{ json: [7] }], async (rig) => {
    expect(outputOf(await rig.run({ schema: odd }))).toEqual([7]);
    expect(rig.context.attempts).toEqual([1]);
    expect(textsOf(rig.model.requests.at(-1)?.body).some((text) => text.includes('prefixItems'))).toBe(true);
  });

  const first: ModelStep = { text: PROSE };
  const again: ModelStep[] = [first, first, { json: GOOD }];
  trap('a session that is gone is begun anew with the whole question', again, async (rig) => {
    const gone = '0b0e7a52-0d5c-4a41-9f3e-2f1f4d0f3a11';
    const backend = await claudeAgent.make(rig);
    const lost = {
      ...backend,
      run: ((request, context) =>
        backend.run(request.session ? { ...request, session: gone } : request, context)) as typeof backend.run,
    };
    const request = makeRequest({ cwd: rig.project.dir, schema: SCHEMA, prompt: 'MARK-23?' });
    expect(outputOf(await executeCall(lost, request, makePolicy(), rig.context))).toEqual(GOOD);
    expect(rig.model.requests[2]?.raw).toContain('MARK-23?');
  });
});

function readOr(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
