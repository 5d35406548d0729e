/**
 * The recorded answers of the source run, as the matching rules need them: by own line (key, path, nth), and by key.
 * A result is used at most once.
 */
import type { IndexRow, TimerRow } from './frames.js';

export interface RecordedAnswer {
  kept: number;
  key: string;
  path: string;
  bytes: number;
  tokens: number;
  used: boolean;
}

export interface ReplayIndex {
  readonly empty: boolean;
  /** The call's own line, if it is unused. */
  takeOwn(key: string, path: string, nth: number): RecordedAnswer | undefined;
  /** An unused answer of that key: same path first, then the oldest. */
  takeAny(key: string, path: string): RecordedAnswer | undefined;
  /** The recorded firing of a timer. */
  takeTimer(path: string, n: number, ms: number): number | undefined;
}

export function createReplayIndex(results: readonly IndexRow[], timers: readonly TimerRow[]): ReplayIndex {
  const own = new Map<string, RecordedAnswer>();
  const byKey = new Map<string, RecordedAnswer[]>();
  for (const [kept, key, path, nth, bytes, tokens] of results) {
    const answer = { kept, key, path, bytes, tokens, used: false };
    const id = identity(key, path, nth);
    // Rows come in place order: of two lines of one identity the delivered one is first.
    if (!own.has(id)) own.set(id, answer);
    const same = byKey.get(key);
    if (same === undefined) byKey.set(key, [answer]);
    else same.push(answer);
  }
  const timerPlaces = new Map(timers.map(([kept, n, ms, path]) => [`${path}\n${n}\n${ms}`, kept]));

  return {
    empty: results.length === 0 && timers.length === 0,
    takeOwn(key, path, nth) {
      const answer = own.get(identity(key, path, nth));
      if (answer === undefined || answer.used) return undefined;
      answer.used = true;
      return answer;
    },
    takeAny(key, path) {
      const same = byKey.get(key);
      if (same === undefined) return undefined;
      let oldest: RecordedAnswer | undefined;
      for (const answer of same) {
        if (answer.used) continue;
        oldest ??= answer;
        if (answer.path === path) {
          oldest = answer;
          break;
        }
      }
      if (oldest !== undefined) oldest.used = true;
      else byKey.delete(key);
      return oldest;
    },
    takeTimer(path, n, ms) {
      const id = `${path}\n${n}\n${ms}`;
      const kept = timerPlaces.get(id);
      timerPlaces.delete(id);
      return kept;
    },
  };
}

const identity = (key: string, path: string, nth: number): string => `${key}${nth}\n${path}`;
