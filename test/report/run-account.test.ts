import { describe, expect, test } from 'vitest';
import { addToAccount, callsInOrder, countCalls, newRunAccount } from '../../src/report/run-account.js';
import { mixedRun } from './sample-events.js';

describe('the account of a run', () => {
  const events = mixedRun();
  const account = newRunAccount();
  for (const event of events) addToAccount(account, event);

  test('B-148 totals by logical call are those of the engine; hits and attempts stand apart', () => {
    const { abandoned: _, ...told } = account.finished?.counts ?? {};
    expect(countCalls(account.calls.values(), account.finished?.failures)).toEqual(told);
    expect(callsInOrder(account.calls).map((call) => [call.n, call.attempts, call.reused])).toEqual([
      [1, 0, true],
      [2, 0, true],
      [3, 0, true],
      [4, 2, false],
      [5, 2, false],
      [6, 1, false],
      [7, 0, false],
      [8, 1, false],
      [9, 1, false],
    ]);
  });

  test('B-148 events told twice count once', () => {
    const twice = newRunAccount();
    for (const event of events) {
      addToAccount(twice, event);
      addToAccount(twice, event);
    }
    expect(countCalls(twice.calls.values())).toEqual(countCalls(account.calls.values()));
  });

  test('a recovered failure is not counted as failed', () => {
    const failures = (account.finished?.failures ?? []).map((failure) => ({ ...failure, recovered: true }));
    expect(countCalls(account.calls.values(), failures)).toMatchObject({ failed: 0, recovered: 1 });
  });

  test('B-148 in the middle of a run, open calls are counted as calls only', () => {
    const half = newRunAccount();
    for (const event of events.slice(0, 20)) addToAccount(half, event);
    expect(countCalls(half.calls.values())).toEqual({
      calls: 7,
      ok: 3,
      failed: 0,
      recovered: 0,
      skipped: 0,
      noResult: 0,
      reused: 3,
      executed: 3,
    });
  });
});
