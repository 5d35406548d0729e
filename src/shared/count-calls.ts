/** Numbers of calls, for whoever has calls to count: a run in progress, the records of one that is gone, its events. */
import { type AskedCall, type CallSet, findRecovered } from './find-recovered.js';
import { type CallStatus, type Counts, emptyCounts } from './outcome.js';

/** What of a call decides where it counts. */
interface CountedEnd {
  readonly status: CallStatus;
  readonly reused: boolean;
  /** Handed to a backend in this run. */
  readonly executed: boolean;
  /** Nobody awaited it; absent where that is not known. */
  readonly abandoned?: boolean;
}

export type CountedCall = AskedCall & CountedEnd & { readonly phase: string | null };

/** Adds one call to the numbers. One that is queued or running counts as a call only. */
export function addToCounts(counts: Counts, call: CountedEnd, isRecovered: boolean): void {
  counts.calls++;
  if (call.reused) counts.reused++;
  if (call.executed) counts.executed++;
  if (call.status === 'ok') counts.ok++;
  else if (call.status === 'skipped') counts.skipped++;
  else if (call.status === 'failed') counts[isRecovered ? 'recovered' : 'failed']++;
  else if (call.abandoned) counts.abandoned++;
  else if (call.status === 'no-result') counts.noResult++;
}

export function countCalls(calls: CallSet<CountedCall>): Counts {
  const counts = emptyCounts();
  const isRecovered = findRecovered(calls);
  for (const call of calls.values()) addToCounts(counts, call, isRecovered(call));
  return counts;
}

/** The same by phase, in the order in which the calls come. A failure may be made up for in another phase. */
export function countPhases(calls: CallSet<CountedCall>): { title: string | null; counts: Counts }[] {
  const phases = new Map<string | null, Counts>();
  const isRecovered = findRecovered(calls);
  for (const call of calls.values()) {
    const counts = phases.get(call.phase) ?? emptyCounts();
    phases.set(call.phase, counts);
    addToCounts(counts, call, isRecovered(call));
  }
  return [...phases].map(([title, counts]) => ({ title, counts }));
}
