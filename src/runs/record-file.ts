/** One JSON record on the disk: read without trusting it, written so that no reader ever sees a part of it. */
import { readFileSync } from 'node:fs';
import { writeFileAtomic } from '../shared/atomic-file.js';
import { messageOf, systemCode } from '../shared/errors.js';
import { lookAt } from './runs-folder.js';

/** `bad` says in words why there is no JSON value. */
export type RecordFile = { kind: 'absent' } | { kind: 'bad'; why: string } | { kind: 'json'; value: unknown };

export function readRecordFile(path: string): RecordFile {
  try {
    const stat = lookAt(path);
    if (stat === undefined) return { kind: 'absent' };
    // A pipe would hold a reader for ever, and a link may lead out of the run folder.
    if (!stat.isFile()) return { kind: 'bad', why: 'is not a file' };
    const text = readFileSync(path, 'utf8');
    if (text.trim() === '') return { kind: 'bad', why: 'is empty' };
    return { kind: 'json', value: JSON.parse(text) };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { kind: 'absent' };
    if (error instanceof SyntaxError) return { kind: 'bad', why: `is not JSON (${error.message})` };
    return { kind: 'bad', why: `cannot be read (${messageOf(error)})` };
  }
}

/** Waits between tries, ms. */
const BACK_OFF_MS = [10, 20, 40, 80, 160];

/** Replaces the record in one step. Throws what the file system throws. */
export function writeRecordFile(path: string, record: unknown): void {
  const text = `${JSON.stringify(record, null, 2)}\n`;
  retryRename(() => writeFileAtomic(path, text));
}

/**
 * A virus scanner that has a file open can refuse the rename for a moment (seen on Windows drives under WSL).
 * Only a refused rename is tried again; the waiting blocks, as the records are few and small.
 */
export function retryRename(write: () => void, wait: (ms: number) => void = block): void {
  for (const ms of BACK_OFF_MS) {
    try {
      write();
      return;
    } catch (error) {
      if (!isRefusedRename(error)) throw error;
      wait(ms);
    }
  }
  write();
}

const isRefusedRename = (error: unknown): boolean =>
  ['EPERM', 'EBUSY', 'EACCES'].includes(systemCode(error) ?? '') &&
  (error as NodeJS.ErrnoException).syscall === 'rename';

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
