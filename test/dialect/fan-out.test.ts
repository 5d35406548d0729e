/** `parallel()` and `pipeline()`, phases, the ceilings, and how many run at once. */
import { availableParallelism } from 'node:os';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { dispatched, eventsOf, META, runProbes, runScript, type ScriptRun, type Thrown } from './support/run-script.js';

const RULES = [
  { when: { prompt: '/^slow/' }, reply: 'slow', delayMs: 250 },
  { when: { prompt: '/^fast/' }, reply: 'fast' },
  { when: { prompt: '/^delay 0/' }, reply: '0', delayMs: 240 },
  { when: { prompt: '/^delay 1/' }, reply: '1', delayMs: 120 },
  { when: { prompt: '/^delay 2/' }, reply: '2' },
  { when: { prompt: 'breaks' }, error: 'failed', message: 'broke' },
];

const BODY = `
await probe('order', () => parallel([0, 1, 2].map((i) => () => agent('delay ' + i))))
await probe('rejects', () => parallel([async () => { throw new Error('async') }, () => agent('fast a')]))
await probe('throws', () => parallel([() => { throw new TypeError('sync') }, () => agent('fast b'), () => oops]))
await probe('started', () => parallel([() => agent('fast never'), agent('fast c')]))
await probe('noArray', () => parallel('abc'))
await probe('nothing', () => parallel())
await probe('sparse', () => parallel([() => 1, , () => 2]))
await probe('empty', () => parallel([]))
await probe('many', async () => (await parallel(Array.from({ length: 4096 }, (_, i) => () => i))).at(-1))
await probe('tooMany', () => parallel(new Array(4097).fill(() => agent('fast never'))))
await probe('values', () => parallel([() => 1, () => null, () => undefined, async () => [2], () => ({ then(resolve) { resolve('thenable') } })]))
await probe('chains', () => parallel([1, 2].map((i) => async () => { const a = await agent('fast ' + i); return (await parallel([() => agent('fast x' + i), () => a])).length })))
const seen = []
await probe('flow', () => pipeline(['slow', 'fast'],
  (prev, item, index) => agent(item + ' one').then((a) => { seen.push('1 ' + item); return a }),
  (prev, item, index) => { seen.push('2 ' + item); return agent('fast two') }))
await probe('seen', () => seen)
await probe('stageArgs', () => pipeline(['a', 'b'], (prev, item, index) => [prev, item, index], (prev, item, index) => [prev, item, index]))
await probe('nullPassed', () => pipeline([1], () => null, (prev, item) => ['got', prev, item]))
const after = []
await probe('stageThrows', () => pipeline([1, 2, 3], (n) => { if (n === 2) throw new Error('two'); return n }, async (n) => { after.push(n); if (n === 3) throw new Error('three'); return n * 10 }))
await probe('after', () => after)
await probe('items', () => pipeline('abc', (x) => x))
await probe('noItems', () => pipeline(undefined, (x) => x))
await probe('arrayLike', () => pipeline({ length: 1, 0: 'a' }, (x) => x))
await probe('noStage', () => pipeline([1], 'no function'))
await probe('noItemsAtAll', () => pipeline([], (x) => x))
await probe('zeroStages', () => pipeline([1, 2]))
await probe('tooManyItems', () => pipeline(new Array(4097).fill(1), (x) => x))
await probe('nested', () => pipeline(['a', 'b'], (item) => parallel([() => agent('fast ' + item), () => agent('breaks')]), (pair) => pair.map((one) => one ?? 'none')))
await probe('all', () => Promise.all([agent('fast 7'), agent('delay 1 all')]))
await probe('semaphore', async () => {
  let free = 2, most = 0, now = 0; const waiting = []
  const acquire = () => free > 0 ? (free--, Promise.resolve()) : new Promise((resolve) => waiting.push(resolve))
  const release = () => waiting.length ? waiting.shift()() : free++
  await Promise.all([1, 2, 3, 4].map(async (i) => { await acquire(); most = Math.max(most, ++now); await agent('delay 1 s' + i); now--; release() }))
  return most
})
await agent('fast no phase')
phase('One'); await agent('fast p1'); await agent('fast p2', { phase: 'Two' }); await agent('fast p3')
phase('Unplanned'); phase('One'); await agent('fast p4')
await probe('stringResult', () => [phase('x'), log('y')].map((value) => value === undefined))
`;

let project: TestProject;
let run: ScriptRun;
let table: Record<string, unknown>;

beforeAll(async () => {
  project = makeProject({ until: 'file' });
  run = await runProbes(project, BODY, { rules: RULES, flags: ['--retries', '0', '--concurrency', '8'] });
  table = run.result as typeof table;
});

const misuse = (name: string) => [name, expect.objectContaining({ thrown: 'TypeError', code: 'WF_MISUSE' })];

