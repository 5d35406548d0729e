/** What a call cost in money: as the backend reported it, else by a table of prices, else unknown. Never 0 by guess. */
import type { CallUsage } from '../shared/outcome.js';

/** US dollars for a million tokens. */
export interface ModelPrice {
  /** Tokens that were read and did not come from a cache. */
  in: number;
  out: number;
  /** Tokens read from a cache; without it they cost what others cost. */
  cacheRead?: number | undefined;
}

/** Model name → its price. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

const MILLION = 1_000_000;

/**
 * US dollars by the table; `null` when the model is not known or has no price.
 *
 * @example priceUsage({ inputTokens: 1000, outputTokens: 500 }, 'small', { small: { in: 1, out: 4 } }) // 0.003
 */
export function priceUsage(usage: CallUsage, model: string | undefined, table: PriceTable): number | null {
  const price = model === undefined ? undefined : findPrice(model, table);
  if (price === undefined) return null;
  const cached = Math.min(usage.cacheReadTokens ?? 0, usage.inputTokens);
  const read = (usage.inputTokens - cached) * price.in + cached * (price.cacheRead ?? price.in);
  return (read + usage.outputTokens * price.out) / MILLION;
}

/** Its own name, else the name that it has without a version behind it (`small-20260101`, `small@2`, `small:8b`). */
function findPrice(model: string, table: PriceTable): ModelPrice | undefined {
  if (Object.hasOwn(table, model)) return table[model];
  const versioned = Object.keys(table).filter(
    (name) => model.startsWith(name) && /^[-@:]\d/.test(model.slice(name.length)),
  );
  const longest = versioned.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : table[longest];
}

/** The usage with its money, and where that comes from. */
export function addCost(usage: CallUsage, model: string | undefined, table: PriceTable | undefined): CallUsage {
  if (typeof usage.usd === 'number') return { ...usage, usdSource: 'reported' };
  const usd = table === undefined ? null : priceUsage(usage, model, table);
  return { ...usage, usd, usdSource: usd === null ? 'unknown' : 'priced' };
}

/** Nobody is charged for an answer that was made up; a rule of the mock may say otherwise, to try a script with it. */
export const costNothing = (usage: CallUsage | undefined): CallUsage => ({
  ...(usage ?? { inputTokens: 0, outputTokens: 0 }),
  usd: usage?.usd ?? 0,
});
