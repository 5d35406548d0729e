/** What a run may spend and start, through the command with real agents: one gate, and what a resume may raise. */
import { expect, it } from 'vitest';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';
import { madeIn, run } from './support/runs.js';
import { makeShellAgent, mostAtOnce, usageLine } from './support/shell-agent.js';

const FAN = (count: number): string =>
  workflow(`const got = await parallel(Array.from({ length: ${count} }, (_, i) => () => agent('do ' + i, { label: 'c' + i })))
return { answered: got.filter((x) => x !== null).length, spent: budget.spent(), left: budget.remaining() }`);
const RECORD = (project: { runDir(id: string): string }, id: string) => `${project.runDir(id)}/run.json`;

it('B-129 a wide fan-out passes a budget of tokens by less than one call; the rest says so, and spent() is right', async () => {
  const project = makeProject({ files: { 'fan.js': FAN(20) } });
  const backend = makeShellAgent(project, { '*': { says: usageLine(300) } });
  const ended = await run(project, ['fan.js', ...backend.flags, '--budget', '1000', '--concurrency', '8']);
  expect(backend.lines('start')).toHaveLength(4);
  expect(ended.result).toEqual({ answered: 4, spent: 1200, left: 0 });
  expect(ended.code).toBe(3);
  expect(ended.state).toMatchObject({ status: 'completed', cause: 'calls-failed', usage: { outputTokens: 1200 } });
  const failures = ended.state.failures as { code: string; message: string }[];
  expect(failures).toHaveLength(16);
  for (const { code, message } of failures) {
    expect(code).toBe('WF_BUDGET');
    expect(message).toContain('budget of 1000 output tokens. Raise it with --budget');
  }
  // Of calls that no agent got none is to be expected.
  expect(ended.stderr).not.toContain('told no tokens');
});

it('B-129 agents that tell what they read and not what they said: a budget of tokens cannot count them, and that is said once', async () => {
  const project = makeProject({ files: { 'fan.js': FAN(3) } });
  const backend = makeShellAgent(project, { '*': { says: usageLine(300).replace(/,?"out":300/, '') } });
  const ended = await run(project, ['fan.js', ...backend.flags, '--budget', '1000', '--concurrency', '1']);
  expect(ended.result).toMatchObject({ answered: 3 });
  const told = ended.stderr.match(
    /Call #1 told no output tokens, so the budget of 1000 output tokens cannot count it/g,
  );
  expect(told).toHaveLength(1);
  expect(ended.state.notices).toContainEqual(expect.stringContaining('told no output tokens'));
});

it('B-129 the same in money, with what each call cost on record', async () => {
  const project = makeProject({ files: { 'fan.js': FAN(12) } });
  const backend = makeShellAgent(project, { '*': { says: usageLine(10, 0.3) } });
  const ended = await run(project, ['fan.js', ...backend.flags, '--budget-usd', '1', '--concurrency', '8']);
  expect(backend.lines('start')).toHaveLength(4);
  expect(ended.result).toMatchObject({ answered: 4 });
  expect(ended.state.usage).toMatchObject({ usd: 1.2 });
  expect(ended.stderr).toContain('its budget of $1. Raise it with --budget-usd');
});

it('a call that no agent was asked for says nothing of what the others cost: a budget in money holds behind it', async () => {
  const refused = "await agent('outside', { label: 'outside', cwd: '..' }).catch(() => null)\n";
  const project = makeProject({ files: { 'fan.js': FAN(12).replace('const got', `${refused}const got`) } });
  const backend = makeShellAgent(project, { '*': { says: usageLine(10, 0.3) } });
  const ended = await run(project, ['fan.js', ...backend.flags, '--budget-usd', '1', '--concurrency', '8']);
  expect(ended.state.failures).toContainEqual(expect.objectContaining({ label: 'outside', code: 'WF_AGENT_OPTIONS' }));
  expect(backend.lines('start')).toHaveLength(4);
  expect(ended.state.usage).toMatchObject({ usd: 1.2 });
});

it('B-131 without a budget nothing is limited; a budget stop names itself and the way to raise it', async () => {
  const body = `let rounds = 0
while (budget.total && budget.remaining() > 0 && rounds < 50) { rounds++; await agent('more ' + rounds) }
return { total: budget.total, left: String(budget.remaining()), rounds }`;
  const project = makeProject({ files: { 'flow.js': workflow(body) } });
  const backend = makeShellAgent(project, { '*': { says: usageLine(40) } });
  const free = await run(project, ['flow.js', ...backend.flags]);
  expect(free.result).toEqual({ total: null, left: 'Infinity', rounds: 0 });
  const capped = await run(project, ['flow.js', ...backend.flags, '--budget', '100']);
  expect(capped.result).toEqual({ total: 100, left: '0', rounds: 3 });
});