describe('parallel()', () => {
  it('C100 probe 35 results stand in input order, whatever ends first', () => {
    expect(table.order).toEqual(['0', '1', '2']);
    const ends = eventsOf(run, 'call.finished').filter(({ label }) => /^delay \d$/.test(label));
    expect(ends.map(({ label }) => label)).toEqual(['delay 2', 'delay 1', 'delay 0']);
  });

  it('C101 probe 36 a rejection is null in its slot, with a line in the log', () => {
    expect(table.rejects).toEqual([null, 'fast']);
    expect(run.told).toContainEqual(expect.stringMatching(/^warn: parallel\[0\] failed: async \(probe\.js:4:\d+\)$/));
  });

  it('C102 probe 37 B-061 so is an error thrown at once, a misspelt name among them', () => {
    expect(table.throws).toEqual([null, 'fast', null]);
    expect(run.told).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^warn: parallel\[0\] failed: TypeError: sync \(probe\.js:5:\d+\)$/),
        expect.stringMatching(
          /^warn: parallel\[2\] failed: ReferenceError: oops is not defined.* \(probe\.js:5:\d+\)$/,
        ),
      ]),
    );
  });

  it('C103 probe 38 B-097 a promise where a function is wanted, or no array: a TypeError that says how to mend it', () => {
    for (const name of ['started', 'noArray', 'nothing', 'sparse']) expect([name, table[name]]).toEqual(misuse(name));
    expect((table.started as Thrown).message).toMatch(/element 1 .*a promise.*parallel\(\[\(\) => agent/);
    expect((table.noArray as Thrown).message).toContain('a string of 3 characters ("abc")');
    expect(dispatched(run)).not.toContain('fast never');
  });

  it('C104 probe 39 nothing gives nothing', () => {
    expect(table.empty).toEqual([]);
  });

  it('C105 probe 40 4096 are taken, 4097 refused', () => {
    expect(table.many).toBe(4095);
    for (const name of ['tooMany', 'tooManyItems'])
      expect(table[name]).toMatchObject({ thrown: 'RangeError', message: expect.stringContaining('4096') });
  });

  it('C106 thunks may give anything, hold chains and further fan-outs', () => {
    expect(table.values).toEqual([1, null, null, [2], 'thenable']);
    expect(table.chains).toEqual([2, 2]);
  });

  it('C108 Promise.all and hand-made semaphores work beside it', () => {
    expect(table.all).toEqual(['fast', '1']);
    expect(table.semaphore).toBe(2);
  });
});

describe('pipeline()', () => {
  it('C110 probe 41 items do not wait for each other between stages', () => {
    expect(table.flow).toEqual(['fast', 'fast']);
    expect(table.seen).toEqual(['1 fast', '2 fast', '1 slow', '2 slow']);
  });

  it('C111 probe 42 a stage gets the value before, the item and its index; the first one the item twice', () => {
    expect(table.stageArgs).toEqual([
      [['a', 'a', 0], 'a', 0],
      [['b', 'b', 1], 'b', 1],
    ]);
  });

  it('C112 probe 43 null that a stage returns goes on to the next', () => {
    expect(table.nullPassed).toEqual([['got', null, 1]]);
  });

  it('C113 probe 44 a stage that throws makes its item null; its later stages are not called, others go on', () => {
    expect(table.stageThrows).toEqual([10, null, null]);
    expect(table.after).toEqual([1, 3]);
    expect(run.told).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^warn: pipeline\[1\] failed: two/),
        expect.stringMatching(/^warn: pipeline\[2\] failed: three/),
      ]),
    );
  });

  it('C114 probe 45 B-097 items that are no array, a stage that is no function', () => {
    for (const name of ['items', 'noItems', 'arrayLike', 'noStage']) expect([name, table[name]]).toEqual(misuse(name));
  });

  it('C115 probe 46 parallel() inside a stage', () => {
    expect(table.nested).toEqual([
      ['fast', 'none'],
      ['fast', 'none'],
    ]);
  });

  it('C116 without items or without stages', () => {
    expect(table.noItemsAtAll).toEqual([]);
    expect(table.zeroStages).toEqual([1, 2]);
  });
});

describe('phase()', () => {
  const phaseOf = (label: string) => eventsOf(run, 'call.queued').find((event) => event.label === label)?.phase;

  it('C120 probe 69 groups the calls after it; an option of a call changes only that call', () => {
    expect(['fast p1', 'fast p2', 'fast p3', 'fast p4'].map(phaseOf)).toEqual(['One', 'Two', 'One', 'One']);
    expect((run.state.phases as { title: string | null }[]).map(({ title }) => title)).toEqual([null, 'One', 'Two']);
    expect(table.stringResult).toEqual([true, true]);
  });

  it('C121 calls before any phase stand in no group', () => {
    expect(phaseOf('fast no phase')).toBeNull();
  });
});

