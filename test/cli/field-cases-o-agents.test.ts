/** Cases that went wrong elsewhere, about what agents answer: much at once, broken JSON, and nothing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import type * as Library from '../../src/index.js';
import { makeFakeBackend } from '../support/fake-backend.js';
import { readJsonLines } from '../support/json-lines.js';
import { requireBuild } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';
import { run } from './support/runs.js';

const eventsOf = (project: TestProject, runId: string): Record<string, unknown>[] =>
  readJsonLines(readFileSync(join(project.runDir(runId), 'events.jsonl'), 'utf8'));
const textsOf = (project: TestProject, runId: string, label: string): string =>
  eventsOf(project, runId)
    .filter((event) => event.type === 'call.progress' && event.label === label)
    .map((event) => event.text)
    .join('\n');

it('B-157 sixty-four agents end together with 1 MB each: the process that holds the run answers all the time', async () => {
  requireBuild();
  const project = makeProject({
    files: {
      'flow.js': workflow(
        "const out = await parallel([...Array(64).keys()].map((i) => () => agent('item ' + i)))\nreturn out.map((text) => text.length)",
      ),
    },
  });
  const entry = join(import.meta.dirname, '..', '..', 'dist', 'index.js');
  const { startWorkflow, defineBackend } = (await import(pathToFileURL(entry).href)) as typeof Library;
  const waiting: (() => void)[] = [];
  const large = 'x'.repeat(1 << 20);
  const backend = defineBackend({
    name: 'large',
    run: () => new Promise((resolve) => waiting.push(() => setImmediate(() => resolve({ text: large })))),
  });
  const handle = await startWorkflow({
    script: 'flow.js',
    cwd: project.dir,
    home: project.home,
    env: project.env,
    backend,
    concurrency: 64,
    onEvent: () => {
      if (waiting.length === 64) for (const answer of waiting.splice(0)) answer();
    },
  });
  let longest = 0;
  let before = performance.now();
  const look = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - before);
    before = now;
  }, 5);
  const { status, result } = await handle.done;
  clearInterval(look);
  expect([status, result]).toEqual(['completed', Array(64).fill(1 << 20)]);
  const start = performance.now();
  for (let i = 0; i < 64; i++) JSON.stringify(large);
  // On a machine that is busy otherwise all of it takes longer.
  expect(longest).toBeLessThan(Math.max(500, 4 * (performance.now() - start)));
});

const SCHEMA = "{ type: 'object', properties: { verdict: { enum: ['yes', 'no'] } }, required: ['verdict'] }";
const BROKEN: Record<string, { raw: string; says: string }> = {
  pipe: { raw: '{"verdict":"a\\|b"}', says: 'Bad escaped character at character 14' },
  dot: { raw: 'Here: {"verdict":"\\."}', says: 'Bad escaped character at character 19' },
  newline: { raw: '{"verdict":"ye\ns"}', says: 'Bad control character in string literal at character 14' },
  // A part of it would fit.
  cut: { raw: '{"first":{"verdict":"yes"},"second":{"verd', says: 'Unterminated string' },
};

it('B-159 broken JSON is called that, with its place, and no sound part of it is taken for the answer', async () => {
  const project = makeProject({
    files: {
      'flow.js': workflow(
        `return await parallel(${JSON.stringify(Object.keys(BROKEN))}.map((x) => () => agent('do ' + x, { label: x, schema: ${SCHEMA} })))`,
      ),
    },
  });
  const rules = Object.fromEntries(Object.entries(BROKEN).map(([label, { raw }]) => [label, { raw }]));
  const backend = makeFakeBackend(project, { rules });
  const ended = await run(project, ['flow.js', ...backend.flags]);
  expect([ended.code, ended.result]).toEqual([3, [null, null, null, null]]);
  const failures = ended.state.failures as { label: string; code: string; message: string }[];
  for (const [label, { says }] of Object.entries(BROKEN)) {
    const failure = failures.find((one) => one.label === label);
    expect(failure?.code).toBe('WF_SCHEMA_UNMET');
    expect(failure?.message).toContain(`is not sound JSON: ${says}`);
    expect(failure?.message).not.toContain('must have required');
    expect(textsOf(project, ended.id, label)).toContain(says);
    expect(backend.ledger.starts(label)).toHaveLength(3);
  }
});

it('B-162 an end without a word is a failure, a text that cost nothing is noted, and a short honest one is an answer', async () => {
  const project = makeProject({
    files: {
      'flow.js': workflow(
        "return await parallel(['empty', 'free', 'short'].map((x) => () => agent('do ' + x, { label: x })))",
      ),
    },
  });
  const backend = makeFakeBackend(project, {
    rules: {
      empty: { raw: '', tokens: { in: 9, out: 0 } },
      free: { raw: 'words', tokens: { in: 9, out: 0 } },
      short: { raw: 'OK', tokens: { in: 9, out: 1 } },
    },
  });
  const ended = await run(project, ['flow.js', ...backend.flags, '--retries', '1']);
  expect([ended.code, ended.result]).toEqual([3, [null, 'words', 'OK']]);
  expect(ended.state.failures).toMatchObject([{ label: 'empty', code: 'WF_AGENT_EMPTY' }]);
  expect(backend.ledger.starts('empty')).toHaveLength(2);
  expect(textsOf(project, ended.id, 'free')).toContain('0 output tokens');
  expect(textsOf(project, ended.id, 'short')).toBe('');
});
