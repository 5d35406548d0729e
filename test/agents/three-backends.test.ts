/** A run of 24 calls over three backends, killed in its middle and gone on with. */
import { readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { type JournalLine, journalFile, readJournal, waitForJournalLines } from '../support/journal.js';
import { expectNoProcessesLeft } from '../support/processes.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { needAgent } from './support/agent-under-test.js';
import { CLAUDE, claudeAgent, claudeEnv } from './support/claude-agent.js';
import { startFakeModel } from './support/fake-model.js';
import type { ModelRequest, ModelStep } from './support/model-step.js';

const CALLS = 24;
const KILLED_AFTER = 12;
const AT_ONCE = 6;
const BACKENDS = ['claude', 'ai-sdk', 'plain'];

const SCRIPT = `
export const meta = { name: 'many', description: 'Calls over three backends' }
const backends = ${JSON.stringify(BACKENDS)}
return await parallel(Array.from({ length: ${CALLS} }, (_, i) => () =>
  agent('Answer MARK-' + i + '.', { label: 'call ' + i, backend: backends[i % 3] })))
`;

/** 1,000 tokens in and 50 out. */
const PRICES: Record<string, number> = { claude: 0.003_75, 'ai-sdk': 0.001_2, plain: 0.003_75 };

const numberOf = ({ raw }: ModelRequest): number => Number(/MARK-(\d+)\./.exec(raw)?.[1]);
const resultsOf = (lines: readonly JournalLine[]) =>
  lines.filter(({ type }) => type === 'result') as unknown as Result[];

interface Result {
  key: string;
  label: string;
  kind: string;
  output: string;
  backend: string;
  sessionId?: string;
  usage: { inputTokens: number; outputTokens: number; usd: number };
}

test('24 calls over three backends, killed in the middle: each finished call was executed once', {
  timeout: 240_000,
}, async (context) => {
  needAgent(context, claudeAgent);
  const project = makeProject({ files: { 'flow.js': SCRIPT } });
  const answered: number[] = [];
  const held = new Set<number>();
  let holds = true;
  const model = await startFakeModel((request): ModelStep => {
    const n = numberOf(request);
    if (holds && n >= KILLED_AFTER) {
      held.add(n);
      return { silent: true };
    }
    answered.push(n);
    return { text: `answer ${n}` };
  });
  symlinkSync(join(import.meta.dirname, 'node_modules'), project.path('node_modules'));
  project.write(
    '.claude/wf.json',
    JSON.stringify({
      backend: 'claude',
      prices: { 'a-model': { in: 1, out: 4 } },
      backends: {
        claude: { executable: CLAUDE, model: 'claude-sonnet-4-5' },
        'ai-sdk': { provider: 'openai-compatible', baseURL: model.url, model: 'a-model' },
        command: {
          plain: { argv: ['node', join(import.meta.dirname, 'support', 'plain-agent.mjs')], env: ['FAKE_MODEL_URL'] },
        },
      },
    }),
  );
  const { PATH: _path, ...claude } = claudeEnv({ project, model });
  const env = { ...claude, FAKE_MODEL_URL: model.url, PATH: `${dirname(process.execPath)}:${project.env.PATH}` };
  const options = { project, env, timeoutMs: 110_000 };

  const first = startWf(['run', 'flow.js', '--concurrency', String(AT_ONCE)], options);
  await waitForJournalLines(project, KILLED_AFTER, { type: 'result', timeoutMs: 100_000 });
  // All that is under way waits for the model: none is just being told its prompt.
  await waitFor('six calls to wait', () => held.size === AT_ONCE, { timeoutMs: 60_000 });
  first.kill('SIGKILL');
  await first.exited;
  await expectNoProcessesLeft(project.root, { timeoutMs: 10_000 });
  const [firstId] = project.runIds() as [string];
  const before = resultsOf(readJournal(journalFile(project, firstId) as string));
  expect(before.map(({ label }) => label).sort()).toEqual(labels(0, KILLED_AFTER));

  holds = false;
  const resumed = await runWf(['run', '--resume-from', firstId, '--concurrency', String(AT_ONCE)], options);
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(JSON.parse(resumed.stdout)).toEqual(Array.from({ length: CALLS }, (_, i) => `answer ${i}`));
  expect([...answered].sort((a, b) => a - b)).toEqual(Array.from({ length: CALLS }, (_, i) => i));

  const secondId = project.runIds().find((id) => id !== firstId) as string;
  const after = resultsOf(readJournal(journalFile(project, secondId) as string));
  expect(after.map(({ label }) => label).sort()).toEqual(labels(0, CALLS));
  expect(new Set(after.map(({ key }) => key)).size).toBe(CALLS);
  for (const result of after) {
    const i = Number(result.label.split(' ')[1]);
    expect(result).toMatchObject({
      kind: 'ok',
      backend: BACKENDS[i % 3],
      usage: { inputTokens: 1_000, outputTokens: 50 },
    });
    expect(result.usage.usd, result.label).toBeCloseTo(PRICES[result.backend] as number, 8);
    const earlier = before.find(({ label }) => label === result.label);
    if (earlier) expect([result.key, result.sessionId]).toEqual([earlier.key, earlier.sessionId]);
  }
  const sessions = after.filter(({ backend }) => backend === 'claude').map(({ sessionId }) => sessionId);
  expect(new Set(sessions).size).toBe(CALLS / 3);
  expect(sessions).not.toContain(undefined);

  const state = JSON.parse(readFileSync(join(project.runDir(secondId), 'state.json'), 'utf8'));
  expect(state).toMatchObject({ status: 'completed', counts: { calls: CALLS, ok: CALLS, reused: 12, executed: 12 } });
  const half = (CALLS / 2 / 3) * (0.003_75 + 0.001_2 + 0.003_75);
  expect(state.usage).toMatchObject({ inputTokens: 12_000, outputTokens: 600, savedOutputTokens: 600 });
  expect(state.usage.usd).toBeCloseTo(half, 8);
  expect(state.usage.savedUsd).toBeCloseTo(half, 8);
});

const labels = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `call ${from + i}`).sort();
