/** What attempts cost: read from the short words that programs write, and added up. */
import type { CallUsage } from '../shared/outcome.js';

/** Reads `{ in, out, cacheRead?, usd? }`; numbers that make no sense count as absent. */
export function readUsage(words: Record<string, unknown>): CallUsage {
  const usage: CallUsage = { inputTokens: readCount(words.in) ?? 0, outputTokens: readCount(words.out) ?? 0 };
  const cacheReadTokens = readCount(words.cacheRead);
  if (cacheReadTokens !== undefined) usage.cacheReadTokens = cacheReadTokens;
  const usd = readCount(words.usd);
  if (usd !== undefined) usage.usd = usd;
  return usage;
}

/**
 * Reads a usage line of a program: what it tells as far as it can be understood, undefined where it has no number of
 * tokens or money at all. `isWhole`: nothing in it had to be passed over. `tellsOutput`: its output tokens are known.
 */
export function readUsageLine(words: Record<string, unknown>): {
  usage: CallUsage | undefined;
  isWhole: boolean;
  tellsOutput: boolean;
} {
  const isRead = (name: string): boolean => readCount(words[name]) !== undefined;
  const tellsAny = ['in', 'out', 'usd'].some(isRead);
  const isWhole = ['in', 'out', 'usd', 'cacheRead'].every((name) => words[name] == null || isRead(name));
  return { usage: tellsAny ? readUsage(words) : undefined, isWhole: tellsAny && isWhole, tellsOutput: isRead('out') };
}

const readCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** Adds up two costs. Where one of them does not know its money, the sum is that of the other and says so. */
export function sumUsage(a: CallUsage | undefined, b: CallUsage | undefined): CallUsage | undefined {
  if (!a || !b) return a ?? b;
  const sum: CallUsage = {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  };
  if (a.cacheReadTokens !== undefined || b.cacheReadTokens !== undefined) {
    sum.cacheReadTokens = (a.cacheReadTokens ?? 0) + (b.cacheReadTokens ?? 0);
  }
  if (a.usd === undefined && b.usd === undefined) return sum;
  sum.usd = a.usd == null && b.usd == null ? null : (a.usd ?? 0) + (b.usd ?? 0);
  if (sum.usd !== null && (a.usd == null || b.usd == null || a.usdPartial || b.usdPartial)) sum.usdPartial = true;
  return sum;
}
