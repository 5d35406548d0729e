/**
 * One line an event, for logs, pipes and CI: no cursor codes, bounded lines, and a heartbeat, so that neither a person
 * nor a host takes a working run for a dead one. Troubles of one cause are told once, and counted.
 */
import type { Reporter, RunEvent } from '../engine/events.js';
import { describeEvent } from './describe-event.js';
import { describeLiveness } from './heartbeat.js';
import { type Paint, plainPaint } from './paint.js';
import { type ReportClock, systemReportClock } from './report-clock.js';
import { createRepeatedTroubles } from './repeated-troubles.js';
import { addToAccount, newRunAccount } from './run-account.js';
import { summarizeRun } from './summary.js';
import { guardWrite, type WriteText } from './write-text.js';

export interface PlainOptions {
  write: WriteText;
  paint?: Paint;
  /** Only warnings, calls that gave no answer, and the summary of a run that did not end well. */
  quiet?: boolean;
  /** Where the caller puts the result, for the summary: `stdout` or a file. */
  resultPlace?: string;
  clock?: ReportClock;
  /** ms between two heartbeats (default 30 s). */
  heartbeatMs?: number;
  /** ms between two progress lines of one call (default 5 s): agents may tell of each word. */
  progressMs?: number;
}

/** @example createPlainReporter({ write: (text) => process.stderr.write(text) }) */
export function createPlainReporter(options: PlainOptions): Reporter {
  const { paint = plainPaint, clock = systemReportClock, quiet = false } = options;
  // Guarded here too: the heartbeat is called by a timer, where a throw would end the process.
  const write = guardWrite(options.write);
  const account = newRunAccount();
  const activity = new Map<number, number>();
  const progress = new Map<number, number>();
  const repeated = createRepeatedTroubles();
  let startedAt = clock.monotonic();
  let lastEventAt = startedAt;
  let stopHeartbeat: (() => void) | undefined;

  const line = (time: string, text: string): void => write(`${paint.quiet(time.slice(11, 19))} ${text}\n`);
  const beat = (): void => {
    const seen = { startedAt, lastEventAt, activity };
    line(new Date(clock.now()).toISOString(), describeLiveness(account.calls.values(), seen, clock.monotonic()));
  };
  const tellRepeated = (time: string): void => {
    for (const text of repeated.tellCounts()) line(time, text);
  };
  const endHeartbeat = (): void => {
    stopHeartbeat?.();
    stopHeartbeat = undefined;
  };
  const isTold = (event: RunEvent, now: number): boolean => {
    if (repeated.take(event)) return false;
    if (quiet) return isTrouble(event);
    if (event.type !== 'call.progress') return true;
    const last = progress.get(event.n);
    if (last !== undefined && now - last < (options.progressMs ?? 5_000)) return false;
    progress.set(event.n, now);
    return true;
  };

  return {
    event(event) {
      const now = clock.monotonic();
      lastEventAt = now;
      addToAccount(account, event);
      if ('n' in event) activity.set(event.n, now);
      if (event.type === 'call.finished') {
        activity.delete(event.n);
        progress.delete(event.n);
      }
      if (event.type === 'run.started') {
        startedAt = now;
        if (!quiet) stopHeartbeat ??= clock.every(options.heartbeatMs ?? 30_000, beat);
      }
      if (event.type === 'run.finished') {
        endHeartbeat();
        tellRepeated(event.t);
      }
      if (isTold(event, now)) line(event.t, describeEvent(event, paint));
      if (event.type === 'run.finished' && (!quiet || event.exitCode !== 0)) {
        write(summarizeRun(event, account.started, { paint, resultPlace: options.resultPlace }));
      }
    },
    close() {
      endHeartbeat();
      // Whoever stops to listen before the end is told of what was held back.
      tellRepeated(new Date(clock.now()).toISOString());
    },
  };
}

function isTrouble(event: RunEvent): boolean {
  if (event.type === 'warning') return true;
  if (event.type === 'log') return event.level === 'warn' || event.level === 'error';
  if (event.type !== 'call.finished') return false;
  // Of those that never got their turn there may be thousands: the summary counts them.
  const wasStarted = event.attempts > 0 || event.error !== undefined;
  return event.status === 'no-result' ? wasStarted : event.status !== 'ok';
}
