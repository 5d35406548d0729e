/** The file store on a disk that fails at any moment and in any way: refuses, writes a part, or nothing at all. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { encodeResult } from './support/lines.js';
import { openFileStore } from '../../src/journal/file-store.js';
import { memorySource } from '../../src/journal/memory-store.js';
import { scanJournal } from '../../src/journal/read-journal.js';
import { testSeed } from '../support/seeds.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { waitFor } from '../support/wait.js';
import { keyOf } from './support/arbitraries.js';

type Fault = { refuse: string } | { part: number } | 'none';
const disk = vi.hoisted(() => ({
  faults: [] as unknown[],
  syncs: [] as (string | undefined)[],
  /** Syncs that wait to be let through; undefined: none waits. */
  slow: undefined as (() => void)[] | undefined,
}));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return {
    ...fs,
    writeSync: (fd: number, bytes: Buffer): number => {
      const fault = (disk.faults.shift() ?? 'none') as Fault;
      if (fault === 'none') return fs.writeSync(fd, bytes);
      if ('refuse' in fault) throw Object.assign(new Error(fault.refuse), { code: fault.refuse });
      const part = Math.min(bytes.length, Math.floor(fault.part * bytes.length));
      return part === 0 ? 0 : fs.writeSync(fd, bytes, 0, part);
    },
    fdatasyncSync: (fd: number): void => {
      const code = disk.syncs.shift();
      if (code !== undefined) throw Object.assign(new Error(code), { code });
      fs.fdatasyncSync(fd);
    },
    fdatasync: (fd: number, callback: (error: Error | null) => void): void => {
      const code = disk.syncs.shift();
      if (disk.slow !== undefined) return void disk.slow.push(() => callback(null));
      fs.fdatasync(fd, (error) => callback(code === undefined ? error : Object.assign(new Error(code), { code })));
    },
  };
});

afterEach(() => {
  disk.faults = [];
  disk.syncs = [];
  disk.slow = undefined;
});

const tempFile = (): string => join(makeTempFolder('journal'), 'journal.jsonl');

const line = (n: number): Buffer =>
  encodeResult({ seq: n, n, key: keyOf(String(n)), path: '', nth: 0, kind: 'ok', label: `L${n}` }, `"answer ${n}"`);

const numbersIn = (path: string): number[] =>
  [...scanJournal(memorySource(readFileSync(path)))].flatMap((found) =>
    found.type === 'result' ? [found.header.n] : [],
  );

const someFault = (): fc.Arbitrary<Fault> =>
  fc.oneof(
    fc.constant('none' as const),
    fc.constantFrom('ENOSPC', 'EFBIG', 'EIO', 'EDQUOT').map((refuse) => ({ refuse })),
    fc.double({ min: 0, max: 1, noNaN: true }).map((part) => ({ part })),
    fc.constant({ part: 0 }),
  );

