/**
 * The matrix that must hold: ten calls, two runs, and exactly so many live calls in the second, counted where the agents
 * note their starts. The agents take their time in one seeded order in the first run and in the reverse one in the second.
 */
import { expect, it } from 'vitest';
import { waitForJournalLines } from '../support/journal.js';
import { startWf } from '../support/run-wf.js';
import { shuffled, testSeed } from '../support/seeds.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { type EndedRun, hitsIn, killRun, linesOf, madeIn, run } from './support/runs.js';
import { makeShellAgent, type ShellAgent, type ShellBehaviour } from './support/shell-agent.js';

const TEN = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
const HEAD = "export const meta = { name: 'ten', description: 'Ten calls' }\n";
const ask = (label: string, prompt = `do ${label}`): string =>
  `agent(${JSON.stringify(prompt)}, { label: ${JSON.stringify(label)} })`;
const inSequence = (calls: string[]): string => `${HEAD}return [${calls.map((call) => `await ${call}`).join(', ')}]\n`;
const inParallel = (calls: string[]): string =>
  `${HEAD}return await parallel([${calls.map((call) => `() => ${call}`).join(', ')}])\n`;
const asks = (labels: readonly string[] = TEN): string[] => labels.map((label) => ask(label));

/** Each label takes another time; `reverse` turns their order round. */
function delays(labels: readonly string[], reverse = false): Record<string, ShellBehaviour> {
  const order = shuffled(labels, testSeed());
  if (reverse) order.reverse();
  return Object.fromEntries(order.map((label, i) => [label, { delay: 0.02 * i }]));
}

interface Pair {
  project: TestProject;
  agent: ShellAgent;
  first: EndedRun;
  second: EndedRun;
  /** Labels of the calls that ran in the second run. */
  live: string[];
}

async function runTwice(
  before: string,
  after: string,
  rules: { first?: Record<string, ShellBehaviour>; second?: Record<string, ShellBehaviour>; labels?: string[] } = {},
): Promise<Pair> {
  const labels = rules.labels ?? TEN;
  const project = makeProject({ files: { 'ten.js': before } });
  const agent = makeShellAgent(project, { ...delays(labels), ...rules.first });
  const first = await run(project, ['ten.js', '--concurrency', '10', ...agent.flags]);
  agent.setRules({ ...delays(labels, true), ...rules.second });
  project.write('ten.js', after);
  const second = await run(project, ['ten.js', '--resume-from', first.id]);
  const live = agent.started(second.id);
  expect(second.state.counts.executed).toBe(live.length);
  expect(hitsIn(project, second.id)).toHaveLength(second.state.counts.reused as number);
  return { project, agent, first, second, live };
}

it('matrix: nothing changed, in sequence: 0 live', async () => {
  const script = inSequence(asks());
  const { first, second, live } = await runTwice(script, script);
  expect(live).toEqual([]);
  expect(second.code).toBe(0);
  expect(second.result).toEqual(first.result);
});

it('matrix: nothing changed, fan-out: 0 live', async () => {
  const script = inParallel(asks());
  const { first, second, live, project } = await runTwice(script, script);
  expect(live).toEqual([]);
  expect(second.result).toEqual(first.result);
  // What the script saw came in the order of the first run.
  const order = (id: string, type: string): unknown[] =>
    linesOf(project, id)
      .filter((line) => line.type === type)
      .map(({ label }) => label);
  expect(order(second.id, 'hit')).toEqual(order(first.id, 'result'));
});

it('matrix: 1 of 10 parallel calls had failed: 1 live', async () => {
  const script = inParallel(asks());
  const { first, second, live } = await runTwice(script, script, { first: { d: { fail: 1 } } });
  expect(first.code).toBe(3);
  expect(live).toEqual(['d']);
  expect(second.code).toBe(0);
  const answers = second.result as string[];
  expect(answers[3]).toMatch(/^d by \d+$/);
  expect(answers.toSpliced(3, 1)).toEqual((first.result as string[]).toSpliced(3, 1));
});

it.each([
  ['in sequence', inSequence],
  ['in parallel', inParallel],
])('matrix: edit 1 of 10 independent calls %s: 1 live', async (_, form) => {
  const edited = asks().with(4, ask('e', 'do e otherwise'));
  const { first, second, live } = await runTwice(form(asks()), form(edited));
  expect(live).toEqual(['e']);
  expect((second.result as string[]).toSpliced(4, 1)).toEqual((first.result as string[]).toSpliced(4, 1));
});

it.each([
  ['in sequence', inSequence],
  ['in parallel', inParallel],
])('matrix: insert a call in front %s: 1 live', async (_, form) => {
  const { first, second, live } = await runTwice(form(asks()), form([ask('new'), ...asks()]));
  expect(live).toEqual(['new']);
  expect((second.result as string[]).slice(1)).toEqual(first.result);
});

