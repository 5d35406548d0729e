/** The calls that gave no answer, as rows of a list: many with one cause are one row, as a thousand tell no more than it. */
import type { Failure } from '../engine/events.js';

/** Up to so many calls of one cause have a row each; of more, so many are named in their one. */
const NAMED = 3;

/** One call, or all that ended in one phase with the same status and cause; in call order. */
export type FailureRow = readonly [Failure, ...Failure[]];

/** Rows in the order of their first calls. */
export function failureRows(failures: readonly Failure[]): FailureRow[] {
  const byCause = new Map<string, [Failure, ...Failure[]]>();
  const causeOf = (failure: Failure): string =>
    JSON.stringify([failure.phase, failure.status, failure.recovered, failure.code, failure.message]);
  for (const failure of failures) {
    const cause = causeOf(failure);
    const same = byCause.get(cause);
    if (same === undefined) byCause.set(cause, [failure]);
    else same.push(failure);
  }
  return failures.flatMap((failure): FailureRow[] => {
    const same = byCause.get(causeOf(failure)) as [Failure, ...Failure[]];
    if (same.length <= NAMED) return [[failure]];
    return same[0] === failure ? [same] : [];
  });
}

/** `#4 a`, or `9 calls, #4 a, #5 b, #7 c and 6 more`. */
export function nameRow(row: FailureRow, name: (failure: Failure) => string, count: (calls: number) => string): string {
  if (row.length === 1) return name(row[0]);
  return `${count(row.length)} calls, ${row.slice(0, NAMED).map(name).join(', ')} and ${count(row.length - NAMED)} more`;
}

/** Calls that rows stand for. */
export const countRows = (rows: readonly FailureRow[]): number => rows.reduce((sum, row) => sum + row.length, 0);