describe('R5 R6 a journal on a failing disk', () => {
  it('holds every line once and in order as soon as the disk works again, whatever went wrong before', () => {
    const batches = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(batches, fc.array(someFault(), { maxLength: 20 }), (sizes, faults) => {
        const path = tempFile();
        const store = openFileStore(path);
        disk.faults = [...faults];
        let n = 0;
        for (const size of sizes) {
          const batch = Buffer.concat(Array.from({ length: size }, () => line(++n)));
          const whole = store.append(batch);
          // The buffer is the caller's again.
          batch.fill(0x2a);
          // What stands on the disk is always the beginning of what was appended.
          const found = numbersIn(path);
          expect(found).toEqual(Array.from({ length: found.length }, (_, i) => i + 1));
          // A line may stand there that only lacks its newline: then all is written, and something is still to do.
          expect(store.unwritten.lines).toBe(n - found.length);
          if (whole) expect(found).toHaveLength(n);
          expect(store.unwritten.reason === undefined).toBe(whole);
          expect(store.size).toBe(readFileSync(path).length);
        }
        disk.faults = [];
        expect(store.append(line(++n))).toBe(true);
        expect(numbersIn(path)).toEqual(Array.from({ length: n }, (_, i) => i + 1));
        expect(store.unwritten).toEqual({ lines: 0, reason: undefined });
        store.close();
      }),
      { seed: testSeed(), numRuns: 300 },
    );
  });

  it('a line of which only the newline is missing counts as written, and the newline follows', () => {
    const path = tempFile();
    const store = openFileStore(path);
    const first = line(1);
    disk.faults = [{ part: 1 - 0.5 / first.length }, { refuse: 'ENOSPC' }];
    expect(store.append(first)).toBe(false);
    expect(readFileSync(path)).toEqual(line(1).subarray(0, -1));
    expect(store.unwritten).toEqual({ lines: 0, reason: 'ENOSPC' });
    expect(store.append(line(2))).toBe(true);
    expect(readFileSync(path)).toEqual(Buffer.concat([line(1), line(2)]));
    store.close();
  });

  it('a full disk for a while: lines stay in memory and are appended in order with the next one', async () => {
    const path = tempFile();
    const store = openFileStore(path);
    store.append(line(1));
    disk.faults = Array.from({ length: 2 }, () => ({ refuse: 'ENOSPC' }));
    expect(store.append(line(2))).toBe(false);
    expect(store.append(line(3))).toBe(false);
    expect(store.unwritten).toEqual({ lines: 2, reason: 'ENOSPC' });
    expect(store.append(line(4))).toBe(true);
    await store.flush();
    store.close();
    expect(readFileSync(path)).toEqual(Buffer.concat([1, 2, 3, 4].map(line)));
  });
});

describe('R5 a journal on a disk that does not confirm what was written', () => {
  it.each(['each', 'group'] as const)('%s: it is told once, and the lines count as written', async (sync) => {
    const path = tempFile();
    const store = openFileStore(path, { sync });
    const told: string[] = [];
    store.onSyncFailure = (reason) => told.push(reason);
    expect(store.append(line(1))).toBe(true);
    await store.flush();
    expect(told).toEqual([]);
    disk.syncs = ['EIO', 'ENOSPC'];
    expect(store.append(line(2))).toBe(true);
    await store.flush();
    expect(store.append(line(3))).toBe(true);
    await store.flush();
    expect(told).toEqual(['EIO']);
    expect(store.unwritten).toEqual({ lines: 0, reason: undefined });
    expect(numbersIn(path)).toEqual([1, 2, 3]);
    // A later success says nothing of the earlier lines.
    disk.syncs = [];
    expect(() => store.syncNow()).toThrow('EIO');
    store.close();
  });
});

describe('a journal on a slow disk', () => {
  it('is flushed when a sync has ended that began after the last line', async () => {
    const store = openFileStore(tempFile());
    disk.slow = [];
    store.append(line(1));
    const ended: number[] = [];
    const first = store.flush().then(() => ended.push(1));
    store.append(line(2));
    const second = store.flush().then(() => ended.push(2));
    expect(disk.slow).toHaveLength(1);
    disk.slow.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect([ended, disk.slow.length]).toEqual([[], 1]);
    disk.slow.shift()?.();
    await Promise.all([first, second]);
    expect(disk.slow).toEqual([]);
    store.close();
  });

  it('each: a line is synced before its append returns', () => {
    const store = openFileStore(tempFile(), { sync: 'each' });
    const told: string[] = [];
    store.onSyncFailure = (reason) => told.push(reason);
    disk.syncs = ['EIO'];
    store.append(line(1));
    expect(told).toEqual(['EIO']);
    store.close();
  });

  it('group: gets a sync for lines that came while another one went on, without anybody asking for it', async () => {
    const store = openFileStore(tempFile());
    const slow: (() => void)[] = [];
    disk.slow = slow;
    store.append(line(1));
    await waitFor('the first sync', () => slow.length === 1);
    store.append(line(2));
    slow.shift()?.();
    await waitFor('the second sync', () => slow.length === 1);
    slow.shift()?.();
    store.close();
  });
});
