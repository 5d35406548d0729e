/** Which errors are worth another try, how often, and after which wait. */
import type { BackendErrorKind } from './backend.js';

/** Tries in all, the first included. Kinds that are not named get one. */
const TRIES: Partial<Record<BackendErrorKind, number>> = {
  rate_limit: 8,
  overloaded: 5,
  server: 5,
  network: 3,
  protocol: 3,
  empty: 3,
};

/** A call that gave no sign of life is tried once more, whatever the setting: each such try costs the whole idle limit. */
const STALL_TRIES = 2;
/** Answers to one call that are checked against its schema. */
export const SCHEMA_TRIES = 3;

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
const LONGEST_RATE_MS = 60_000;

/** @param retries tries after the first, for kinds that are worth it; by kind when `undefined` */
export function triesFor(kind: BackendErrorKind, retries: number | undefined): number {
  const byKind = kind === 'stalled' ? STALL_TRIES : (TRIES[kind] ?? 1);
  if (retries === undefined || byKind === 1) return byKind;
  return kind === 'stalled' ? Math.min(byKind, retries + 1) : retries + 1;
}

/**
 * Milliseconds before the next try: what the other side asked for, else back-off with full jitter, so that calls that
 * failed together do not come back together.
 *
 * @param failures how often this call has failed so far, from 1
 */
export function retryDelay(
  kind: BackendErrorKind,
  failures: number,
  retryAfterMs: number | undefined,
  random: () => number = Math.random,
): number {
  if (kind === 'stalled') return 0;
  if (retryAfterMs !== undefined && retryAfterMs >= 0) return Math.ceil(retryAfterMs);
  const longest = kind === 'rate_limit' ? LONGEST_RATE_MS : LONGEST_MS;
  return Math.round(random() * Math.min(longest, FIRST_MS * 2 ** Math.min(failures, 20)));
}
