/** Numbers as people read them. Exact figures stand in the JSON forms. */
import type { Usage } from '../shared/outcome.js';

/**
 * A length of time.
 *
 * @param ms milliseconds; negative counts as 0
 * @example formatDuration(185_000) // '3 min 5 s'
 */
export function formatDuration(ms: number): string {
  const length = Math.max(0, ms);
  if (length < 999.5) return `${Math.round(length)} ms`;
  if (length < 9_950) return `${(length / 1000).toFixed(1)} s`;
  const seconds = Math.round(length / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return joinUnits(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  const minutes = Math.round(seconds / 60);
  if (minutes < 24 * 60) return joinUnits(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  const hours = Math.round(minutes / 60);
  return joinUnits(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function joinUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

/** A whole number with commas: `12,345`. */
export function formatCount(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/**
 * A number of tokens: exact below 10,000, then to three or four digits.
 *
 * @example formatTokens(1_234_567) // '1.23M'
 */
export function formatTokens(tokens: number): string {
  if (tokens < 10_000) return formatCount(tokens);
  if (tokens < 999_950) return `${(tokens / 1000).toFixed(1)}k`;
  if (tokens < 999_995_000) return `${(tokens / 1_000_000).toFixed(2)}M`;
  return `${(tokens / 1_000_000_000).toFixed(2)}G`;
}

/** Tokens of a run: `unknown` where agents were asked and not one of them told any, never 0 by guess. */
export function formatTokensOf(usage: Pick<Usage, 'inputTokens' | 'outputTokens' | 'usd'>): string {
  if (!areTokensTold(usage)) return 'unknown';
  return `${formatTokens(usage.inputTokens)} in, ${formatTokens(usage.outputTokens)} out`;
}

/** Money that is known was told with its tokens, or nothing was asked of anybody. */
export const areTokensTold = (usage: Pick<Usage, 'inputTokens' | 'outputTokens' | 'usd'>): boolean =>
  usage.inputTokens > 0 || usage.outputTokens > 0 || usage.usd !== null;

/** Output tokens that reused answers had cost. */
export const formatSavedTokens = ({
  savedOutputTokens,
  savedUsd,
}: Pick<Usage, 'savedOutputTokens' | 'savedUsd'>): string =>
  savedOutputTokens > 0 || savedUsd !== null ? `${formatTokens(savedOutputTokens)} out` : 'unknown';

/** US dollars; `null` is `unknown`, never 0. Amounts below a cent keep four places. */
export function formatUsd(usd: number | null): string {
  if (usd === null) return 'unknown';
  return `$${usd.toFixed(usd !== 0 && Math.abs(usd) < 0.01 ? 4 : 2)}`;
}

/** `1 call`, `2 calls`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
