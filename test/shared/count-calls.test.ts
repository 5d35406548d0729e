/** Which failures a later call makes up for, told in histories of calls. */
import { describe, expect, it } from 'vitest';
import { type CountedCall, countCalls, countPhases } from '../../src/shared/count-calls.js';

/** Calls by what happened, in this order: `ask n key`, `ok n`, `fail n`. */
function play(...events: string[]): CountedCall[] {
  const calls = new Map<number, { -readonly [Field in keyof CountedCall]: CountedCall[Field] }>();
  let askedByEnd = 0;
  for (const event of events) {
    const [what, number, key = ''] = event.split(' ');
    const n = Number(number);
    const call = calls.get(n);
    if (call === undefined) {
      const sets = { reused: false, executed: true, phase: `phase of ${n}`, askedByEnd: 0 };
      calls.set(n, { n, key, status: 'running', ...sets });
      askedByEnd = Math.max(askedByEnd, n);
    } else Object.assign(call, { status: what === 'ok' ? 'ok' : 'failed', askedByEnd });
  }
  return [...calls.values()];
}

const failuresOf = (...events: string[]): [failed: number, recovered: number] => {
  const { failed, recovered } = countCalls(play(...events));
  return [failed, recovered];
};

describe('a failed call', () => {
  it('is recovered by a call that asked the same after it, and was answered', () => {
    expect(failuresOf('ask 1 a', 'fail 1', 'ask 2 a', 'ok 2')).toEqual([0, 1]);
  });

  it('is not recovered while that call is open, or by another question', () => {
    expect(failuresOf('ask 1 a', 'fail 1', 'ask 2 a')).toEqual([1, 0]);
    expect(failuresOf('ask 1 a', 'fail 1', 'ask 2 b', 'ok 2')).toEqual([1, 0]);
  });

  it('is not recovered by equal calls side by side, whichever of them ends first', () => {
    expect(failuresOf('ask 1 a', 'ask 2 a', 'fail 1', 'ok 2')).toEqual([1, 0]);
    expect(failuresOf('ask 1 a', 'ask 2 a', 'ok 2', 'fail 1')).toEqual([1, 0]);
    expect(failuresOf('ask 1 a', 'ask 2 a', 'ok 1', 'fail 2')).toEqual([1, 0]);
    expect(failuresOf('ask 1 a', 'ask 2 a', 'fail 2', 'ok 1')).toEqual([1, 0]);
  });

  it('is not recovered by what was answered before it was asked', () => {
    expect(failuresOf('ask 1 a', 'ok 1', 'ask 2 a', 'fail 2')).toEqual([1, 0]);
  });

  it('is recovered with all tries of its loop when the last of them is answered, and with none otherwise', () => {
    const twice = ['ask 1 a', 'fail 1', 'ask 2 a', 'fail 2', 'ask 3 a'];
    expect(failuresOf(...twice, 'ok 3')).toEqual([0, 2]);
    expect(failuresOf(...twice, 'fail 3')).toEqual([3, 0]);
  });

  it('is recovered also where another one beside it is not', () => {
    expect(failuresOf('ask 1 a', 'ask 2 a', 'fail 1', 'ask 3 a', 'fail 2', 'ok 3')).toEqual([1, 1]);
  });

  it('is not recovered where it has no key, or where nobody knows what had been asked for when it failed', () => {
    expect(failuresOf('ask 1', 'fail 1', 'ask 2', 'ok 2')).toEqual([1, 0]);
    const calls = play('ask 1 a', 'fail 1', 'ask 2 a', 'ok 2');
    const unknown = calls.map((call) => ({ ...call, askedByEnd: Number.POSITIVE_INFINITY }));
    expect(countCalls(unknown)).toMatchObject({ failed: 1, recovered: 0 });
  });

  it('counts as recovered in its own phase, also where it was made up for in another', () => {
    expect(countPhases(play('ask 1 a', 'fail 1', 'ask 2 a', 'ok 2'))).toMatchObject([
      { title: 'phase of 1', counts: { calls: 1, failed: 0, recovered: 1 } },
      { title: 'phase of 2', counts: { calls: 1, ok: 1 } },
    ]);
  });
});

describe('a call that has not ended', () => {
  it('counts as a call and as nothing else: a run in progress has lost no result', () => {
    const [running] = play('ask 1 a') as [CountedCall];
    const countsOf = (status: CountedCall['status']) => countCalls([{ ...running, status }]);
    const zero = { ok: 0, failed: 0, recovered: 0, skipped: 0, noResult: 0, abandoned: 0 };
    for (const status of ['queued', 'running'] as const) expect(countsOf(status)).toMatchObject({ calls: 1, ...zero });
    expect(countsOf('no-result')).toMatchObject({ calls: 1, ...zero, noResult: 1 });
  });

  it('counts in its phase, where it has one and where it has none', () => {
    const [call] = play('ask 1 a') as [CountedCall];
    const phases = countPhases([{ ...call, phase: null }, call, { ...call, n: 2, phase: null }]);
    expect(phases.map(({ title, counts }) => [title, counts.calls])).toEqual([
      [null, 2],
      ['phase of 1', 1],
    ]);
  });
});
