/** One suite over both stores: what is appended is there, in order, and can be read back. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openFileSource, openFileStore } from '../../src/journal/file-store.js';
import { createMemoryStore, memorySource } from '../../src/journal/memory-store.js';
import { scanJournal } from '../../src/journal/read-journal.js';
import type { JournalSource, JournalStore } from '../../src/journal/store.js';
import { testSeed } from '../support/seeds.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { anyLine } from './support/arbitraries.js';

interface Opened {
  store: JournalStore;
  bytes(): Buffer;
  source(): JournalSource;
}

const tempFile = (): string => join(makeTempFolder('journal'), 'journal.jsonl');

const fileStore =
  (sync: 'group' | 'each') =>
  (initial?: Buffer): Opened => {
    const path = tempFile();
    if (initial) writeFileSync(path, initial);
    return {
      store: openFileStore(path, { sync }),
      bytes: () => readFileSync(path),
      source: () => openFileSource(path),
    };
  };

const STORES: Record<string, (initial?: Buffer) => Opened> = {
  'in memory': (initial) => {
    const store = createMemoryStore(initial);
    return { store, bytes: () => store.bytes(), source: () => memorySource(store.bytes()) };
  },
  'in a file': fileStore('group'),
  'in a file, synced each time': fileStore('each'),
};

describe.each(Object.entries(STORES))('a journal %s', (_, open) => {
  it('holds what was appended, in order, as soon as append returns', async () => {
    const { store, bytes } = open();
    expect(store.size).toBe(0);
    expect(store.append(Buffer.from('one\n'))).toBe(true);
    expect(bytes().toString()).toBe('one\n');
    expect(store.append(Buffer.from('two\nthree\n'))).toBe(true);
    expect(bytes().toString()).toBe('one\ntwo\nthree\n');
    expect(store.size).toBe(14);
    expect(store.unwritten).toEqual({ lines: 0, reason: undefined });
    await store.flush();
    store.close();
  });

  it('keeps no hold of the buffer that it was given', () => {
    const { store, bytes } = open();
    const lines = Buffer.from('one\ntwo\n');
    store.append(lines);
    lines.fill('x');
    expect(bytes().toString()).toBe('one\ntwo\n');
    store.close();
  });

  it('goes on behind what stood there before', () => {
    const { store, bytes } = open(Buffer.from('old\n'));
    expect(store.size).toBe(4);
    store.append(Buffer.from('new\n'));
    expect(bytes().toString()).toBe('old\nnew\n');
    expect(store.size).toBe(8);
    store.close();
  });

  it('reads back any lines, whole and in part', () => {
    fc.assert(
      fc.property(fc.array(anyLine(), { maxLength: 6 }), (lines) => {
        const { store, source } = open();
        for (const line of lines) store.append(line);
        store.close();
        const reader = source();
        const read = Buffer.concat([...reader.pieces()].map((piece) => Buffer.from(piece)));
        expect(read).toEqual(Buffer.concat(lines));
        const texts = [...scanJournal(reader)].map(({ offset, length }) => `${reader.readAt(offset, length)}\n`);
        expect(texts).toEqual(lines.map((line) => line.toString()));
        reader.close();
      }),
      { seed: testSeed(), numRuns: 20 },
    );
  });

  it('flushes any number of times, together and in turn', async () => {
    const { store } = open();
    store.append(Buffer.from('one\n'));
    const all = [store.flush(), store.flush()];
    store.append(Buffer.from('two\n'));
    await Promise.all([...all, store.flush()]);
    await store.flush();
    store.close();
    store.close();
  });
});
