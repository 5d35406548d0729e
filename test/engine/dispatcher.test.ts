import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CallOutcome } from '../../src/agents/execute-call.js';
import { createDispatcher, type DispatchPorts } from '../../src/engine/dispatcher.js';
import { testSeed } from '../support/seeds.js';

const answered: CallOutcome = { kind: 'ok', output: '1', usage: undefined, attempts: 1 };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Calls that are answered at once, and what happens to them in order. */
function openDispatcher(ports: Partial<DispatchPorts> = {}) {
  const log: string[] = [];
  const dispatcher = createDispatcher({
    concurrency: 1_000_000,
    check: () => 'start',
    started: (n) => log.push(`started ${n}`),
    ...ports,
  });
  const add = (n: number): void =>
    dispatcher.add({ n, execute: async () => answered, settle: () => log.push(`settled ${n}`) });
  const count = (what: string): number => log.filter((line) => line.startsWith(what)).length;
  return { dispatcher, add, log, count };
}

it('calls that waited for the same thing start in portions, so that the first answers are on their way before the last call starts', async () => {
  let isShut = true;
  const { dispatcher, add, count } = openDispatcher({ check: () => (isShut ? 'wait' : 'start') });
  for (let n = 1; n <= 1000; n++) add(n);
  isShut = false;
  dispatcher.wake();
  const first = count('started');
  expect(first).toBeLessThan(100);
  await turn();
  expect(count('settled')).toBeGreaterThanOrEqual(first);
  while (dispatcher.queued > 0) await turn();
  await dispatcher.idle();
  expect([count('started'), count('settled')]).toEqual([1000, 1000]);
});

it('a gate that is shut between two portions is asked before the next one, and a stop is final', async () => {
  let isShut = true;
  const { dispatcher, add, count } = openDispatcher({ check: () => (isShut ? 'wait' : 'start') });
  for (let n = 1; n <= 1000; n++) add(n);
  isShut = false;
  dispatcher.wake();
  isShut = true;
  const first = count('started');
  for (let i = 0; i < 5; i++) await turn();
  expect(count('started')).toBe(first);
  isShut = false;
  dispatcher.wake();
  dispatcher.stop();
  const second = count('started');
  for (let i = 0; i < 5; i++) await turn();
  await dispatcher.idle();
  expect([count('started'), count('settled')]).toEqual([second, second]);
});

const refused: CallOutcome = {
  kind: 'failed',
  error: { name: 'E', code: 'E', message: 'refused' },
  tell: 'throw',
  shared: false,
  usage: undefined,
  attempts: 0,
};

it('whatever is added, dropped, refused and ends: each call starts once, in order, never above the cap, and a drop takes that call alone', async () => {
  const step = fc.oneof(
    fc.record({ add: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ end: fc.nat(9) }),
    fc.record({ drop: fc.nat(40) }),
    fc.record({ gate: fc.constantFrom<'start' | 'wait' | 'refuse'>('start', 'start', 'wait', 'refuse') }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(step, { maxLength: 60, size: 'max' }),
      async (concurrency, steps) => {
        let gate: 'start' | 'wait' | 'refuse' = 'start';
        const log: string[] = [];
        const ends = new Map<number, () => void>();
        const dispatcher = createDispatcher({
          concurrency,
          check: () => (gate === 'refuse' ? refused : gate),
          started: (n) => log.push(`started ${n}`),
        });
        const rules = { log: [] as string[], queue: [] as number[], running: [] as number[] };
        const startByRules = (): void => {
          while (rules.running.length < concurrency && rules.queue.length > 0 && gate !== 'wait') {
            const n = rules.queue.shift() as number;
            rules.log.push(gate === 'start' ? `started ${n}` : `settled ${n} failed`);
            if (gate === 'start') rules.running.push(n);
          }
        };
        let n = 0;
        for (const one of steps) {
          if ('add' in one) {
            for (let i = 0; i < one.add; i++) {
              const added = ++n;
              rules.queue.push(added);
              startByRules();
              dispatcher.add({
                n: added,
                execute: () => new Promise((resolve) => ends.set(added, () => resolve(answered))),
                settle: ({ kind }) => log.push(`settled ${added} ${kind}`),
              });
            }
          } else if ('end' in one) {
            const [ended] = rules.running.splice(one.end % Math.max(1, rules.running.length), 1);
            if (ended === undefined) continue;
            rules.log.push(`settled ${ended} ok`);
            startByRules();
            ends.get(ended)?.();
          } else if ('drop' in one) {
            const at = rules.queue.indexOf(one.drop);
            expect(dispatcher.drop(one.drop)?.n).toBe(at < 0 ? undefined : one.drop);
            if (at >= 0) rules.queue.splice(at, 1);
          } else {
            gate = one.gate;
            startByRules();
            dispatcher.wake();
          }
          await turn();
          expect(log).toEqual(rules.log);
          expect([dispatcher.running, dispatcher.queued]).toEqual([rules.running.length, rules.queue.length]);
          let told = false;
          void dispatcher.idle().then(() => {
            told = true;
          });
          await turn();
          expect(told).toBe(rules.running.length === 0);
        }
      },
    ),
    { seed: testSeed(), numRuns: 150 },
  );
});

it.each([['start'], [refused]] as const)(
  'a check that ends the run starts and settles nothing, whatever it says: %j',
  (verdict) => {
    const { dispatcher, add, log } = openDispatcher({
      check() {
        dispatcher.stop();
        return verdict;
      },
    });
    for (const n of [1, 2]) add(n);
    dispatcher.wake();
    expect([log, dispatcher.running, dispatcher.queued]).toEqual([[], 0, 2]);
  },
);

it('who waits for the last call is told when that ends, and not before', async () => {
  const ends: (() => void)[] = [];
  const { dispatcher } = openDispatcher();
  const execute = (): Promise<CallOutcome> => new Promise((resolve) => ends.push(() => resolve(answered)));
  for (const n of [1, 2]) dispatcher.add({ n, execute, settle: () => {} });
  let told = false;
  const idle = dispatcher.idle().then(() => {
    told = true;
  });
  ends[0]?.();
  await turn();
  expect(told).toBe(false);
  ends[1]?.();
  await idle;
});

it('of thousands that wait none is lost or started twice, also with some dropped from among them', async () => {
  const { dispatcher, add, log } = openDispatcher({ concurrency: 3 });
  for (let n = 1; n <= 5000; n++) add(n);
  const dropped = [4, 1024, 1025, 1026, 3000, 5000];
  for (const n of dropped) expect(dispatcher.drop(n)?.n).toBe(n);
  while (dispatcher.queued > 0 || dispatcher.running > 0) await turn();
  const started = log.filter((line) => line.startsWith('started')).map((line) => Number(line.slice(8)));
  expect(started).toEqual(Array.from({ length: 5000 }, (_, i) => i + 1).filter((n) => !dropped.includes(n)));
});
