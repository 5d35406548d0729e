import { deliveredTokens } from './calls.js';
import { config } from './host.js';
import { freeze, G, lock } from './primordials.js';

const total = config.budgetTotal;

lock(
  G,
  'budget',
  freeze({
    total,
    spent: () => deliveredTokens(),
    remaining: () =>
      total === null ? Number.POSITIVE_INFINITY : total > deliveredTokens() ? total - deliveredTokens() : 0,
  }),
  true,
);
