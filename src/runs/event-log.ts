/**
 * `events.jsonl`: what happened, for people. Never needed to resume, so it is written in batches, and it is bounded:
 * long texts are cut, and beyond its limit only changes of state are kept.
 */
import { closeSync, openSync, writeSync } from 'node:fs';

const BATCH_BYTES = 64 << 10;
const BATCH_MS = 200;
const MAX_TEXT = 64 << 10;
const MAX_FILE_BYTES = 32 << 20;
const STATE_CHANGES = new Set([
  'run.started',
  'process.started',
  'process.left',
  'call.queued',
  'call.started',
  'call.finished',
  'call.worktree',
  'phase',
  'warning',
  'run.finished',
]);

export interface EventLog {
  write(event: { type: string; [field: string]: unknown }): void;
  /** Writes what is waiting: when a process is started, so that whoever looks after a kill finds its call. */
  flush(): void;
  close(): void;
}

/** A log that cannot be written is given up without a word to the run: it is for display. */
export function openEventLog(path: string): EventLog {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'a', 0o600);
  } catch {
    return { write() {}, flush() {}, close() {} };
  }
  let batch = '';
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const giveUp = (): void => {
    const last = fd;
    fd = undefined;
    try {
      if (last !== undefined) closeSync(last);
    } catch {
      // The disk says only now that it has not taken all.
    }
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (fd === undefined || batch === '') return;
    const text = batch;
    batch = '';
    try {
      bytes += writeSync(fd, text);
    } catch {
      giveUp();
    }
  };
  return {
    write(event) {
      if (fd === undefined || (bytes > MAX_FILE_BYTES && !STATE_CHANGES.has(event.type))) return;
      const line = JSON.stringify(event);
      batch += `${line.length <= MAX_TEXT ? line : JSON.stringify(event, cutText)}\n`;
      // What is asked for after a failure may make up for it: which calls these are is told by the place of this line alone.
      const isFailure = event.type === 'call.finished' && event.status === 'failed';
      if (batch.length >= BATCH_BYTES || event.type === 'run.started' || isFailure) flush();
      else timer ??= setTimeout(flush, BATCH_MS).unref();
    },
    flush,
    close() {
      flush();
      giveUp();
    },
  };
}

const cutText = (_name: string, value: unknown): unknown =>
  typeof value === 'string' && value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