it('B-132 a cap, a budget of tokens and one of money can be raised on a resume: only what is missing runs, and what differs is said', async () => {
  const body = `await parallel(Array.from({ length: 6 }, (_, i) => () => agent('work ' + i, { label: 'w' + i })))
return await agent('close', { label: 'close' })`;
  const project = makeProject({ files: { 'flow.js': workflow(body) } });
  const backend = makeShellAgent(project, { '*': { says: usageLine(100, 0.1) } });
  for (const [name, low, high, words] of [
    ['--max-agents', '6', '7', '--max-agents is now 7; the source run had 6.'],
    ['--budget', '600', '700', '--budget is now 700 output tokens; the source run had 600 output tokens.'],
    ['--budget-usd', '0.6', '0.7', '--budget-usd is now 0.7; the source run had 0.6.'],
    ['--budget', '600', 'none', '--budget is now none; the source run had 600 output tokens.'],
  ] as const) {
    const first = await run(project, ['flow.js', ...backend.flags, name, low, '--concurrency', '2']);
    expect([first.code, first.state.status, first.state.counts.ok]).toEqual([1, 'failed', 6]);
    expect(first.stderr).toContain(`Raise it with ${name}, also on a resume`);
    // The recorded limit holds for a resume that does not raise it; hits count neither to the cap nor to a budget.
    const before = backend.lines('start').length;
    const raised = await run(project, ['--resume-from', first.id, name, high]);
    expect([name, raised.code, raised.state.counts]).toMatchObject([name, 0, { reused: 6, executed: 1 }]);
    expect(backend.lines('start')).toHaveLength(before + 1);
    expect(raised.stderr).toContain(words);
    expect(raised.state.notices).toContain(words);
  }
});

it('B-134 the cap on calls at once holds for parallel, pipeline, Promise.all, a child workflow and retries, all mixed', async () => {
  const body = `const ask = (name) => agent('do ' + name, { label: name })
return (await Promise.all([
  parallel([1, 2, 3, 4].map((i) => () => ask('par' + i))),
  pipeline([1, 2, 3], (i) => ask('one' + i), (_, i) => ask('two' + i)),
  ...[1, 2, 3].map((i) => ask('bare' + i)),
  ask('flaky1'), ask('flaky2'),
  workflow('child'),
])).flat(2).filter((x) => x === null).length`;
  const project = makeProject({
    files: {
      'flow.js': workflow(body),
      '.claude/workflows/child.js': workflow(
        "return await parallel([1, 2, 3].map((i) => () => agent('child ' + i, { label: 'child' + i })))",
        'child',
      ),
    },
  });
  const backend = makeShellAgent(project, { '*': { gate: 'g' } });
  // Exit code 75 is worth another try.
  backend.setRules({ 'flaky*': { fail: 75 }, '*': { gate: 'g' } });
  const wf = startWf(['run', 'flow.js', ...backend.flags, '--concurrency', '3', '--retries', '1'], { project });
  await backend.waitForStarts(3);
  backend.openAllGates();
  const { code, stdout } = await wf.done;
  expect([code, JSON.parse(stdout)]).toEqual([3, 2]);
  expect(backend.started().filter((label) => label.startsWith('flaky'))).toHaveLength(4);
  expect(mostAtOnce(backend.lines())).toBe(3);
});

it('B-135 how many calls run at once is printed; the default never falls below 4 and does not grow with a large host', async () => {
  const project = makeProject({ files: { 'flow.js': workflow('return 1') } });
  const one = await runWf(['run', 'flow.js', '--backend', 'mock'], { project, under: ['taskset', '-c', '0'] });
  expect(one.stderr).toContain(', 4 calls at once');
  const given = await runWf(['run', 'flow.js', '--backend', 'mock', '--concurrency', '7'], { project });
  expect(given.stderr).toContain(', 7 calls at once');
});

it('B-138 with less free memory than the floor one call runs at a time, one notice is told, and the run goes on to its end', async () => {
  const project = makeProject({ files: { 'fan.js': FAN(4) } });
  const backend = makeShellAgent(project);
  // More than any machine has: always short.
  const short = await run(project, ['fan.js', ...backend.flags, '--min-free-mem', '999999GB', '--concurrency', '4']);
  expect([short.code, short.result]).toMatchObject([0, { answered: 4 }]);
  expect(mostAtOnce(backend.lines())).toBe(1);
  expect(short.stderr.match(/MB of memory are free, below the \d+ MB of --min-free-mem/g)).toHaveLength(1);
  expect(short.state.notices).toHaveLength(1);
  // Kept by a resume, and raised by one: another run of the same script, where nothing is short.
  const enough = await run(project, ['--resume-from', short.id, '--min-free-mem', '1', '--args-text', 'x']);
  expect(enough.state.notices).toContainEqual('--min-free-mem is now 1 MB; the source run had 1023998976 MB.');
  expect(enough.stderr).not.toContain('MB of memory are free');
});