it.each([
  ['in sequence', inSequence],
  ['in parallel', inParallel],
])('matrix: delete the first call %s: 0 live', async (_, form) => {
  const { first, second, live } = await runTwice(form(asks()), form(asks(TEN.slice(1))));
  expect(live).toEqual([]);
  expect(second.result).toEqual((first.result as string[]).slice(1));
});

it('matrix: reverse a fan-out: 0 live', async () => {
  const { first, second, live } = await runTwice(inParallel(asks()), inParallel(asks().reverse()));
  expect(live).toEqual([]);
  expect(second.result).toEqual([...(first.result as string[])].reverse());
});

it('matrix: a two-stage pipeline in another completion order: 0 live', async () => {
  const five = TEN.slice(0, 5);
  const labels = five.flatMap((item) => [`${item}1`, `${item}2`]);
  const script = (items: string[]): string => `${HEAD}return await pipeline(${JSON.stringify(items)},
  (item) => agent('draft ' + item, { label: item + '1' }),
  (draft, item) => agent('judge ' + draft, { label: item + '2' }))
`;
  const { first, second, live } = await runTwice(script(five), script([...five].reverse()), { labels });
  expect(first.state.counts.calls).toBe(10);
  expect(live).toEqual([]);
  expect(second.result).toEqual([...(first.result as string[])].reverse());
});

it('matrix: 3 equal prompts in parallel, with seven others: 0 live, and each slot keeps its word', async () => {
  const calls = [...asks(TEN.slice(0, 7)), ask('same'), ask('same'), ask('same')];
  const { first, second, live } = await runTwice(inParallel(calls), inParallel(calls));
  expect(new Set((first.result as string[]).slice(7)).size).toBe(3);
  expect(live).toEqual([]);
  expect(second.result).toEqual(first.result);
});

it('and: a resume stopped early and resumed again: no more than what was unfinished', async () => {
  const project = makeProject({ files: { 'ten.js': inParallel(asks()) } });
  const agent = makeShellAgent(project, Object.fromEntries(TEN.map((label) => [label, { gate: label }])));
  const start = (args: string[]) => startWf(['run', ...args, '--concurrency', '10', ...agent.flags], { project });
  const first = start(['ten.js']);
  agent.openGate('a', 'c', 'e', 'g');
  await waitForJournalLines(project, 4);
  const one = await killRun(first);
  expect(
    madeIn(project, one)
      .map(({ label }) => label)
      .sort(),
  ).toEqual(['a', 'c', 'e', 'g']);

  // Stopped while all six are at work, before one of them has ended.
  const second = start(['--resume-from', one]);
  for (const label of ['b', 'd', 'f', 'h', 'i', 'j']) await agent.waitFor('start', label, 2);
  const two = await killRun(second);
  expect(madeIn(project, two)).toEqual([]);

  // Stopped after one of them.
  const third = start(['--resume-from', two]);
  agent.openGate('j');
  await waitForJournalLines(project, 4 + 4 + 1, { runId: await idOfRunning(third) });
  const three = await killRun(third);

  agent.openAllGates();
  const fourth = await run(project, ['--resume-from', three]);
  expect(agent.started(fourth.id).sort()).toEqual(['b', 'd', 'f', 'h', 'i']);
  expect(fourth.state.counts).toMatchObject({ reused: 5, executed: 5 });
  const fifth = await run(project, ['--resume-from', fourth.id]);
  expect(agent.started(fifth.id)).toEqual([]);
  expect(fifth.result).toEqual(fourth.result);
});

const idOfRunning = async (handle: ReturnType<typeof startWf>): Promise<string> =>
  (await handle.waitForStderr(/run ([0-9a-f-]{36}) started/))[1] as string;

