/** Counts logical calls and what they cost: the same numbers in terminal, JSON and `state.json`. */
import { addSaved, addSpent, spentUsd } from '../shared/add-usage.js';
import { countCalls, countPhases } from '../shared/count-calls.js';
import { findRecovered } from '../shared/find-recovered.js';
import {
  type CallStatus,
  type CallUsage,
  type Counts,
  type ErrorRecord,
  emptyUsage,
  type ScriptErrors,
  type Usage,
} from '../shared/outcome.js';
import type { Failure, PhaseCounts } from './events.js';

interface Seen {
  n: number;
  label: string;
  phase: string | null;
  key: string;
  status: CallStatus;
  reused: boolean;
  executed: boolean;
  abandoned: boolean;
  askedByEnd: number;
  code: string;
  message: string;
}

const SCRIPT_ERRORS_KEPT = 5;

export class Tally {
  readonly #calls = new Map<number, Seen>();
  readonly #usage = emptyUsage();
  readonly #scriptErrors: ScriptErrors = { count: 0, first: [] };
  readonly #lastTries: { n: number; label: string }[] = [];
  /** A call was handed to a backend. */
  #isSpent = false;
  /** The highest number of a call that was seen: one that waits for a recorded answer is seen after later ones. */
  #lastAsked = 0;

  /** A call was seen for the first time. */
  see(n: number, label: string, phase: string | null, key: string): void {
    this.#calls.set(n, {
      n,
      label,
      phase,
      key,
      status: 'queued',
      reused: false,
      executed: false,
      abandoned: false,
      askedByEnd: 0,
      code: '',
      message: '',
    });
    if (n > this.#lastAsked) this.#lastAsked = n;
  }

  get(n: number): Readonly<Seen> | undefined {
    return this.#calls.get(n);
  }

  /** Every call that was seen, in the order in which it was. */
  get calls(): Iterable<Readonly<Pick<Seen, 'n' | 'label' | 'key' | 'status'>>> {
    return this.#calls.values();
  }

  /** Calls that wait for their turn. */
  get queued(): Readonly<Pick<Seen, 'n' | 'label' | 'phase'>>[] {
    return [...this.#calls.values()].filter((call) => call.status === 'queued');
  }

  start(n: number): void {
    const call = this.#calls.get(n);
    if (call === undefined) return;
    call.status = 'running';
  }

  /** It was handed to a backend. */
  execute(n: number): void {
    const call = this.#calls.get(n);
    if (call === undefined) return;
    call.executed = true;
    this.#isSpent = true;
  }

  reuse(n: number, answer: { outputTokens: number; usd: number | null; lastTry?: true }): void {
    const call = this.#calls.get(n);
    if (call === undefined) return;
    call.status = 'ok';
    call.reused = true;
    if (answer.lastTry) this.#lastTries.push({ n, label: call.label });
    addSaved(this.#usage, answer);
  }

  /** @param lastTry its answer fitted the schema only at the last try */
  finish(n: number, status: CallStatus, cause?: { code: string; message: string }, lastTry = false): void {
    const call = this.#calls.get(n);
    if (call === undefined) return;
    if (lastTry) this.#lastTries.push({ n, label: call.label });
    call.status = status;
    if (status === 'failed') call.askedByEnd = this.#lastAsked;
    if (cause !== undefined) {
      call.code = cause.code;
      call.message = cause.message;
    }
  }

  abandon(n: number): void {
    const call = this.#calls.get(n);
    if (call === undefined || call.status === 'ok' || call.status === 'failed' || call.status === 'skipped') return;
    call.abandoned = true;
    call.status = 'no-result';
  }

  get lastTries(): { n: number; label: string }[] | undefined {
    return this.#lastTries.length === 0 ? undefined : this.#lastTries;
  }

  spend(usage: CallUsage | undefined): void {
    if (usage !== undefined) addSpent(this.#usage, usage);
  }

  /** An error of the script that did not end it. */
  addScriptError(error: ErrorRecord): void {
    const { first } = this.#scriptErrors;
    this.#scriptErrors.count++;
    if (first.length >= SCRIPT_ERRORS_KEPT) return;
    // One fault in a wide fan-out is thrown many times.
    const isKnown = first.some(
      ({ message, file, line, column }) =>
        message === error.message && file === error.file && line === error.line && column === error.column,
    );
    if (!isKnown) first.push(error);
  }

  get scriptErrors(): ScriptErrors | undefined {
    return this.#scriptErrors.count === 0 ? undefined : this.#scriptErrors;
  }

  /** Whatever is still open when the run ends has no result. */
  close(): void {
    for (const call of this.#calls.values()) {
      if (call.status === 'queued' || call.status === 'running') call.status = 'no-result';
    }
  }

  get usage(): Usage {
    return { ...this.#usage, usd: spentUsd(this.#usage, this.#isSpent) };
  }

  /** Calls without a result that no backend ever heard of. */
  get notStarted(): number {
    let count = 0;
    for (const call of this.#calls.values()) {
      if (call.status === 'no-result' && !call.executed && !call.abandoned) count++;
    }
    return count;
  }

  get counts(): Counts {
    return countCalls(this.#calls);
  }

  get phases(): PhaseCounts[] {
    return countPhases(this.#calls);
  }

  get failures(): Failure[] {
    const failures: Failure[] = [];
    const isRecovered = findRecovered(this.#calls);
    for (const call of this.#calls.values()) {
      if (call.status !== 'failed' && call.code === '') continue;
      const { n, label, phase, status, code, message } = call;
      failures.push({ n, label, phase, status, code, message, recovered: isRecovered(call) });
    }
    return failures;
  }
}
