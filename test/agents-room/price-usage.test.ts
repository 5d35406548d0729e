import { expect, it } from 'vitest';
import { addCost, priceUsage } from '../../src/agents/price-usage.js';

const PRICES = {
  small: { in: 1, out: 5 },
  'small-2': { in: 2, out: 10, cacheRead: 0.2 },
};
const usage = (inputTokens: number, outputTokens: number, cacheReadTokens?: number) =>
  cacheReadTokens === undefined ? { inputTokens, outputTokens } : { inputTokens, outputTokens, cacheReadTokens };

it.each([
  ['tokens in and out, by the million', usage(1_000_000, 100_000), 'small', 1.5],
  ['read from a cache: at its own price', usage(1_000_000, 0, 900_000), 'small-2', 0.38],
  ['read from a cache without a price of its own: as any other', usage(1_000_000, 0, 900_000), 'small', 1],
  ['more from the cache than was read: no negative price', usage(100, 0, 900), 'small-2', 0.00002],
  ['a version behind the name', usage(0, 1_000_000), 'small-20260101', 5],
  ['the longest name that fits', usage(0, 1_000_000), 'small-2-20260101', 10],
  ['another model with the same beginning', usage(1, 1), 'smaller', null],
  ['a model without a price', usage(1, 1), 'large', null],
  ['a name of every object', usage(1, 1), 'constructor', null],
  ['no model', usage(1, 1), undefined, null],
])('%s', (_, used, model, usd) => {
  const price = priceUsage(used, model, PRICES);
  if (usd === null) expect(price).toBeNull();
  else expect(price).toBeCloseTo(usd, 10);
});

it('reported money wins over the table, and unknown money stays unknown', () => {
  expect(addCost({ ...usage(1, 1), usd: 0 }, 'small', PRICES)).toMatchObject({ usd: 0, usdSource: 'reported' });
  expect(addCost(usage(0, 200_000), 'small', PRICES)).toMatchObject({ usd: 1, usdSource: 'priced' });
  expect(addCost(usage(1, 1), 'large', PRICES)).toMatchObject({ usd: null, usdSource: 'unknown' });
  expect(addCost(usage(1, 1), 'small', undefined)).toMatchObject({ usd: null, usdSource: 'unknown' });
});