it('and: a pipeline whose first stage has equal prompts, killed with one item behind: each item keeps its own word', async () => {
  const script = `${HEAD}return await pipeline(['x', 'y', 'z'],
  () => agent('pick a word', { label: 'pick' }),
  (word, item) => agent(item + ' says ' + word, { label: item }))
`;
  const project = makeProject({ files: { 'ten.js': script } });
  const agent = makeShellAgent(project, {
    pick: { gate: '$$' },
    ...Object.fromEntries(['x', 'y', 'z'].map((item) => [item, { gate: item }])),
  });
  const first = startWf(['run', 'ten.js', ...agent.flags], { project });
  await agent.waitForStarts(3);
  const picks = agent.lines('start');
  expect(new Set(picks.map(({ key }) => key)).size).toBe(3);
  const [through, half] = picks.map(({ pid }) => String(pid)) as [string, string];
  // One item goes through both stages, one is in its second stage when the run is killed, and one is behind.
  agent.openGate(through);
  await agent.waitForStarts(4);
  const itemThrough = agent.started()[3] as string;
  agent.openGate(itemThrough);
  await waitForJournalLines(project, 2);
  agent.openGate(half);
  await agent.waitForStarts(5);
  const itemHalf = agent.started()[4] as string;
  const one = await killRun(first);
  const itemBehind = ['x', 'y', 'z'].find((item) => item !== itemThrough && item !== itemHalf) as string;
  const old = madeIn(project, one);
  expect(old.map(({ label }) => label)).toEqual(['pick', itemThrough, 'pick']);

  agent.openAllGates();
  const second = await run(project, ['--resume-from', one]);
  expect(agent.started(second.id).sort()).toEqual(['pick', itemHalf, itemBehind].sort());
  const promptOf = (item: string): unknown => madeIn(project, second.id).find(({ label }) => label === item)?.prompt;
  expect(promptOf(itemHalf)).toBe(`${itemHalf} says pick by ${half}`);
  const newPid = agent.lines('start').find(({ runId, label }) => runId === second.id && label === 'pick')?.pid;
  expect(promptOf(itemBehind)).toBe(`${itemBehind} says pick by ${newPid}`);
  expect((second.result as string[])[['x', 'y', 'z'].indexOf(itemThrough)]).toBe(old[1]?.output);
});

it('and: equal votes of which the first failed: the others keep theirs', async () => {
  const script = `${HEAD}return await parallel(Array.from({ length: 10 }, () => () => agent('vote', { label: 'vote' })))\n`;
  const project = makeProject({ files: { 'ten.js': script } });
  const agent = makeShellAgent(project, { vote: { gate: '$$' } });
  const first = startWf(['run', 'ten.js', '--concurrency', '10', ...agent.flags], { project });
  await agent.waitForStarts(10);
  // One voter dies, the others answer; whether that run counts as whole is another question.
  const pids = agent.lines('start').map(({ pid }) => pid);
  const [failing, ...others] = pids as [number, ...number[]];
  process.kill(failing, 'SIGKILL');
  await waitForJournalLines(project, 1);
  agent.openGate(...others.map(String));
  const ended = await first.done;
  const votes = JSON.parse(ended.stdout) as (string | null)[];
  expect(votes.filter((vote) => vote === null)).toHaveLength(1);
  agent.openAllGates();
  const second = await run(project, ['--resume-from', project.runIds().at(-1) as string]);
  expect(agent.started(second.id)).toEqual(['vote']);
  const again = second.result as string[];
  for (const [i, vote] of votes.entries()) if (vote !== null) expect([i, again[i]]).toEqual([i, vote]);
  expect(new Set(again).size).toBe(10);
});

it('and: equal votes without slots, told apart by their order alone, the first failed: the others keep theirs', async () => {
  const script = `${HEAD}return await Promise.all(Array.from({ length: 10 }, () => agent('vote', { label: 'vote' })))\n`;
  const project = makeProject({ files: { 'ten.js': script } });
  const order = shuffled([...TEN.keys()], testSeed());
  const rules = (word: string): object[] =>
    order.map((nth, i) => ({ when: { nth }, reply: `${word} ${nth}`, delayMs: 10 * i }));
  project.write('rules.json', JSON.stringify([{ when: { nth: 0 }, error: 'failed' }, ...rules('old')]));
  const first = await run(project, ['ten.js', '--backend', 'mock', '--mock', 'rules.json', '--concurrency', '10']);
  expect(first.result).toEqual([null, ...TEN.slice(1).map((_, i) => `old ${i + 1}`)]);
  project.write('rules.json', JSON.stringify(rules('new')));
  const second = await run(project, ['--resume-from', first.id]);
  expect(second.state.counts).toMatchObject({ reused: 9, executed: 1 });
  expect(madeIn(project, second.id)).toHaveLength(1);
  expect(second.result).toEqual(['new 0', ...TEN.slice(1).map((_, i) => `old ${i + 1}`)]);
});

it('and: the loser of a race, cancelled in a completed run: 0 live on resume', async () => {
  const script = `${HEAD}const winner = await Promise.race([${ask('slow')}, ${ask('fast')}])
return [winner, ${asks(TEN.slice(0, 8))
    .map((call) => `await ${call}`)
    .join(', ')}]
`;
  const project = makeProject({ files: { 'ten.js': script } });
  const agent = makeShellAgent(project, { slow: { gate: 'slow' } });
  const first = await run(project, ['ten.js', ...agent.flags]);
  expect(first.code).toBe(0);
  expect(first.state.counts).toMatchObject({ ok: 9, abandoned: 1 });
  expect(agent.lines('ok').map(({ label }) => label)).not.toContain('slow');
  const second = await run(project, ['--resume-from', first.id]);
  expect(second.code).toBe(0);
  expect(agent.started(second.id)).toEqual([]);
  expect(second.result).toEqual(first.result);
});
