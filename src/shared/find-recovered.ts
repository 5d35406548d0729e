/** The one rule for failed calls that a later call made up for. */
import type { CallStatus } from './outcome.js';

/** What of a call the rule goes by. */
export interface AskedCall {
  /** Calls are numbered in the order in which the script asks for them. */
  readonly n: number;
  /** `null` or empty where it never had one: nothing is the same question then. */
  readonly key: string | null;
  readonly status: CallStatus;
  /** Of a call that failed: the highest number of a call that was known by then. `Infinity` where that is not known. */
  readonly askedByEnd: number;
}

/** A list or a map: it is gone through more than once. */
export interface CallSet<Call> {
  values(): Iterable<Call>;
}

/**
 * Asks of a failed call whether the same was asked again after its failure, and answered. Equal calls that had been
 * asked for by then, three votes side by side say, each want an answer of their own: none stands for another, whichever
 * of them ended first. The answers are gathered only when it is asked, as most runs have no failed call.
 */
export function findRecovered(calls: CallSet<AskedCall>): (failed: AskedCall) => boolean {
  /** Number of the last call that was answered, by key. */
  let answered: Map<string, number> | undefined;
  const gather = (): Map<string, number> => {
    const last = new Map<string, number>();
    for (const { status, key, n } of calls.values()) {
      if (status === 'ok' && key !== null) last.set(key, Math.max(n, last.get(key) ?? 0));
    }
    return last;
  };
  return ({ status, key, askedByEnd }) => {
    if (status !== 'failed' || key === null || key === '') return false;
    answered ??= gather();
    return (answered.get(key) ?? 0) > askedByEnd;
  };
}
