/** The scenarios that every backend goes through, with its real program and a fake model. */
import { describe, expect, test } from 'vitest';
import type { AgentDefinition } from '../../../src/agents/agent-definitions.js';
import { type CallOutcome, executeCall } from '../../../src/agents/execute-call.js';
import { isProcessAlive } from '../../../src/shared/process-info.js';
import { makeContext, makePolicy, makeRequest, type NotedContext } from '../../agents-room/call-kit.js';
import { processesMarked } from '../../support/processes.js';
import { makeProject } from '../../support/temp-project.js';
import { waitFor } from '../../support/wait.js';
import { type AgentUnderTest, needAgent, type Place } from './agent-under-test.js';
import { describeThroughCli } from './cli-scenarios.js';
import { startFakeModel } from './fake-model.js';
import { type ModelStep, STEP_USAGE } from './model-step.js';
import { recordResult } from './results.js';
import type { Scenario } from './scenario-names.js';

export const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: { verdict: { type: 'string', enum: ['yes', 'no'] }, score: { type: 'integer' } },
  required: ['verdict', 'score'],
};
export const GOOD = { verdict: 'yes', score: 3 };
/** Tools by which agents ask their model for a structured answer. */
const ANSWER_TOOL = /structured_?output|placeholder|^json$/i;
export const BAD = { verdict: 'maybe', score: 'high' };

type Request = Parameters<typeof makeRequest>[0];
type Policy = Parameters<typeof makePolicy>[0];

export interface Rig extends Place {
  context: NotedContext;
  run(request?: Request, policy?: Policy): Promise<CallOutcome>;
}

/** A place for one call, and the way to execute it there. */
export async function openRig(
  agent: AgentUnderTest,
  steps: Parameters<typeof startFakeModel>[0],
  name?: Scenario,
): Promise<Rig> {
  const project = makeProject();
  const model = await startFakeModel(steps);
  const place = { project, model };
  const backend = await agent.make(place, name);
  if (backend.close) project.onDispose(() => backend.close?.());
  const context = makeContext();
  return {
    ...place,
    context,
    run: (request, policy) =>
      executeCall(
        backend,
        makeRequest({ cwd: project.dir, model: agent.model, ...request }),
        makePolicy(policy),
        context,
      ),
  };
}

export const outputOf = (outcome: CallOutcome): unknown => {
  if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
  return JSON.parse(outcome.output);
};

