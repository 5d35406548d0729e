/**
 * Where the lines of a run go. Two implementations: a file, and memory for tests and for runs that leave nothing behind.
 */
export interface JournalStore {
  /**
   * Appends whole lines (each with its newline) in order. Returns true once all that was ever appended is handed to the
   * system. Never throws: what cannot be written is kept in memory and tried again, in order, at each later append. The
   * buffer is the caller's again: what is kept is a copy.
   */
  append(lines: Buffer): boolean;
  /** Bytes written so far, those before this process included. */
  readonly size: number;
  /** Lines that are only in memory, and why. */
  readonly unwritten: { lines: number; reason: string | undefined };
  /** Tries once more to write what is kept, and resolves when everything written is on the disk. */
  flush(): Promise<void>;
  /** Returns when everything written is on the disk. @throws what the file system says, or has said before */
  syncNow(): void;
  /**
   * Told once, with the reason, when the disk does not confirm what was written: those lines can be read, and a power cut
   * may cost them.
   */
  onSyncFailure?: ((reason: string) => void) | undefined;
  close(): void;
}

/** How written lines reach the disk: in groups beside the run, or each before the next step. */
export type SyncMode = 'group' | 'each';

/** Reads the bytes of a journal, in order, in pieces of any size; and any part of it again later. */
export interface JournalSource {
  readonly size: number;
  pieces(): Iterable<Buffer>;
  readAt(offset: number, length: number): Buffer;
  close(): void;
}
