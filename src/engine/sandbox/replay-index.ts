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
  lastTry: boolean;
  used: boolean;
}

/** What the calls of one key and path have in common. */
export interface CallPlace {
  /** How many of them there were so far. */
  calls: number;
  /** Recorded answers by the nth such call; most calls are the only one of their kind. */
  first: RecordedAnswer | undefined;
  /** Row of `first`. */
  at: number;
  later: Map<number, RecordedAnswer> | undefined;
}

export interface ReplayIndex {
  readonly empty: boolean;
  placeOf(key: string, path: string): CallPlace;
  /** The call's own line, if it is unused. */
  takeOwn(place: CallPlace, nth: number): RecordedAnswer | undefined;
  /** An unused answer of that key: same path first, then the oldest. */
  takeAny(key: string, path: string): RecordedAnswer | undefined;
  /** An answer that was taken and not delivered, because its workflow ended before: another call may have it. */
  release(answer: RecordedAnswer): void;
  /** The recorded firing of a timer. */
  takeTimer(path: string, n: number, ms: number): number | undefined;
}

/** Answers in the order in which they are given away. What lies before `next` is used. */
interface Queue {
  answers: RecordedAnswer[];
  next: number;
}

/** The answers of one key. The queues of its paths are made when they are first asked for: most keys never are. */
interface Pool extends Queue {
  byPath: Map<string, Queue> | undefined;
}

export function createReplayIndex(results: readonly IndexRow[], timers: readonly TimerRow[]): ReplayIndex {
  const places = new Map<string, CallPlace>();
  const answers: RecordedAnswer[] = [];
  /** Places of `answers`. */
  const placeAt: CallPlace[] = [];
  const findPlace = (key: string, path: string): CallPlace => {
    const id = path === '' ? key : `${key}${path}`;
    let place = places.get(id);
    if (place === undefined) {
      place = { calls: 0, first: undefined, at: 0, later: undefined };
      places.set(id, place);
    }
    return place;
  };
  for (const [kept, key, path, nth, bytes, tokens, lastTry] of results) {
    const answer = { kept, key, path, bytes, tokens, lastTry: lastTry === 1, used: false };
    const place = findPlace(key, path);
    // Rows come in place order: of two lines of one identity the delivered one is first.
    if (nth === 0) {
      if (place.first === undefined) place.at = answers.length;
      place.first ??= answer;
    } else {
      place.later ??= new Map();
      if (!place.later.has(nth)) place.later.set(nth, answer);
    }
    answers.push(answer);
    placeAt.push(place);
  }
  /** Most calls come in the order in which they were answered: looking into a large Map costs more than all else here. */
  let likely = 0;
  let byKey: Map<string, Pool> | undefined;
  const timerPlaces = new Map(timers.map(([kept, n, ms, path]) => [`${path}\n${n}\n${ms}`, kept]));

  return {
    empty: results.length === 0 && timers.length === 0,
    placeOf(key, path) {
      const answer = answers[likely];
      if (answer !== undefined && answer.key === key && answer.path === path) return placeAt[likely++] as CallPlace;
      const place = findPlace(key, path);
      if (place.first !== undefined) likely = place.at + 1;
      return place;
    },
    takeOwn(place, nth) {
      const answer = nth === 0 ? place.first : place.later?.get(nth);
      if (answer === undefined || answer.used) return undefined;
      answer.used = true;
      return answer;
    },
    takeAny(key, path) {
      byKey ??= groupByKey(answers);
      const pool = byKey.get(key);
      if (pool === undefined) return undefined;
      pool.byPath ??= groupByPath(pool.answers);
      return takeNext(pool.byPath.get(path)) ?? takeNext(pool);
    },
    release(answer) {
      answer.used = false;
      const pool = byKey?.get(answer.key);
      if (pool === undefined) return;
      // Workflows that end with calls open are few: what is looked at again costs little.
      pool.next = 0;
      const same = pool.byPath?.get(answer.path);
      if (same !== undefined) same.next = 0;
    },
    takeTimer(path, n, ms) {
      const id = `${path}\n${n}\n${ms}`;
      const kept = timerPlaces.get(id);
      timerPlaces.delete(id);
      return kept;
    },
  };
}

function groupByKey(answers: readonly RecordedAnswer[]): Map<string, Pool> {
  const byKey = new Map<string, Pool>();
  for (const answer of answers) {
    const same = byKey.get(answer.key);
    if (same === undefined) byKey.set(answer.key, { answers: [answer], next: 0, byPath: undefined });
    else same.answers.push(answer);
  }
  return byKey;
}

function groupByPath(answers: readonly RecordedAnswer[]): Map<string, Queue> {
  const byPath = new Map<string, Queue>();
  for (const answer of answers) {
    const same = byPath.get(answer.path);
    if (same === undefined) byPath.set(answer.path, { answers: [answer], next: 0 });
    else same.answers.push(answer);
  }
  return byPath;
}

/** The first unused one. Each answer is passed once a queue, so that thousands of equal prompts cost no more than others. */
function takeNext(queue: Queue | undefined): RecordedAnswer | undefined {
  while (queue !== undefined && queue.next < queue.answers.length) {
    const answer = queue.answers[queue.next++] as RecordedAnswer;
    if (answer.used) continue;
    answer.used = true;
    return answer;
  }
  return undefined;
}
