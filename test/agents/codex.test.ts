/** The real Codex program against a fake model: what the scenarios of all backends do not show. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CodexOptions, createCodexBackend } from '../../src/agents/codex/codex-backend.js';
import { executeCall } from '../../src/agents/execute-call.js';
import { makeContext, makePolicy, makeRequest } from '../agents-room/call-kit.js';
import { processesMarked } from '../support/processes.js';
import { makeProject } from '../support/temp-project.js';
import { needAgent } from './support/agent-under-test.js';
import { codexAgent, codexEnv, codexSettings } from './support/codex-agent.js';
import { SCHEMA, textsOf } from './support/conformance.js';
import { startFakeModel } from './support/fake-model.js';
import type { ModelStep } from './support/model-step.js';

async function callWith(
  steps: readonly ModelStep[],
  request: Parameters<typeof makeRequest>[0] = {},
  options: CodexOptions & { url?: string; retries?: number } = {},
) {
  const project = makeProject();
  const model = await startFakeModel(steps);
  const context = makeContext();
  const backend = createCodexBackend({
    settings: codexSettings(options.url ?? model.url, options.retries),
    env: codexEnv({ project }),
    ...options,
  });
  const asked = makeRequest({ cwd: project.dir, model: 'gpt-5', ...request });
  const outcome = await executeCall(backend, asked, makePolicy({ retries: 0 }), context);
  return { outcome, model, project, context, outputs: textsOf(model.requests[1]?.body).join('\n') };
}

test('a definition reaches the model as instructions, beside the prompt and the effort', async (context) => {
  needAgent(context, codexAgent);
  const { outcome, model } = await callWith([{ text: 'ok' }], {
    agent: { prompt: 'You are REVIEWER-XYZ.' } as never,
    effort: 'high',
  });
  expect(outcome).toMatchObject({ kind: 'ok' });
  const raw = model.requests[0]?.raw;
  const input = model.requests[0]?.body.input as { role: string }[];
  expect(JSON.stringify(input.filter(({ role }) => role === 'developer'))).toContain('You are REVIEWER-XYZ.');
  expect(raw).toContain('"effort":"high"');
});

test('a strict schema is asked for by the server, any other by words', async (context) => {
  needAgent(context, codexAgent);
  const good = { verdict: 'yes', score: 3 };
  const strict = await callWith([{ json: good }], { schema: SCHEMA });
  expect(strict.outcome).toMatchObject({ kind: 'ok' });
  expect(strict.model.requests[0]?.body.text).toMatchObject({ format: { type: 'json_schema', schema: SCHEMA } });
  const loose = await callWith([{ json: good }], { schema: { ...SCHEMA, required: [] } });
  expect(loose.outcome).toMatchObject({ kind: 'ok' });
  expect(JSON.stringify(loose.model.requests[0]?.body.text ?? {})).not.toContain('json_schema');
  expect(loose.model.requests[0]?.raw).toContain('Answer with one JSON value alone');
});

describe('permission and keys', () => {
  const WRITE = 'echo a > inside.txt; echo "seen=[$CODEX_API_KEY]"; echo $((40 + 2))';

  test('read: the sandbox refuses to write', async (context) => {
    needAgent(context, codexAgent);
    const { project, outputs } = await callWith([{ shell: WRITE }, { text: 'done' }], { permission: 'read' });
    expect(outputs).toContain('42');
    expect(existsSync(project.path('inside.txt'))).toBe(false);
  });

  test('edit: it may write in its folder; trap 9: its commands do not see the key', async (context) => {
    needAgent(context, codexAgent);
    const { project, outputs } = await callWith([{ shell: WRITE }, { text: 'done' }], { permission: 'edit' });
    expect(project.read('inside.txt')).toBe('a\n');
    expect(outputs).toContain('seen=[]');
  });
});

describe('trap 8: where codex would wait for ever', () => {
  test('no network', async (context) => {
    needAgent(context, codexAgent);
    // Nobody listens at port 1.
    const { outcome, project } = await callWith(
      [{ text: 'x' }],
      {},
      { url: 'http://127.0.0.1:1', networkWaitMs: 1_000 },
    );
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_UNREACHABLE' } });
    expect((outcome as { error: { message: string } }).error.message).toContain('waited for the network');
    expect(processesMarked([project.root])).toEqual([]);
  });

  test('a refused sign-in is not tried again by codex', async (context) => {
    needAgent(context, codexAgent);
    const { outcome, model } = await callWith([{ status: 401 }], {}, { retries: 5 });
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AUTH' }, shared: true });
    expect(model.requests.length).toBeLessThanOrEqual(2);
  });
});

test('found as npm installs it: the program behind the script', async (context) => {
  needAgent(context, codexAgent);
  const bin = join(import.meta.dirname, 'node_modules/.bin');
  const project = makeProject();
  const env = { ...codexEnv({ project }), PATH: `${bin}:${project.env.PATH}` };
  const probed = await createCodexBackend({ env, folder: project.dir }).probe();
  expect(probed).toEqual({
    ok: true,
    version: expect.stringMatching(/^\d+\.\d+\.\d+ \(.*\/vendor\/.*\/bin\/codex\)$/),
  });
});
