/** What a turn has cost, from the places where agents tell it. Tokens are told by turn, money by session. */
import type { CallUsage } from '../../shared/outcome.js';

type Json = Readonly<Record<string, unknown>>;

/** `usage` of the answer (claude, codex, opencode, copilot), else `_meta.quota` (gemini). */
export function readTurnUsage(response: Json): CallUsage | undefined {
  return readUsage(asObject(response.usage)) ?? readQuota(asObject(asObject(response._meta)?.quota));
}

/**
 * Agents differ in whether tokens read from a cache and thoughts are parts of the other two numbers. Their sum says which.
 */
function readUsage(usage: Json | undefined): CallUsage | undefined {
  const given = count(usage?.inputTokens);
  const output = count(usage?.outputTokens);
  if (given === undefined || output === undefined) return undefined;
  const cacheRead = count(usage?.cachedReadTokens);
  const cached = (cacheRead ?? 0) + (count(usage?.cachedWriteTokens) ?? 0);
  const thoughts = count(usage?.thoughtTokens) ?? 0;
  const total = count(usage?.totalTokens) ?? given + output + cached + thoughts;
  const thoughtsApart = total >= given + output + thoughts && total !== given + output + cached;
  const result: CallUsage = {
    inputTokens: total >= given + output + cached ? given + cached : given,
    outputTokens: thoughtsApart ? output + thoughts : output,
  };
  if (cacheRead !== undefined) result.cacheReadTokens = cacheRead;
  return result;
}

function readQuota(quota: Json | undefined): CallUsage | undefined {
  const tokens = asObject(quota?.token_count);
  const input = count(tokens?.input_tokens);
  const output = count(tokens?.output_tokens);
  return input === undefined || output === undefined ? undefined : { inputTokens: input, outputTokens: output };
}

/** The model that answered, where the agent says so (gemini). */
export function readTurnModel(response: Json): string | undefined {
  const models = asObject(asObject(response._meta)?.quota)?.model_usage;
  const model = Array.isArray(models) ? asObject(models[0])?.model : undefined;
  return typeof model === 'string' ? model : undefined;
}

/** US dollars that the session has cost so far, from a `usage_update`. */
export function readSessionCost(update: Json): number | undefined {
  const cost = asObject(update.cost);
  return cost?.currency === 'USD' ? count(cost.amount) : undefined;
}

/**
 * Tokens and money of one turn: a session's money only grows, so a turn's is what has come on top.
 *
 * @param before dollars of the session before this turn
 */
export function joinUsage(
  tokens: CallUsage | undefined,
  cost: number | undefined,
  before: number,
): CallUsage | undefined {
  if (cost === undefined) return tokens;
  return { ...(tokens ?? { inputTokens: 0, outputTokens: 0 }), usd: Math.max(0, cost - before) };
}

export const asObject = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
