/** What a run may spend, against a model of calls that end in any order and cost what they like. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCeilings } from '../../src/engine/ceilings.js';
import { testSeed } from '../support/seeds.js';

interface Plan {
  ceiling: number;
  concurrency: number;
  costs: number[];
  /** Which of those in flight ends next. */
  picks: number[];
}

/** Runs all calls through the ceiling, as the dispatcher would; returns what they have cost. */
function spend({ ceiling, concurrency, costs, picks }: Plan, unit: 'tokens' | 'usd'): { spent: number; calls: number } {
  const limits =
    unit === 'tokens' ? { budgetTokens: ceiling, budgetUsd: null } : { budgetTokens: null, budgetUsd: ceiling };
  const gate = createCeilings({ maxAgents: 1_000_000, ...limits }, () => []);
  const inFlight: number[] = [];
  let next = 0;
  let spent = 0;
  let pick = 0;
  for (;;) {
    while (next < costs.length && inFlight.length < concurrency && gate.check() === 'start') {
      gate.start(next);
      inFlight.push(next++);
    }
    if (inFlight.length === 0) break;
    const [n] = inFlight.splice((picks[pick++ % picks.length] as number) % inFlight.length, 1) as [number];
    const cost = costs[n] as number;
    spent += cost;
    gate.end(n, { inputTokens: 0, outputTokens: unit === 'tokens' ? cost : 0, usd: unit === 'usd' ? cost : 0 }, false);
  }
  // With nothing in flight a call is started or refused, never left to wait.
  expect(next === costs.length || typeof gate.check() === 'object').toBe(true);
  return { spent, calls: next };
}

const picks = fc.array(fc.nat(1000), { minLength: 1, maxLength: 50 });
const seed = testSeed();

describe('B-129 how far a ceiling can be passed', () => {
  it('by less than one call, when all calls cost the same and no more than the first guess', () => {
    const plan = fc.record({
      ceiling: fc.integer({ min: 1, max: 200_000 }),
      concurrency: fc.integer({ min: 1, max: 64 }),
      cost: fc.integer({ min: 1, max: 10_000 }),
      picks,
    });
    fc.assert(
      fc.property(plan, ({ cost, ...rest }) => {
        const { spent } = spend({ ...rest, costs: Array<number>(300).fill(cost) }, 'tokens');
        expect(spent).toBeLessThan(rest.ceiling + cost);
      }),
      { seed },
    );
  });

  it('by what the first wave was guessed too low, when calls cost more than the guess; by one call from the second wave on', () => {
    const plan = fc.record({
      ceiling: fc.integer({ min: 1, max: 200_000 }),
      concurrency: fc.integer({ min: 1, max: 64 }),
      cost: fc.integer({ min: 10_001, max: 100_000 }),
      picks,
    });
    fc.assert(
      fc.property(plan, ({ cost, ...rest }) => {
        const { spent } = spend({ ...rest, costs: Array<number>(300).fill(cost) }, 'tokens');
        const firstWave = Math.min(rest.concurrency, Math.ceil(rest.ceiling / 10_000));
        expect(spent).toBeLessThan(Math.max(rest.ceiling + cost, firstWave * cost + 1));
      }),
      { seed },
    );
  });

  it('by less than one call and what those in flight cost beyond the mean, whatever calls cost', () => {
    const plan = fc.record({
      ceiling: fc.integer({ min: 1, max: 50_000 }),
      concurrency: fc.integer({ min: 1, max: 16 }),
      costs: fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 200, maxLength: 200 }),
      picks,
    });
    fc.assert(
      fc.property(plan, (given) => {
        const { spent } = spend(given, 'tokens');
        // No call costs more than 5,000 beyond the mean, and at most `concurrency` are in flight.
        expect(spent).toBeLessThan(given.ceiling + given.concurrency * 5_000);
      }),
      { seed },
    );
  });

  it('the same rule in money', () => {
    expect(spend({ ceiling: 1, concurrency: 8, costs: Array<number>(20).fill(0.25), picks: [0] }, 'usd')).toEqual({
      spent: 1,
      calls: 4,
    });
  });
});

it('what a call under way has used already is held back, where that is more than the mean', () => {
  const gate = createCeilings({ maxAgents: 100, budgetTokens: 1_000 }, () => [{ outputTokens: 100, usd: null }]);
  gate.start(1);
  expect(gate.check()).toBe('start');
  gate.report(1, { inputTokens: 0, outputTokens: 1_000 });
  expect(gate.check()).toBe('wait');
  gate.end(1, { inputTokens: 0, outputTokens: 999 }, false);
  expect(gate.check()).toBe('start');
});

it('a failed call of unknown cost counts as the mean of the others, a made-up answer as nothing', () => {
  const gate = createCeilings({ maxAgents: 100, budgetTokens: null, budgetUsd: 3.5 }, () => []);
  for (const n of [1, 2, 3, 4]) gate.start(n);
  gate.end(1, { inputTokens: 0, outputTokens: 1, usd: 1 }, false);
  gate.end(2, undefined, true);
  expect(gate.check()).toBe('start');
  gate.start(5);
  gate.end(5, { inputTokens: 0, outputTokens: 1, usd: 1 }, false);
  gate.end(3, undefined, false);
  gate.end(4, undefined, false);
  // 1 + 0 + 1 + twice the mean of those that cost anything, 1.
  expect(gate.check()).toMatchObject({ kind: 'failed', error: { code: 'WF_BUDGET' } });
});