export function describeAgent(agent: AgentUnderTest): void {
  const scenario = (name: Scenario, steps: readonly ModelStep[], work: (rig: Rig) => Promise<void>): void => {
    test(name, async (context) => {
      needAgent(context, agent);
      const cannot = agent.cannot?.[name];
      recordResult(agent.name, agent.runs, name, cannot);
      if (cannot === undefined) await work(await openRig(agent, steps, name));
    });
  };

  describe(agent.name, () => {
    scenario('text', [{ text: 'hello' }], async ({ run, model }) => {
      const outcome = await run({ prompt: 'Say hello to MARK-17.' });
      expect(outcome).toMatchObject({ kind: 'ok', output: '"hello"', attempts: 1 });
      expect(model.requests).toHaveLength(1);
      expect(model.requests[0]?.raw).toContain('Say hello to MARK-17.');
    });

    scenario('schema: fits', [{ json: GOOD }], async ({ run, context }) => {
      expect(outputOf(await run({ schema: SCHEMA }))).toEqual(GOOD);
      expect(context.attempts).toEqual([1]);
    });

    const twice: ModelStep[] = [{ json: BAD }, { json: BAD }, { json: GOOD }];
    scenario('schema: wrong twice, then right', twice, async ({ run, model }) => {
      const outcome = await run({ schema: SCHEMA });
      expect(outputOf(outcome)).toEqual(GOOD);
      expect(model.requests).toHaveLength(3);
      expect(outcome.kind === 'ok' && outcome.usage?.outputTokens).toBe(3 * STEP_USAGE.out);
    });

    scenario('schema: never right', [{ json: BAD }], async ({ run, model }) => {
      const outcome = await run({ schema: SCHEMA });
      expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_SCHEMA_UNMET' }, tell: 'throw' });
      expect(outcome.kind === 'failed' && outcome.usage?.outputTokens).toBe(model.requests.length * STEP_USAGE.out);
    });

    const tool: ModelStep[] = [{ shell: "printf 'mark-%d' 052" }, { text: 'done' }];
    scenario('tool use', tool, async ({ run, model, context }) => {
      expect(outputOf(await run({ permission: 'full' }))).toBe('done');
      expect(model.requests[1]?.raw).toContain('mark-42');
      const seen = context.events.flatMap((event) => (event.type === 'tool' ? event.state : []));
      if (agent.name !== 'command') expect(seen).toEqual(['start', 'end']);
    });

    scenario('sign-in refused (401)', [{ status: 401 }], async ({ run, context }) => {
      expect(await run()).toMatchObject({ kind: 'failed', error: { code: 'WF_AUTH' }, shared: true });
      expect(context.attempts).toEqual([1]);
    });

    scenario('no credit (402)', [{ status: 402 }], async ({ run, context }) => {
      expect(await run()).toMatchObject({ kind: 'failed', error: { code: 'WF_BILLING' }, shared: true });
      expect(context.attempts).toEqual([1]);
    });

    const limited: ModelStep[] = [{ status: 429, retryAfter: 2 }, { text: 'well' }];
    scenario('rate limit with a time (429)', limited, async ({ run, context, model }) => {
      const started = performance.now();
      expect(outputOf(await run())).toBe('well');
      // Held by the agent itself or by us.
      const held = Math.max(performance.now() - started, ...context.sleeps);
      expect(held).toBeGreaterThanOrEqual(2_000);
      expect(model.requests).toHaveLength(2);
    });

    scenario('rate limit without a time (429)', [{ status: 429 }, { text: 'well' }], async ({ run }) => {
      expect(outputOf(await run())).toBe('well');
    });

    const resetsAt = Math.floor(Date.UTC(2040, 0, 2) / 1_000);
    scenario('usage limit with its end', [{ usageLimit: resetsAt }], async ({ run, context }) => {
      const error = { code: 'WF_USAGE_LIMIT', resetsAt: '2040-01-02T00:00:00Z' };
      expect(await run()).toMatchObject({ kind: 'failed', error, shared: true });
      expect(context.attempts).toEqual([1]);
    });

    scenario('server error, then well (500)', [{ status: 500 }, { text: 'well' }], async ({ run }) => {
      expect(outputOf(await run())).toBe('well');
    });

    scenario('server error that stays (500)', [{ status: 500 }], async ({ run, context }) => {
      expect(await run({}, { retries: 1 })).toMatchObject({
        kind: 'failed',
        error: { code: 'WF_AGENT_UNREACHABLE' },
        tell: 'null',
        shared: false,
      });
      expect(context.retries.map(({ kind }) => kind)).toEqual(['server']);
    });

    scenario('overloaded, then well (529)', [{ status: 529 }, { text: 'well' }], async ({ run }) => {
      expect(outputOf(await run())).toBe('well');
    });

    scenario('stream cut off', [{ cut: true }, { cut: true }, { text: 'whole' }], async ({ run }) => {
      expect(outputOf(await run())).toBe('whole');
    });

    scenario('silent server', [{ silent: true }], async ({ run, context }) => {
      // Long enough for a start on a busy machine: an attempt that never reached the model would prove nothing.
      const outcome = await run({}, { idleTimeoutMs: 6_000, retries: 0 });
      expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_STALLED' }, tell: 'throw' });
      expectEnded(context);
    });

    scenario('cancel while the model thinks', [{ silent: true }], async ({ run, model, context, project }) => {
      const outcome = run();
      await model.waitForRequest(1);
      context.controller.abort();
      expect(await outcome).toMatchObject({ kind: 'cancelled', attempts: 1 });
      expectEnded(context);
      expect(processesMarked([project.root])).toEqual([]);
    });

    // Not `sleep`: some agents refuse to wait so.
    const waiting = 'mkfifo pipe; echo $$ > started; cat pipe';
    const sleeper: ModelStep[] = [{ shell: waiting }, { text: 'too late' }];
    scenario('cancel while a tool runs', sleeper, async ({ run, context, project }) => {
      const outcome = run({ permission: 'full' });
      await waitFor('the tool', () => /^\d+\n/.test(readIfThere(project, 'started')), { timeoutMs: 30_000 });
      context.controller.abort();
      expect(await outcome).toMatchObject({ kind: 'cancelled', attempts: 1 });
      expectEnded(context);
      expect(isProcessAlive(Number(project.read('started')))).toBe(false);
      expect(processesMarked([project.root])).toEqual([]);
    });

    scenario('large prompt (1 MB)', [{ text: 'read' }], async ({ run, model }) => {
      const prompt = `first ${'äb→c '.repeat(130_000)} last`;
      expect(outputOf(await run({ prompt }))).toBe('read');
      expect(textsOf(model.requests[0]?.body).some((text) => text.includes(prompt))).toBe(true);
    });

    const large = 'line of an answer\n'.repeat(60_000);
    scenario('large answer (1 MB)', [{ text: large }], async ({ run }) => {
      expect(String(outputOf(await run())).trimEnd()).toBe(large.trimEnd());
    });

    const all = 'e\u0301 and é, \u2028, 👩‍👩‍👧, "\\n" \\u0041, 日本語';
    const odd = agent.unreadable === undefined ? all : all.replaceAll(agent.unreadable, '');
    scenario('unicode', [{ text: odd }], async ({ run, model }) => {
      expect(outputOf(await run({ prompt: odd }))).toBe(odd);
      expect(textsOf(model.requests[0]?.body).some((text) => text.includes(odd))).toBe(true);
    });

    scenario('working folder', [{ shell: 'pwd' }, { text: 'there' }], async ({ run, model, project }) => {
      const cwd = project.path('deep');
      project.write('deep/.keep', '');
      expect(outputOf(await run({ cwd, permission: 'full' }))).toBe('there');
      expect(textsOf(model.requests[1]?.body).some((text) => text.includes(cwd))).toBe(true);
    });

    scenario('model choice', [{ text: 'ok' }], async ({ run, model }) => {
      await run({ model: agent.model });
      expect(model.requests[0]?.model).toBe(agent.model);
    });

    scenario('agent type with tools', [{ json: GOOD }], async ({ run, model }) => {
      const tools = agent.definitionTools ?? [];
      const definition = { ...DEFINITION, tools };
      const outcome = await run({ agent: definition, agentType: definition.name, tools, schema: SCHEMA });
      expect(outputOf(outcome)).toEqual(GOOD);
      const [first] = model.requests;
      expect(first?.raw).toContain('You are REVIEWER-XYZ.');
      const others = first?.tools.filter((name) => !ANSWER_TOOL.test(name));
      expect(others).toEqual(tools);
    });

    scenario('usage', [{ text: 'ok', usage: { in: 1_234, out: 56 } }], async ({ run }) => {
      expect(await run()).toMatchObject({ kind: 'ok', usage: { inputTokens: 1_234, outputTokens: 56 } });
    });

    scenario('cost', [{ text: 'ok', usage: { in: 1_000_000, out: 0 } }], async ({ run }) => {
      const outcome = await run();
      const usd = outcome.kind === 'ok' ? outcome.usage?.usd : undefined;
      expect(usd).toBeGreaterThan(0);
    });

    describeThroughCli(agent);
  });
}

const DEFINITION: AgentDefinition = {
  name: 'reviewer',
  file: 'reviewer.md',
  digest: '0'.repeat(64),
  description: 'Reviews code',
  prompt: 'You are REVIEWER-XYZ.',
  model: undefined,
  effort: undefined,
  tools: undefined,
  disallowedTools: undefined,
};

function expectEnded(context: NotedContext): void {
  expect(context.ended).toEqual(context.started);
  expect(context.started.filter((pid) => isProcessAlive(pid))).toEqual([]);
}

function readIfThere(project: Place['project'], file: string): string {
  try {
    return project.read(file);
  } catch {
    return '';
  }
}

/** All texts in a request's body, however deep. */
export function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}
