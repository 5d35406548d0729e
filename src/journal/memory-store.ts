import type { JournalSource, JournalStore } from './store.js';

/** A journal in memory, and the same bytes as a source. */
export function createMemoryStore(initial?: Buffer): JournalStore & { source(): JournalSource; bytes(): Buffer } {
  const pieces: Buffer[] = initial === undefined ? [] : [initial];
  let size = initial?.length ?? 0;
  const bytes = (): Buffer => Buffer.concat(pieces);
  return {
    append(lines) {
      pieces.push(Buffer.from(lines));
      size += lines.length;
      return true;
    },
    get size() {
      return size;
    },
    unwritten: { lines: 0, reason: undefined },
    flush: async () => {},
    syncNow() {},
    close() {},
    bytes,
    source: () => memorySource(bytes()),
  };
}

/** Takes lines and keeps none: for a plan, which reads answers from the source and leaves nothing. */
export function createVoidStore(): JournalStore {
  return {
    append: () => true,
    size: 0,
    unwritten: { lines: 0, reason: undefined },
    flush: async () => {},
    syncNow() {},
    close() {},
  };
}

export function memorySource(bytes: Buffer): JournalSource {
  return {
    size: bytes.length,
    pieces: () => [bytes],
    readAt: (offset, length) => bytes.subarray(offset, offset + length),
    close() {},
  };
}
