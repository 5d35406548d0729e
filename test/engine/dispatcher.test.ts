import { expect, it } from 'vitest';
import type { CallOutcome } from '../../src/agents/execute-call.js';
import { createDispatcher, type DispatchPorts } from '../../src/engine/dispatcher.js';

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
