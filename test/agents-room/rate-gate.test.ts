/** The gate of a backend that asks for fewer requests, on a clock that stands still until it is moved. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BackendError, defineBackend } from '../../src/agents/backend.js';
import { executeCall } from '../../src/agents/execute-call.js';
import { createRateGate } from '../../src/agents/rate-gate.js';
import { waitFor } from '../support/wait.js';
import { makeContext, makePolicy, makeRequest } from './call-kit.js';

function makeClock() {
  let now = 0;
  let sleepers: { until: number; wake: () => void }[] = [];
  return {
    now: () => now,
    sleep: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        sleepers.push({ until: now + ms, wake: resolve });
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
    move(ms: number) {
      now += ms;
      const due = sleepers.filter(({ until }) => until <= now);
      sleepers = sleepers.filter(({ until }) => until > now);
      for (const { wake } of due) wake();
    },
    get sleeping() {
      return sleepers.length;
    },
  };
}

/** A backend whose attempts end when the test says so. */
function makeHeld() {
  const open = new Map<number, { answer: () => void; refuse: (retryAfterMs: number) => void }>();
  const backend = defineBackend({
    name: 'held',
    run: (request) =>
      new Promise((resolve, reject) => {
        open.set(request.n, {
          answer: () => resolve({ text: 'ok' }),
          refuse: (retryAfterMs) => reject(new BackendError('rate_limit', 'slow', { retryAfterMs })),
        });
      }).finally(() => open.delete(request.n)) as Promise<{ text: string }>,
  });
  return { backend, open };
}

test('B-080 B-134 a refused wave: all wait, half of it goes on, each answer adds one; refusals of one wave halve once', async () => {
  const clock = makeClock();
  const gate = createRateGate(clock, () => 0, 16);
  const { backend, open } = makeHeld();
  const ended: number[] = [];
  const calls = Array.from({ length: 20 }, (_, i) => i + 1).map((n) =>
    executeCall(backend, makeRequest({ n }), makePolicy(), makeContext({ gate })).then((outcome) => {
      ended.push(n);
      return outcome.kind;
    }),
  );
  // The dispatcher would let 16 in; here all 20 are in flight at once.
  expect(open.size).toBe(20);
  for (const n of [1, 2, 3, 4, 5, 6, 7, 8]) open.get(n)?.refuse(5_000);
  await waitFor('the refused to wait', () => clock.sleeping === 8);
  for (const call of [...open.values()]) call.answer();
  await waitFor('those that were under way to end', () => ended.length === 12);
  // 20 in flight at the first refusal: width 10, and 12 answers later it is without a bound again.
  clock.move(5_000);
  await waitFor('the refused to be tried again', () => open.size === 8);
  open.get(1)?.refuse(1_000);
  await waitFor('one to wait', () => clock.sleeping === 1);
  for (const n of [2, 3, 4]) open.get(n)?.refuse(1_000);
  await waitFor('four to wait', () => clock.sleeping === 4);
  for (const n of [5, 6, 7, 8]) open.get(n)?.refuse(1_000);
  await waitFor('all to wait', () => clock.sleeping === 8);
  clock.move(1_000);
  // 8 in flight at the first of these refusals: 4 at once now, although 8 were refused.
  await waitFor('half of them to be tried', () => open.size === 4);
  for (let left = 8; left > 0; left--) {
    const wide = open.size;
    const last = ended.length;
    open.values().next().value?.answer();
    await waitFor('one more to end', () => ended.length === last + 1);
    // Its place is free, and one more.
    await waitFor('the places to be taken', () => open.size === Math.min(wide + 1, left - 1));
  }
  expect(await Promise.all(calls)).toEqual(Array(20).fill('ok'));
});

