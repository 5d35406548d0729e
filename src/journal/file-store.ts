/**
 * The journal as a file. One `writeSync` a batch of lines on a kept `O_APPEND` descriptor; never truncated, renamed or
 * rewritten. A torn tail — of a killed writer, or of a write that the disk cut short — is closed with a newline first,
 * so that the torn piece is one unreadable line and nothing else.
 */
import { closeSync, fdatasync, fdatasyncSync, fstatSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { systemCode, WfError } from '../shared/errors.js';
import { openRegularFile } from '../shared/regular-file.js';
import { memorySource } from './memory-store.js';
import type { JournalSource, JournalStore, SyncMode } from './store.js';

const NEWLINE = Buffer.from('\n');
/** A sync starts within this time of a line, ms. */
const SYNC_WITHIN_MS = 10;

export function openFileStore(path: string, options: { sync?: SyncMode } = {}): JournalStore {
  return new FileStore(path, options.sync ?? 'group');
}

class FileStore implements JournalStore {
  size: number;
  onSyncFailure: ((reason: string) => void) | undefined;
  readonly #fd: number;
  readonly #sync: SyncMode;
  #torn: boolean;
  #kept: Buffer[] = [];
  #reason: string | undefined;
  #dirty = false;
  #syncing = false;
  /** Stays: after a failed sync the system may call the next one a success, although the bytes never reached the disk. */
  #syncError: unknown;
  #timer: NodeJS.Timeout | undefined;
  #waiting: (() => void)[] = [];
  #closed = false;

  constructor(path: string, sync: SyncMode) {
    this.#fd = openSync(path, 'a+', 0o600);
    this.#sync = sync;
    this.size = fstatSync(this.#fd).size;
    this.#torn = this.size > 0 && !endsWithNewline(this.#fd, this.size);
    // Node's pool of threads starts with the first of these. Later, beside many agents, the system may have no room for
    // them, and Node then ends this whole process.
    fdatasync(this.#fd, () => {});
  }

  append(lines: Buffer): boolean {
    this.#kept.push(lines);
    if (this.#writeKept()) return true;
    const rest = this.#kept.pop();
    if (rest !== undefined) this.#kept.push(Buffer.from(rest));
    return false;
  }

  get unwritten(): { lines: number; reason: string | undefined } {
    let lines = 0;
    for (const piece of this.#kept) for (const byte of piece) if (byte === 0x0a) lines++;
    return { lines, reason: this.#reason };
  }

  #writeKept(): boolean {
    try {
      if (this.#torn) {
        this.#write(NEWLINE);
        this.#torn = false;
      }
      while (this.#kept.length > 0) {
        const piece = this.#kept[0] as Buffer;
        const written = this.#write(piece);
        if (written < piece.length) {
          // Whole lines that made it count, also one that lacks only its newline; the one that was cut is written again
          // after a closing newline.
          const end = piece[written] === 0x0a ? written : piece.lastIndexOf(0x0a, written - 1);
          this.#torn = end + 1 !== written;
          if (end + 1 === piece.length) this.#kept.shift();
          else this.#kept[0] = piece.subarray(end + 1);
          if (this.#torn) {
            this.#write(NEWLINE);
            this.#torn = false;
          }
          continue;
        }
        this.#kept.shift();
      }
    } catch (error) {
      this.#reason = reasonOf(error);
      return false;
    }
    this.#reason = undefined;
    if (this.#sync === 'group') this.#syncSoon();
    else this.#syncEach();
    return true;
  }

  /** At least one byte is written, or it throws: a disk that takes none would be tried for ever. */
  #write(bytes: Buffer): number {
    const written = writeSync(this.#fd, bytes);
    if (written === 0) throw Object.assign(new Error('the disk took no byte'), { code: 'EIO' });
    this.size += written;
    return written;
  }

  #syncEach(): void {
    try {
      fdatasyncSync(this.#fd);
    } catch (error) {
      this.#noteSync(error);
    }
  }

  /** @param error of a sync; null when it went well */
  #noteSync(error: unknown): void {
    if (error === null || this.#syncError !== undefined) return;
    this.#syncError = error;
    this.onSyncFailure?.(reasonOf(error));
  }

  #syncSoon(): void {
    this.#dirty = true;
    if (this.#syncing || this.#timer !== undefined || this.#closed) return;
    this.#timer = setTimeout(() => this.#startSync(), SYNC_WITHIN_MS);
  }

  #startSync(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#dirty = false;
    this.#syncing = true;
    fdatasync(this.#fd, (error) => {
      this.#syncing = false;
      if (!this.#closed) this.#noteSync(error);
      if (this.#dirty) {
        if (this.#waiting.length > 0) this.#startSync();
        else this.#syncSoon();
        return;
      }
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  flush(): Promise<void> {
    if (this.#kept.length > 0) this.#writeKept();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#syncing) this.#startSync();
      else this.#dirty = true;
    });
  }

  syncNow(): void {
    if (this.#syncError !== undefined) throw this.#syncError;
    fdatasyncSync(this.#fd);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    closeSync(this.#fd);
  }
}

const reasonOf = (error: unknown): string => systemCode(error) ?? String(error);

function endsWithNewline(fd: number, size: number): boolean {
  const last = Buffer.alloc(1);
  try {
    return readSync(fd, last, 0, 1, size - 1) === 1 && last[0] === 0x0a;
  } catch {
    return true; // not a file that can be read back (a device): nothing to close
  }
}

/** A journal up to this size is read in one piece; a larger one in a stream, and again by place where it is needed. */
const WHOLE_BYTES = 64 << 20;

/**
 * Opens a journal for reading only. The file may be moved or removed meanwhile. Throws as `openRegularFile` does.
 *
 * @returns what it reads later may throw a WfError `WF_RUN_DAMAGED`: the disk may fail, or somebody cuts the file short
 */
export function openFileSource(path: string): JournalSource {
  const fd = openRegularFile(path);
  const { size } = fstatSync(fd);
  if (size <= WHOLE_BYTES) {
    try {
      return memorySource(readFileSync(fd));
    } finally {
      closeSync(fd);
    }
  }
  return streamSource(fd, size, path);
}

function streamSource(fd: number, size: number, path: string): JournalSource {
  const refuse = (why: string): WfError =>
    new WfError('WF_RUN_DAMAGED', `The journal can no longer be read (${path}): ${why}.`, {
      remedy: 'See to the file and its disk, then go on; what was written elsewhere is untouched.',
    });
  const read = (target: Buffer, at: number, length: number, offset: number): number => {
    try {
      return readSync(fd, target, at, length, offset);
    } catch (error) {
      throw refuse(reasonOf(error));
    }
  };
  return {
    size,
    *pieces() {
      for (let offset = 0; ; ) {
        const piece = Buffer.allocUnsafe(1 << 20);
        const length = read(piece, 0, piece.length, offset);
        if (length === 0) return;
        offset += length;
        yield piece.subarray(0, length);
      }
    },
    readAt(offset, length) {
      const bytes = Buffer.allocUnsafe(length);
      let done = 0;
      while (done < length) {
        const got = read(bytes, done, length - done, offset + done);
        if (got === 0) throw refuse('it became shorter while it was read');
        done += got;
      }
      return bytes;
    },
    close: () => closeSync(fd),
  };
}
