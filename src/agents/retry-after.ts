/** How long a server asks to wait. */
import { BackendError, type BackendErrorKind } from './backend.js';

/** A longer wait is no matter of seconds any more: the run stops and can go on when its time has come. */
const LONGEST_WAIT_MS = 15 * 60_000;

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Reads `retry-after-ms` and `retry-after` (seconds or a date). Names of headers in lower case. */
export function readRetryAfter(
  headers: Readonly<Record<string, string | undefined>> | undefined,
  now: number,
): number | undefined {
  const ms = readNumber(headers?.['retry-after-ms']);
  if (ms !== undefined) return ms;
  const text = headers?.['retry-after'];
  const seconds = readNumber(text);
  if (seconds !== undefined) return seconds * 1_000;
  const date = Date.parse(text ?? '');
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Reads `try again in 1m2.5s` out of a message. */
export function readTryAgainIn(message: string): number | undefined {
  const words = /(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?\s*(?:ms|s|m|h)[a-z]*\s*)+)/i.exec(message)?.[1];
  if (words === undefined) return undefined;
  let sum = 0;
  for (const [, count, unit] of words.matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h)/gi)) {
    sum += Number(count) * (UNITS[(unit as string).toLowerCase()] as number);
  }
  return sum;
}

/** A 429: to be waited for, or a limit that is lifted later. */
export function rateLimited(
  message: string,
  retryAfterMs: number | undefined,
  now: number,
  details: ConstructorParameters<typeof BackendError>[2] = {},
): BackendError {
  const tooLong = retryAfterMs !== undefined && retryAfterMs > LONGEST_WAIT_MS;
  const kind: BackendErrorKind = tooLong ? 'usage_limit' : 'rate_limit';
  const when = tooLong ? { resetsAt: new Date(now + retryAfterMs).toISOString() } : { retryAfterMs };
  return new BackendError(kind, message, { ...details, ...when });
}

function readNumber(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}
