/** Cases that went wrong elsewhere: matching, chains of resumes, replay, and the journal's tail. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { carryLines } from '../../src/journal/carry.js';
import { createMemoryStore, memorySource } from '../../src/journal/memory-store.js';
import { makeFakeBackend } from '../support/fake-backend.js';
import { faultOf, journalFile, journalLine, readJournal, waitForJournalLines } from '../support/journal.js';
import { startWf } from '../support/run-wf.js';
import { seededRandom, shuffled, testSeed, testSeeds } from '../support/seeds.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { hitsIn, killRun, linesOf, madeIn, run } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

const meta = (name: string): string => `export const meta = { name: '${name}', description: 'A case' }\n`;

it.each(testSeeds(4).map((seed) => [seed]))(
  'B-001 a fan-out and a sum, killed after four answers in a random order, delays reversed (seed %i)',
  async (seed) => {
    const items = ['a', 'b', 'c', 'd', 'e', 'f'];
    const project = makeProject({
      files: {
        'flow.js': `${meta('sum')}const parts = await parallel(${JSON.stringify(items)}.map((x) => () => agent('do ' + x, { label: x })))
return await agent('sum ' + parts.join(), { label: 'sum' })
`,
      },
    });
    const order = shuffled(items, seed);
    const agent = makeShellAgent(project, Object.fromEntries(items.map((item) => [item, { gate: item }])));
    const first = startWf(['run', 'flow.js', '--concurrency', '6', ...agent.flags], { project });
    await agent.waitForStarts(6);
    for (const [i, item] of order.slice(0, 4).entries()) {
      agent.openGate(item);
      await waitForJournalLines(project, i + 1);
    }
    const one = await killRun(first);
    expect(madeIn(project, one).map(({ label }) => label)).toEqual(order.slice(0, 4));

    agent.setRules(Object.fromEntries([...order].reverse().map((item, i) => [item, { delay: 0.03 * i }])));
    const second = await run(project, ['--resume-from', one]);
    expect(agent.started(second.id).sort()).toEqual([...order.slice(4), 'sum'].sort());
    expect(hitsIn(project, second.id).map(({ label }) => label)).toEqual(order.slice(0, 4));
    expect(madeIn(project, second.id).at(-1)?.prompt).toMatch(
      /^sum a by \d+,b by \d+,c by \d+,d by \d+,e by \d+,f by \d+$/,
    );
  },
);

it('B-002 holes in a fan-out: of thirty items two had failed; two run again, and the array is whole and in order', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('items')}return await pipeline([...Array(30).keys()], (n) => agent('item ' + n, { label: 'i' + n }))\n`,
    },
  });
  const agent = makeShellAgent(project, { i3: { fail: 1 }, i17: { fail: 1 } });
  const first = await run(project, ['flow.js', ...agent.flags]);
  expect(first.code).toBe(3);
  agent.setRules({});
  const second = await run(project, ['--resume-from', first.id]);
  expect(agent.started(second.id).sort()).toEqual(['i17', 'i3']);
  expect(second.state.counts).toMatchObject({ reused: 28, executed: 2 });
  expect((second.result as string[]).map((answer) => answer.split(' ')[0])).toEqual(
    [...Array(30).keys()].map((n) => `i${n}`),
  );
});

it('B-003 only the texts of items that had not finished were edited: what was finished is reused', async () => {
  const script = (
    late: string,
  ): string => `${meta('stages')}const text = (n) => { switch (n) { case 2: case 3: return '${late} ' + n; default: return 'draft ' + n } }
return await pipeline([0, 1, 2, 3],
  (n) => agent(text(n), { label: 'draft' + n }),
  (draft, n) => agent('judge ' + draft, { label: 'judge' + n }))
`;
  const project = makeProject({ files: { 'flow.js': script('draft') } });
  const agent = makeShellAgent(project, { draft2: { gate: 'late' }, draft3: { gate: 'late' } });
  const first = startWf(['run', 'flow.js', ...agent.flags], { project });
  await waitForJournalLines(project, 4);
  await agent.waitForStarts(6);
  first.kill('SIGINT');
  expect(await first.done).toMatchObject({ code: 130 });
  const one = project.runIds().at(-1) as string;
  expect(
    madeIn(project, one)
      .map(({ label }) => label)
      .sort(),
  ).toEqual(['draft0', 'draft1', 'judge0', 'judge1']);

  agent.openAllGates();
  project.write('flow.js', script('write'));
  const second = await run(project, ['flow.js', '--resume-from', one]);
  expect(agent.started(second.id).sort()).toEqual(['draft2', 'draft3', 'judge2', 'judge3']);
  expect(second.state.counts).toMatchObject({ reused: 4, executed: 4 });
});

it('B-005 two attempts of one call are one line under the key of the call', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('flaky')}const all = [await agent('flaky', { label: 'flaky' })]
for (let i = 0; i < 5; i++) all.push(await agent('next ' + i, { label: 'n' + i }))
return all
`,
    },
  });
  const backend = makeFakeBackend(project, { rules: { flaky: { flaky: { times: 1, code: 75 } } } });
  const first = await run(project, ['flow.js', ...backend.flags]);
  expect(first.code).toBe(0);
  const attempts = backend.ledger.starts('flaky');
  expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(new Set(attempts.map(({ key }) => key)).size).toBe(1);
  const lines = madeIn(project, first.id);
  expect(lines).toHaveLength(6);
  expect(lines.filter(({ label }) => label === 'flaky')).toMatchObject([{ kind: 'ok', attempts: 2 }]);
  const second = await run(project, ['--resume-from', first.id]);
  expect(second.result).toEqual(first.result);
  expect(backend.ledger.starts()).toHaveLength(7);
});

const PARTS = Array.from({ length: 11 }, (_, i) => `p${i}`);
const TWELVE = `${meta('twelve')}const parts = await parallel(${JSON.stringify(PARTS)}.map((x) => () => agent('do ' + x, { label: x })))
return await agent('close ' + parts.join(), { label: 'close' })
`;

async function runUntil(
  project: TestProject,
  args: string[],
  agent: ReturnType<typeof makeShellAgent>,
  gates: string[],
  lines: number,
): Promise<string> {
  const handle = startWf(['run', ...args, '--concurrency', '12', ...agent.flags], { project });
  const id = (await handle.waitForStderr(/run ([0-9a-f-]{36}) started/))[1] as string;
  agent.openGate(...gates);
  await waitForJournalLines(project, lines, { runId: id });
  return killRun(handle);
}

it('B-007 a chain of four runs with two kills: 5, 9, 12 kept results, and the last one runs nothing', async () => {
  const project = makeProject({ files: { 'flow.js': TWELVE } });
  const agent = makeShellAgent(project, Object.fromEntries(PARTS.map((part) => [part, { gate: part }])));
  const order = shuffled(PARTS, testSeed());
  const one = await runUntil(project, ['flow.js'], agent, order.slice(0, 5), 5);
  const killed = readFileSync(journalFile(project, one) as string, 'utf8');
  // 5 kept lines, 5 hits, 4 new ones.
  const two = await runUntil(project, ['--resume-from', one], agent, order.slice(5, 9), 14);
  expect(agent.started(two).sort()).toEqual(order.slice(5).sort());
  agent.openAllGates();
  const three = await run(project, ['--resume-from', two]);
  expect(agent.started(three.id).sort()).toEqual([...order.slice(9), 'close'].sort());
  const four = await run(project, ['--resume-from', three.id]);
  expect(agent.started(four.id)).toEqual([]);
  expect([one, two, three.id, four.id].map((id) => hitsIn(project, id).length)).toEqual([0, 5, 9, 12]);
  expect(four.result).toBe(three.result);
  const kept = (id: string): number => linesOf(project, id).filter((line) => line.kept !== undefined).length;
  expect([two, three.id, four.id].map(kept)).toEqual([5, 9, 12]);
  // The closing call saw all its inputs, and ran once in the whole chain.
  expect(agent.lines('start').filter(({ label }) => label === 'close')).toHaveLength(1);
  expect(madeIn(project, three.id).at(-1)?.prompt).toMatch(/^close (p\d+ by \d+,){10}p10 by \d+$/);

  // The same journal, written by an older version.
  const old = killed.split(/(?<=\n)/).map((line) => journalLine({ ...JSON.parse(line), v: 0 }));
  writeFileSync(journalFile(project, one) as string, old.join(''));
  const five = await run(project, ['--resume-from', one]);
  expect(five.code).toBe(0);
  expect(five.stderr).toContain('5 unreadable lines (line 1: unknown version, line 2: unknown version,');
  expect(agent.started(five.id).sort()).toEqual([...PARTS, 'close'].sort());
  expect(agent.started(five.id).at(-1)).toBe('close');
});

it('B-009 three equal votes, killed after two: each recorded answer is used once, and one call runs', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('votes')}const v = () => agent('vote', { label: 'vote' })\nreturn await parallel([v, v, v])\n`,
    },
  });
  const vote = (nth: number, value: string, gate?: true) => ({
    when: { label: 'vote', nth },
    behaviour: { raw: value, ...(gate ? { gate } : {}) },
  });
  const backend = makeFakeBackend(project, { rules: [vote(1, '1'), vote(2, '2'), vote(3, '3', true)] });
  const first = startWf(['run', 'flow.js', ...backend.flags], { project });
  await waitForJournalLines(project, 2);
  await backend.waitForStarts(3);
  const one = await killRun(first);
  backend.setRules([{ behaviour: { raw: '9' } }]);
  const second = await run(project, ['--resume-from', one]);
  expect((second.result as string[]).sort()).toEqual(['1', '2', '9']);
  expect(backend.ledger.starts()).toHaveLength(4);
});

it('B-011 nested workflows: equal prompts of parent and children keep their own answers', async () => {
  const project = makeProject({
    files: {
      '.claude/workflows/child.js': `${meta('child')}const own = await agent('same', { label: 'child ' + (args ? args.n : 0) })
return { own, n: args ? args.n : 0 }
`,
      'flow.js': `${meta('parent')}const p = await agent('same', { label: 'parent' })
const c = await workflow('child')
const t = await agent('tail', { label: 'tail' })
const both = await parallel([() => workflow('child', { n: 1 }), () => workflow('child', { n: 2 })])
return [p, c, t, both]
`,
    },
  });
  const agent = makeShellAgent(project);
  const first = await run(project, ['flow.js', ...agent.flags]);
  expect(first.code).toBe(0);
  const answers = (first.result as [string, { own: string }, string, { own: string; n: number }[]]).flat();
  const words = answers.map((answer) => (typeof answer === 'string' ? answer : answer.own));
  expect(words.map((word) => word.replace(/ by \d+$/, ''))).toEqual([
    'parent',
    'child 0',
    'tail',
    'child 1',
    'child 2',
  ]);
  expect(new Set(words).size).toBe(5);
  // One folder and one journal for all of it.
  expect(project.runIds()).toEqual([first.id]);
  // A child's text that has changed on the disk does not matter to a resume by the id alone.
  project.write('.claude/workflows/child.js', `${meta('child')}return await agent('other', { label: 'other' })\n`);
  const second = await run(project, ['--resume-from', first.id]);
  expect(second.result).toEqual(first.result);
  const third = await run(project, ['--resume-from', second.id]);
  expect(third.result).toEqual(first.result);
  expect(agent.started()).toHaveLength(5);
});

it('B-018 a race keeps its winner, whatever the order of the calls', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('race')}const w = await Promise.race([agent('slow', { label: 'slow' }).then(() => 'S'), agent('fast', { label: 'fast' }).then(() => 'F')])
await agent('after ' + w, { label: 'after' })
return w
`,
    },
  });
  const agent = makeShellAgent(project, { slow: { gate: 'slow' }, after: { gate: 'after' } });
  const first = startWf(['run', 'flow.js', ...agent.flags], { project });
  await agent.waitFor('start', 'after');
  agent.openGate('slow');
  await waitForJournalLines(project, 2);
  const one = await killRun(first);
  expect(madeIn(project, one).map(({ label }) => label)).toEqual(['fast', 'slow']);
  agent.openAllGates();
  const second = await run(project, ['--resume-from', one]);
  expect(second.result).toBe('F');
  expect(madeIn(project, second.id).map(({ label, prompt }) => [label, prompt])).toEqual([['after', 'after F']]);
  const third = await run(project, ['--resume-from', second.id]);
  expect(third.result).toBe('F');
  expect(agent.started(third.id)).toEqual([]);
  // The order of the lines is that of nobody's writing, and the calls are made the other way round.
  const file = journalFile(project, one) as string;
  const [fast, slow] = readFileSync(file, 'utf8').split(/(?<=\n)/) as [string, string];
  const turned = project.read('flow.js').replace(/race\(\[(.*'S'\)), (.*'F'\))\]\)/, 'race([$2, $1])');
  expect(turned).not.toBe(project.read('flow.js'));
  for (const text of [project.read('flow.js'), turned]) {
    project.write('flow.js', text);
    for (const lines of [fast + slow, slow + fast]) {
      writeFileSync(file, lines);
      const again = await run(project, ['flow.js', '--resume-from', one]);
      expect([again.result, agent.started(again.id)]).toEqual(['F', ['after']]);
      expect(hitsIn(project, again.id).map(({ label }) => label)).toEqual(['fast', 'slow']);
    }
  }
});

it('B-018 a race between a call and a timer keeps its winner over a chain of resumes', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('timer')}const wait = (ms) => new Promise((resolve) => setTimeout(() => resolve('timer'), ms))
const slow = agent('slow', { label: 'slow' })
const w = await Promise.race([slow, wait(40)])
const s = await slow
await agent('after ' + w, { label: 'after' })
return [w, s]
`,
    },
  });
  const agent = makeShellAgent(project, { slow: { gate: 'slow' } });
  const first = startWf(['run', 'flow.js', ...agent.flags], { project });
  await waitForJournalLines(project, 1, { type: 'timer' });
  agent.openGate('slow');
  const ended = await first.done;
  const result = JSON.parse(ended.stdout) as string[];
  expect(result[0]).toBe('timer');
  let id = project.runIds().at(-1) as string;
  for (let i = 0; i < 3; i++) {
    const next = await run(project, ['--resume-from', id]);
    expect(next.result).toEqual(result);
    expect(agent.started(next.id)).toEqual([]);
    expect(linesOf(project, next.id).filter(({ type, kept }) => type === 'timer' && kept !== undefined)).toHaveLength(
      1,
    );
    id = next.id;
  }
});

it('B-024 a full replay of two hundred calls, equal pairs, children and empty groups ends at once with the same result', async () => {
  const project = makeProject({
    files: {
      '.claude/workflows/child.js': `${meta('child')}return await parallel([() => agent('in child', { label: 'c1' }), () => agent('in child', { label: 'c2' })])\n`,
      'flow.js': `${meta('many')}const none = [await parallel([]), await pipeline([], (x) => x), await pipeline(['x'])]
const pairs = await parallel([...Array(20).keys()].map((i) => () => agent('pair ' + (i >> 1), { label: 'pair' + i })))
const children = [await workflow('child'), await workflow('child')]
const singles = await pipeline([...Array(88).keys()], (i) => agent('first ' + i, { label: 'f' + i }), (a, i) => agent('second ' + a, { label: 's' + i }))
return { none, pairs, children, singles }
`,
    },
  });
  const agent = makeShellAgent(project);
  const first = await run(project, ['flow.js', '--concurrency', '16', ...agent.flags]);
  expect(first.code).toBe(0);
  expect(agent.started()).toHaveLength(200);
  const second = await run(project, ['--resume-from', first.id, '--reporter', 'jsonl']);
  expect(second.result).toEqual(first.result);
  expect(agent.started(second.id)).toEqual([]);
  const finished = JSON.parse(second.stderr.trimEnd().split('\n').at(-1) as string);
  expect(finished).toMatchObject({ type: 'run.finished', counts: { reused: 200, executed: 0 } });
  expect(finished.durationMs).toBeLessThan(2_000);
});

const NAIVE = `${meta('words')}const all = []
for (const x of ['a', 'b', 'c']) all.push(await agent('do ' + x, { label: x }))
return all
`;

it('B-025 the last line cut at every byte: every line of the new journal parses, and a record is lost only where it was cut', async () => {
  const project = makeProject({ files: { 'flow.js': NAIVE } });
  const agent = makeShellAgent(project, { '*': { reply: 'naïve “$label” 💶 ,$$' } });
  const first = await run(project, ['flow.js', ...agent.flags]);
  const journal = journalFile(project, first.id) as string;
  const bytes = readFileSync(journal);
  const lastLine = bytes.lastIndexOf(0x0a, bytes.length - 2) + 1;

  for (let end = lastLine; end <= bytes.length; end++) {
    const store = createMemoryStore();
    const { lines, damage } = carryLines(memorySource(bytes.subarray(0, end)), first.id, store);
    const isWhole = end >= bytes.length - 1;
    expect([end, lines.length]).toEqual([end, isWhole ? 3 : 2]);
    expect([end, damage.tornTail]).toEqual([end, !isWhole && end > lastLine]);
    const texts = store.bytes().toString('utf8').split('\n').slice(0, -1);
    expect(texts.map((text) => faultOf(text))).toEqual(texts.map(() => undefined));
  }

  // Twelve places through the command, the odd ones among them: in a character, and with only the newline missing.
  const inside = bytes.lastIndexOf('💶') + 2;
  const random = seededRandom(testSeed());
  const places = [lastLine, lastLine + 1, inside, bytes.length - 2, bytes.length - 1];
  while (places.length < 12) places.push(lastLine + Math.floor(random() * (bytes.length - lastLine)));
  for (const end of places) {
    writeFileSync(journal, bytes.subarray(0, end));
    const resumed = await run(project, ['--resume-from', first.id]);
    const isWhole = end === bytes.length - 1;
    expect([end, resumed.code, agent.started(resumed.id)]).toEqual([end, 0, isWhole ? [] : ['c']]);
    expect(readJournal(journalFile(project, resumed.id) as string)).toHaveLength(isWhole ? 6 : 5);
    expect([end, /1 unreadable line \(line 3: torn\)/.test(resumed.stderr)]).toEqual([end, !isWhole && end > lastLine]);
    expect(readFileSync(journal)).toEqual(bytes.subarray(0, end));
  }
}, 120_000);

it('B-027 sixty-four agents end at once: sixty-four lines, each whole, one write each', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('crowd')}const rounds = []
for (let round = 0; round < args.rounds; round++) {
  rounds.push((await parallel([...Array(64).keys()].map((i) => () => agent('round ' + round + ' item ' + i, { label: 'r' + round + 'i' + i })))).length)
}
return rounds
`,
    },
  });
  const agent = makeShellAgent(project, { '*': { gate: 'go', reply: 'x'.repeat(100) } });
  const crowd = startWf(['run', 'flow.js', '--arg', 'rounds:=1', '--concurrency', '64', ...agent.flags], { project });
  await agent.waitForStarts(64);
  agent.openGate('go');
  expect(await crowd.done).toMatchObject({ code: 0 });
  const file = journalFile(project) as string;
  expect(readJournal(file)).toHaveLength(64);
  expect(readFileSync(file, 'utf8')).not.toContain('\n\n');

  project.write('rules.json', JSON.stringify([{ reply: 'x'.repeat(100), delayMs: 5 }]));
  const mock = ['--backend', 'mock', '--mock', 'rules.json', '--concurrency', '64', '--max-agents', '5000'];
  const fifty = await run(project, ['flow.js', '--arg', 'rounds:=50', ...mock]);
  expect(fifty.code).toBe(0);
  const lines = linesOf(project, fifty.id);
  expect(lines).toHaveLength(3_200);
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, i) => i + 1));
  expect(new Set(lines.map(({ n }) => n)).size).toBe(3_200);
});
