/**
 * What the events of a run add up to, by logical call: a retry, a second attempt or a repeated event is never a
 * second call. All reporters that count do it from here.
 */
import type { Failure, RunEvent } from '../engine/events.js';
import { addToCounts } from '../shared/count-calls.js';
import { type CallStatus, type CallUsage, type Counts, type ErrorRecord, emptyCounts } from '../shared/outcome.js';

/** A call as its events told it. */
export interface CallAccount {
  n: number;
  label: string;
  phase: string | null;
  status: CallStatus;
  reused: boolean;
  from: string | null;
  /** Handed to a backend in this run. */
  executed: boolean;
  attempts: number;
  durationMs: number;
  error?: ErrorRecord;
  usage?: CallUsage;
}

type Of<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;
export type StartedEvent = Of<'run.started'>;
export type FinishedEvent = Of<'run.finished'>;
export type WarningEvent = Of<'warning'>;

/** Everything that a report at the end needs. */
export interface RunAccount {
  started: StartedEvent | undefined;
  finished: FinishedEvent | undefined;
  /** By number, in the order in which they were first heard of. */
  calls: Map<number, CallAccount>;
  warnings: WarningEvent[];
}

export const newRunAccount = (): RunAccount => ({
  started: undefined,
  finished: undefined,
  calls: new Map(),
  warnings: [],
});

/** Takes one event into the account. */
export function addToAccount(account: RunAccount, event: RunEvent): void {
  switch (event.type) {
    case 'run.started':
      account.started = event;
      return;
    case 'run.finished':
      account.finished = event;
      return;
    case 'warning':
      account.warnings.push(event);
      return;
    case 'call.queued':
      callOf(account, event).phase = event.phase;
      return;
    case 'call.started': {
      const call = callOf(account, event);
      call.phase = event.phase;
      call.status = 'running';
      call.executed = true;
      call.attempts = Math.max(call.attempts, event.attempt);
      return;
    }
    case 'call.finished':
      finishCall(callOf(account, event), event);
      return;
  }
}

function callOf(account: RunAccount, event: { n: number; label: string }): CallAccount {
  let call = account.calls.get(event.n);
  if (call === undefined) {
    call = {
      n: event.n,
      label: event.label,
      phase: null,
      status: 'queued',
      reused: false,
      from: null,
      executed: false,
      attempts: 0,
      durationMs: 0,
    };
    account.calls.set(event.n, call);
  }
  return call;
}

function finishCall(call: CallAccount, event: Of<'call.finished'>): void {
  call.phase = event.phase;
  call.status = event.status;
  call.reused = event.reused;
  call.from = event.from;
  call.attempts = event.attempts;
  call.durationMs = event.durationMs;
  if (event.reused) call.executed = false;
  if (event.error !== undefined) call.error = event.error;
  if (event.usage !== undefined) call.usage = event.usage;
}

/**
 * Totals of logical calls. Events do not tell whether somebody awaited a call: what the engine counts as `abandoned` is
 * `noResult` here.
 *
 * @param failures those of `run.finished`; they tell which failed calls were recovered, which are not in `failed`
 */
export function countCalls(calls: Iterable<CallAccount>, failures: readonly Failure[] = []): Omit<Counts, 'abandoned'> {
  const recovered = new Set(failures.filter((failure) => failure.recovered).map((failure) => failure.n));
  const all = emptyCounts();
  for (const call of calls) addToCounts(all, call, recovered.has(call.n));
  const { abandoned: _, ...known } = all;
  return known;
}

/** Calls in call order. */
export const callsInOrder = (calls: RunAccount['calls']): CallAccount[] =>
  [...calls.values()].sort((a, b) => a.n - b.n);
