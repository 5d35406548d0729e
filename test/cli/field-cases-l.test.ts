/** Cases about limits that went wrong elsewhere: sleeping machines, hopeless schemas, costs that nobody saw, options that nobody read. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { killTree, sendSignal } from '../support/processes.js';
import { startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { familyOf, readState, waitUntilLater, workflow } from './cli-kit.js';
import { idOf, madeIn, run } from './support/runs.js';
import { makeShellAgent, usageLine } from './support/shell-agent.js';

it('B-150 a machine that slept: neither the limit of a call nor that of its silence counts the time in which nothing ran', async () => {
  const project = makeProject({ files: { 'flow.js': workflow("return await agent('a', { label: 'a' })") } });
  const agent = makeShellAgent(project, { a: { gate: 'g' } });
  const limits = ['--timeout', '9s', '--idle-timeout', '8s', '--retries', '0'];
  const wf = startWf(['run', 'flow.js', ...agent.flags, ...limits], { project });
  await agent.waitForStarts(1);
  const all = [wf.pid, ...familyOf(wf.pid).map(({ pid }) => pid)];
  try {
    for (const pid of all) sendSignal(pid, 'SIGSTOP');
    agent.openGate('g');
    await waitUntilLater(performance.now(), 10_000);
  } finally {
    for (const pid of all) sendSignal(pid, 'SIGCONT');
  }
  const { code, stderr } = await wf.done;
  expect([code, readState(project).counts]).toMatchObject([0, { ok: 1, failed: 0 }]);
  expect(agent.lines('start')).toHaveLength(1);
  expect(stderr).not.toContain('WF_AGENT_TIMEOUT');
  killTree(wf.pid);
});

it('B-150 an agent that stays silent after the sleep has its whole limit, and no more; the record names the standstill', async () => {
  const project = makeProject({ files: { 'flow.js': workflow("return await agent('a', { label: 'a' })") } });
  const agent = makeShellAgent(project, { a: { gate: 'never' } });
  const wf = startWf(['run', 'flow.js', ...agent.flags, '--timeout', '5s', '--retries', '0'], { project });
  await agent.waitForStarts(1);
  const all = [wf.pid, ...familyOf(wf.pid).map(({ pid }) => pid)];
  try {
    for (const pid of all) sendSignal(pid, 'SIGSTOP');
    await waitUntilLater(performance.now(), 7_000);
  } finally {
    for (const pid of all) sendSignal(pid, 'SIGCONT');
  }
  const { code, stderr } = await wf.done;
  expect([code, stderr]).toEqual([3, expect.stringContaining('WF_AGENT_TIMEOUT')]);
  const events = readFileSync(join(project.runDir(idOf(stderr)), 'events.jsonl'), 'utf8');
  expect(events).toMatch(/wf itself stood still for [5-9] s/);
});

it('B-161 answers that never fit end at the limit of the call as a failure of the schema, in any script', async () => {
  const body = `const schema = { type: 'object', properties: { 名前: { type: 'string' }, שם: { type: 'integer' } }, required: ['名前', 'שם'] }
return await parallel([() => agent('a', { label: 'a', schema }), () => agent('b', { label: 'b' })])`;
  const project = makeProject({ files: { 'flow.js': workflow(body) } });
  const agent = makeFakeBackend(project, {
    rules: [
      { when: { label: 'a', nth: 1 }, behaviour: { raw: '{"名前":"東京の長い答え","שם":"לא מספר"}' } },
      { when: { label: 'a' }, behaviour: { hang: true } },
    ],
  });
  const ended = await run(project, ['flow.js', ...agent.flags, '--timeout', '4s']);
  expect(ended.code).toBe(3);
  expect(ended.state.failures).toMatchObject([{ label: 'a', code: 'WF_SCHEMA_UNMET' }]);
  const [{ message }] = ended.state.failures as [{ message: string }];
  expect(message).toMatch(/does not fit the schema: .*שם.* The limit of 4000 ms was over in attempt 2\./s);
});

it('B-164 what failed, retried and cancelled attempts have used is in the totals, and in the record of their call', async () => {
  const body = `const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
agent('nobody waits', { label: 'cut' })
await parallel([() => agent('s', { label: 'schema', schema }), () => agent('r', { label: 'retry' }), () => agent('f', { label: 'fail' })])
return 1`;
  const project = makeProject({ files: { 'flow.js': workflow(body) } });
  const agent = makeFakeBackend(project, {
    rules: {
      cut: { stderr: [usageLine(1, 0.01)], hang: true },
      schema: { stderr: [usageLine(10, 0.1)], raw: 'no json' },
      retry: { stderr: [usageLine(100, 1)], flaky: { times: 1, code: 75 } },
      fail: { stderr: [usageLine(1000, 10)], fail: 1 },
    },
  });
  const wf = startWf(['run', 'flow.js', ...agent.flags, '--reporter', 'jsonl', '--concurrency', '4'], { project });
  const { code, stderr } = await wf.done;
  expect(code).toBe(3);
  const attempts = agent.ledger.starts().length;
  expect(attempts).toBe(1 + 3 + 2 + 1);
  // As the ledger has it: 1 × cut, 3 × schema, 2 × retry, 1 × fail.
  expect(readState(project).usage).toMatchObject({ outputTokens: 1 + 30 + 200 + 1000, inputTokens: attempts });
  expect((readState(project).usage as { usd: number }).usd).toBeCloseTo(0.01 + 0.3 + 2 + 10, 8);
  const cut = stderr
    .split('\n')
    .filter((line) => line.includes('"call.finished"') && line.includes('"cut"'))
    .map((line) => JSON.parse(line));
  expect(cut).toMatchObject([{ status: 'no-result', usage: { outputTokens: 1, usd: 0.01, usdSource: 'reported' } }]);
  const usages = madeIn(project, idOf(stderr)).map((line) => [line.label, (line.usage as { usd: number }).usd]);
  expect(Object.fromEntries(usages)).toMatchObject({ fail: 10, retry: 2 });
});

it('B-137 a misspelt option is named with the one that was meant; model and effort reach the agent, and the model is on record', async () => {
  const body = "return await agent('a', { label: 'a', modle: 'x', effort: 'low', model: 'small' })";
  const project = makeProject({
    files: { 'flow.js': workflow(body), 'bad.js': workflow("return await agent('a', { effort: 'hgih' })") },
  });
  const agent = makeFakeBackend(project);
  const ended = await run(project, ['flow.js', ...agent.flags]);
  expect(ended.code).toBe(0);
  expect(ended.state.notices).toContainEqual('agent(): unknown option "modle" is ignored. Did you mean "model"?');
  const [start] = agent.ledger.starts();
  expect(start).toMatchObject({ model: 'small', env: expect.arrayContaining(['WF_CALL_EFFORT']) });
  expect(madeIn(project, ended.id)).toMatchObject([{ opts: { model: 'small', effort: 'low' } }]);
  const bad = await run(project, ['bad.js', ...agent.flags]);
  expect(bad.code).toBe(1);
  expect(bad.stderr).toMatch(/effort.*low, medium, high/);
  expect(agent.ledger.starts()).toHaveLength(1);
});