it('an answer that told no tokens counts as the mean of the others, and one attempt of unknown cost beside a known one too', () => {
  const tokens = createCeilings({ maxAgents: 100, budgetTokens: 200 }, () => []);
  for (const n of [1, 2]) tokens.start(n);
  tokens.end(1, { inputTokens: 0, outputTokens: 100 }, false);
  expect(tokens.check()).not.toBe('start');
  tokens.end(2, undefined, false);
  expect(tokens.check()).toMatchObject({ error: { code: 'WF_BUDGET' } });

  const partly = createCeilings({ maxAgents: 100, budgetTokens: 200 }, () => []);
  for (const n of [1, 2]) partly.start(n);
  partly.end(1, { inputTokens: 0, outputTokens: 100 }, false);
  partly.end(2, { inputTokens: 10, outputTokens: 0 }, false, true);
  expect(partly.check()).toMatchObject({ error: { code: 'WF_BUDGET' } });

  const usd = createCeilings({ maxAgents: 100, budgetTokens: null, budgetUsd: 3 }, () => []);
  for (const n of [1, 2]) usd.start(n);
  usd.end(1, { inputTokens: 0, outputTokens: 1, usd: 1 }, false);
  usd.end(2, { inputTokens: 0, outputTokens: 1, usd: 1, usdPartial: true }, false);
  expect(usd.check()).toMatchObject({ error: { code: 'WF_BUDGET' } });
});

it('of a cap on agents exactly so many start, whether they have ended or not', () => {
  const gate = createCeilings({ maxAgents: 3, budgetTokens: null, budgetUsd: null }, () => []);
  for (const n of [1, 2, 3]) {
    expect(gate.check()).toBe('start');
    gate.start(n);
    if (n < 3) gate.end(n, undefined, false);
  }
  expect(gate.check()).toMatchObject({ error: { code: 'WF_AGENT_CAP', message: expect.stringContaining('3 agents') } });
  gate.end(3, undefined, true);
  expect(gate.check()).toMatchObject({ error: { code: 'WF_AGENT_CAP' } });
});

it('an end counts once, that of a call which never started not at all, and neither holds anything back later', () => {
  const usage = (outputTokens: number) => ({ inputTokens: 0, outputTokens, usd: outputTokens / 1000 });
  for (const limits of [
    { maxAgents: 100, budgetTokens: 1_000, budgetUsd: null },
    { maxAgents: 100, budgetTokens: null, budgetUsd: 1 },
  ]) {
    const gate = createCeilings(limits, () => [{ outputTokens: 100, usd: 0.1 }]);
    gate.start(1);
    gate.report(1, usage(1_000));
    expect(gate.check()).toBe('wait');
    for (let i = 0; i < 5; i++) gate.end(1, usage(300), false);
    gate.end(9, usage(5_000), false);
    gate.report(1, usage(1_000));
    gate.start(2);
    // 300 spent, 300 held back for the second; all that the first had told before its end is void.
    expect(gate.check()).toBe('start');
  }
});

it('what recorded answers have cost is the first guess, those of no known cost aside', () => {
  for (const limits of [
    { maxAgents: 100, budgetTokens: 1_000, budgetUsd: null },
    { maxAgents: 100, budgetTokens: null, budgetUsd: 1 },
  ]) {
    const gate = createCeilings(limits, () => [
      { outputTokens: 300, usd: 0.3 },
      { outputTokens: 0, usd: 0 },
      { outputTokens: 0, usd: null },
      { outputTokens: 300, usd: 0.3 },
    ]);
    const started = [1, 2, 3, 4, 5].filter((n) => {
      if (gate.check() !== 'start') return false;
      gate.start(n);
      return true;
    });
    expect(started).toEqual([1, 2, 3, 4]);
  }
});

it('what cost nothing, as nobody was asked, does not lower what the others hold back', () => {
  const usage = { inputTokens: 0, outputTokens: 300, usd: 0.3 };
  for (const limits of [
    { maxAgents: 100, budgetTokens: 1_000, budgetUsd: null },
    { maxAgents: 100, budgetTokens: null, budgetUsd: 1 },
  ]) {
    const gate = createCeilings(limits, () => [{ outputTokens: 300, usd: 0.3 }]);
    const startAll = (from: number): number => {
      let n = from;
      for (; gate.check() === 'start'; n++) gate.start(n);
      return n - from;
    };
    for (const n of [1, 2]) gate.start(n);
    gate.end(1, undefined, true);
    expect(startAll(3)).toBe(3);
    gate.end(2, usage, false);
    // One of them has cost what was held back for it: nothing further fits.
    expect(startAll(6)).toBe(0);
  }
});