describe('ceilings', () => {
  it('C160 probe 47 never more than --concurrency run at once, first come, first served; C164 waiting holds no place', async () => {
    const wide = await runProbes<{ all: string[] }>(
      project,
      `await probe('all', () => parallel(Array.from({ length: 9 }, (_, i) => async () => { await agent('delay 1 a' + i); return await parallel([() => agent('fast b' + i)]) })))`,
      { rules: RULES, flags: ['--concurrency', '3'], file: 'wide.js' },
    );
    let running = 0;
    let most = 0;
    for (const event of wide.events) {
      if (event.type === 'call.started') most = Math.max(most, ++running);
      if (event.type === 'call.finished') running--;
    }
    expect(most).toBe(3);
    expect(dispatched(wide)).toEqual(eventsOf(wide, 'call.queued').map(({ label }) => label));
    expect(wide.table.all).toEqual(Array(9).fill(['fast']));
  });

  it('C161 without the flag it is min(16, max(4, twice the cores))', () => {
    const cores = availableParallelism();
    const started = eventsOf(run, 'run.started')[0];
    expect(started?.concurrency).toBe(8);
    return runScript(project, `${META}return 1`, { file: 'default.js' }).then((plain) =>
      expect(eventsOf(plain, 'run.started')[0]?.concurrency).toBe(Math.min(16, Math.max(4, 2 * cores))),
    );
  });

  it('C162 probe 48 C107 B-060 the agent cap: null in slots with one line, thrown by a bare call; its text names the cap', async () => {
    const capped = await runProbes<{ slots: unknown[]; stages: unknown[]; bare: Thrown }>(
      project,
      `await probe('slots', () => parallel([1, 2, 3, 4, 5].map((i) => () => agent('fast ' + i))))
await probe('stages', () => pipeline([1, 2], (i) => agent('fast s' + i)))
await probe('bare', () => agent('fast bare'))`,
      { rules: RULES, flags: ['--max-agents', '3'], file: 'capped.js' },
    );
    expect(capped.table.slots).toEqual(['fast', 'fast', 'fast', null, null]);
    expect(capped.table.stages).toEqual([null, null]);
    expect(capped.table.bare).toMatchObject({ thrown: 'WorkflowAgentCapError', code: 'WF_AGENT_CAP' });
    expect(capped.table.bare.message).toMatch(/3 agents.*--max-agents/);
    expect(capped.told).toEqual([
      expect.stringMatching(/^warn: 2 of 5 slots of parallel\(\) dropped/),
      expect.stringMatching(/^warn: 2 of 2 slots of pipeline\(\) dropped/),
    ]);
    expect(dispatched(capped)).toHaveLength(3);
    expect(capped.code).toBe(3);
  });

  it('C162 probe 48 the 1001st call throws without a flag', async () => {
    const many = await runProbes<{ last: Thrown; n: number }>(
      project,
      `let n = 0
await probe('last', async () => { for (;;) { await agent('fast ' + n); n++ } })
out.n = n`,
      { rules: RULES, file: 'thousand.js' },
    );
    expect(many.table).toMatchObject({ n: 1000, last: { thrown: 'WorkflowAgentCapError' } });
  });

  it('C140 C141 C142 probe 49 C107 B-060 the budget: frozen, the next call throws, what runs may finish', async () => {
    const usage = { in: 1, out: 100 };
    const paid = await runProbes<Record<string, unknown>>(
      project,
      `await probe('start', () => [budget.total, budget.spent(), budget.remaining(), Object.isFrozen(budget)])
await agent('a'); await probe('one', () => [budget.spent(), budget.remaining()])
await probe('slots', () => parallel([1, 2, 3, 4].map((i) => () => agent('b' + i))))
await probe('end', () => [budget.spent(), budget.remaining()])
await probe('bare', () => agent('c'))`,
      {
        rules: [{ reply: 'x', usage, delayMs: 20 }],
        flags: ['--budget', '250', '--concurrency', '2'],
        file: 'paid.js',
      },
    );
    expect(paid.table.start).toEqual([250, 0, 250, true]);
    expect(paid.table.one).toEqual([100, 150]);
    // Two run at once, since 100 are held back for the first of them; both may finish although the second passes the ceiling.
    expect(paid.table.slots).toEqual(['x', 'x', null, null]);
    expect(paid.table.end).toEqual([300, 0]);
    expect(paid.table.bare).toMatchObject({ thrown: 'WorkflowBudgetExceededError', code: 'WF_BUDGET' });
    expect(paid.told).toEqual([expect.stringMatching(/^warn: 2 of 4 slots of parallel\(\) dropped: .*250/)]);
    const free = await runProbes<Record<string, unknown>>(
      project,
      "await probe('b', () => [budget.total, budget.spent(), String(budget.remaining())])",
      { file: 'free.js' },
    );
    expect(free.table.b).toEqual([null, 0, 'Infinity']);
  });
});