test('calls that this machine has no room for wait for those under way, however long these take', async () => {
  const clock = makeClock();
  const gate = createRateGate(clock, () => 0, 16);
  const ends: (() => void)[] = [];
  const room = 3;
  const backend = defineBackend({
    name: 'tight',
    run: async () => {
      if (ends.length === room) throw new BackendError('overloaded', 'no room', { noRoom: true });
      await new Promise<void>((resolve) => ends.push(resolve));
      return { text: 'ok' };
    },
  });
  const contexts = Array.from({ length: 10 }, () => makeContext({ gate, sleep: clock.sleep }));
  let over = 0;
  const calls = contexts.map((context, n) =>
    executeCall(backend, makeRequest({ n }), makePolicy(), context).finally(() => over++),
  );
  while (over < 10) {
    // An hour in which no agent ends.
    for (let minute = 0; minute < 60; minute++) {
      await turn();
      clock.move(60_000);
    }
    await turn();
    expect(ends.length).toBeGreaterThan(0);
    ends.shift()?.();
    await turn();
  }
  expect((await Promise.all(calls)).map(({ kind }) => kind)).toEqual(Array(10).fill('ok'));
  expect(Math.max(...contexts.map(({ attempts }) => attempts.length))).toBeLessThan(8);
});

test('one call that waits for a place and is stopped gives its turn on', async () => {
  const clock = makeClock();
  const gate = createRateGate(clock, () => 0, 8);
  const { backend, open } = makeHeld();
  const contexts = [1, 2, 3].map(() => makeContext({ gate }));
  const calls = contexts.map((context, i) => executeCall(backend, makeRequest({ n: i + 1 }), makePolicy(), context));
  for (const n of [1, 2, 3]) open.get(n)?.refuse(100);
  await waitFor('all to wait', () => clock.sleeping === 3);
  clock.move(100);
  await waitFor('one to be tried', () => open.size === 1);
  const first = [...open.keys()][0] as number;
  const [second, third] = [1, 2, 3].filter((n) => n !== first) as [number, number];
  contexts[second - 1]?.controller.abort();
  expect(await calls[second - 1]).toMatchObject({ kind: 'cancelled' });
  open.get(first)?.answer();
  await waitFor('the other to be tried', () => open.has(third));
  open.get(third)?.answer();
  expect((await Promise.all(calls)).map(({ kind }) => kind).sort()).toEqual(['cancelled', 'ok', 'ok']);
});

test('B-078 a call that waits for another try has no result once the run starts nothing more; one under way may finish', async () => {
  const clock = makeClock();
  const gate = createRateGate(clock, () => 0, 8);
  const { backend, open } = makeHeld();
  const halt = new AbortController();
  const make = (n: number) =>
    executeCall(
      backend,
      makeRequest({ n }),
      makePolicy(),
      makeContext({ gate, noMoreAttempts: halt.signal, sleep: clock.sleep }),
    );
  const [waits, runs, later] = [make(1), make(2), make(3)];
  open.get(1)?.refuse(60_000);
  await waitFor('the wait', () => clock.sleeping === 1);
  halt.abort();
  expect(await waits).toEqual({ kind: 'cancelled', usage: undefined, attempts: 1 });
  open.get(2)?.answer();
  expect(await runs).toMatchObject({ kind: 'ok' });
  open.get(3)?.refuse(1);
  expect(await later).toMatchObject({ kind: 'cancelled', attempts: 1 });
  expect(await make(4)).toMatchObject({ kind: 'cancelled', attempts: 0 });
});

test('a call that was woken and then stopped leaves its chance to the next', async () => {
  const clock = makeClock();
  const gate = createRateGate(clock, () => 0);
  expect(gate.enter()).toBe(0);
  gate.leave(false);
  gate.hold(0, 0);
  // Width 1 now: one is inside, two are parked.
  expect(gate.enter()).toBe(1);
  const stop = new AbortController();
  const entered: string[] = [];
  const second = gate.wait(stop.signal).catch(() => 'stopped');
  void gate.wait(new AbortController().signal).then(() => entered.push('third'));
  await new Promise((resolve) => setImmediate(resolve));
  // The one inside is refused again: the second is woken into a new hold, and stopped there.
  gate.leave(false);
  gate.hold(1_000, 1);
  await waitFor('the second to wait for the time', () => clock.sleeping === 1);
  stop.abort();
  expect(await second).toBe('stopped');
  await waitFor('the third to wait for the time', () => clock.sleeping === 2);
  clock.move(1_000);
  await waitFor('the third to be let in', () => entered.length === 1);
});