it('B-138 a floor that the free memory is above holds nothing back', async () => {
  const project = makeProject({ files: { 'fan.js': FAN(4) } });
  const backend = makeShellAgent(project, { '*': { gate: 'g' } });
  const wf = startWf(['run', 'fan.js', ...backend.flags, '--min-free-mem', '1', '--concurrency', '4'], { project });
  await backend.waitForStarts(4);
  backend.openAllGates();
  expect((await wf.done).code).toBe(0);
});

it('X7 a resume takes permission and limits from the record: neither environment nor default widens them', async () => {
  const body = `const first = await agent('a', { label: 'a' })
return [first, await agent('b', { label: 'b' })]`;
  const project = makeProject({ files: { 'flow.js': workflow(body) } });
  const backend = makeShellAgent(project, { b: { fail: 1 } });
  const limits = [
    '--permission',
    'read',
    '--max-agents',
    '2',
    '--budget',
    '5k',
    '--budget-usd',
    '3',
    '--timeout',
    '90s',
  ];
  const more = ['--idle-timeout', '80s', '--retries', '0', '--concurrency', '2', '--min-free-mem', '1'];
  backend.setRules({ a: { says: usageLine(1, 0.01) }, b: { fail: 1 } });
  const first = await run(project, ['flow.js', ...backend.flags, ...limits, ...more]);
  expect(first.code).toBe(3);
  backend.setRules({ '*': { says: usageLine(1, 0.01) } });
  const env = { WF_CONCURRENCY: '9', WF_MAX_AGENTS: '900', WF_BACKEND: 'mock' };
  const second = await run(project, ['--resume-from', first.id], { env });
  expect(second.state.counts).toMatchObject({ reused: 1, executed: 1, ok: 2 });
  const [before, after] = [first.id, second.id].map(
    (id) => JSON.parse(project.read(RECORD(project, id).slice(project.dir.length + 1))).options,
  );
  expect(after).toEqual(before);
  expect(after).toMatchObject({
    ...{ permission: 'read', maxAgents: 2, budgetTokens: 5000, budgetUsd: 3, timeoutMs: 90_000 },
    ...{ idleTimeoutMs: 80_000, retries: 0, concurrency: 2, minFreeMemMb: 1 },
  });
});

it('a budget in money that nobody counts: refused before anything is spent where that is known', async () => {
  const project = makeProject({ files: { 'flow.js': workflow("return await agent('a')") } });
  const wrong = await runWf(['run', 'flow.js', '--backend', 'mock', '--budget-usd', 'much'], { project });
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--budget-usd takes US dollars such as 5')]);
  // Made-up answers cost nothing, so their money is known.
  const dry = await run(project, ['flow.js', '--dry-run', '--budget-usd', '1']);
  expect(dry.code).toBe(0);
});

it('a budget in money and an answer of unknown cost: the run stops, the answer is kept, and a resume goes on', async () => {
  const body = "const a = await agent('a', { label: 'a' })\nreturn [a, await agent('b', { label: 'b' })]";
  const project = makeProject({ files: { 'flow.js': workflow(body) } });
  const backend = makeShellAgent(project, { '*': { says: usageLine(2) } });
  const first = await run(project, ['flow.js', ...backend.flags, '--budget-usd', '1']);
  expect(first.code).toBe(6);
  expect(first.state).toMatchObject({
    status: 'failed',
    cause: 'WF_COST_UNKNOWN',
    counts: { ok: 1, executed: 1 },
    usage: { usd: null, usdUnknownCalls: 1 },
  });
  expect(first.stderr).toContain('call #1 "a" reported no cost');
  const second = await run(project, ['--resume-from', first.id, '--budget-usd', 'none']);
  expect([second.code, second.state.counts]).toMatchObject([0, { reused: 1, executed: 1 }]);
});

it('a budget in money where the backend tells tokens and model: priced by the config, and on record as that', async () => {
  const body = `return (await parallel([1, 2, 3, 4].map((i) => () => agent('do ' + i, { label: 'c' + i, model: 'small-20260101' })))).filter((x) => x !== null).length`;
  const project = makeProject({
    files: {
      'flow.js': workflow(body),
      '.claude/wf.json': JSON.stringify({ prices: { small: { in: 0, out: 10 } }, budgetUsd: 0.5 }),
    },
  });
  const backend = makeShellAgent(project, { '*': { says: usageLine(25_000) } });
  const ended = await run(project, ['flow.js', ...backend.flags]);
  // 0.25 dollars each: two fit.
  expect([ended.code, ended.result, backend.started().length]).toEqual([3, 2, 2]);
  expect(ended.state.usage).toMatchObject({ usd: 0.5 });
  expect(ended.state.failures).toMatchObject([{ code: 'WF_BUDGET' }, { code: 'WF_BUDGET' }]);
  const usages = madeIn(project, ended.id).flatMap((line) => (line.kind === 'ok' ? [line.usage] : []));
  expect(usages).toMatchObject([
    { usd: 0.25, usdSource: 'priced' },
    { usd: 0.25, usdSource: 'priced' },
  ]);
});
