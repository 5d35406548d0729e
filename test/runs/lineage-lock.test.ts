/** The lock beside the claims: it tells of a run that goes on, and whatever happens to it ends nothing. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { holdLineageLock, LOCK_NAME, type LineageLockOptions } from '../../src/runs/lineage-lock.js';
import { waitFor } from '../support/wait.js';
import { tempFolder } from './support/sample-records.js';

afterEach(() => {
  vi.useRealTimers();
});

function hold(folder: string, options: Partial<LineageLockOptions> = {}) {
  const told = { notices: [] as string[], doubts: 0 };
  const claim = { folder, isLatest: () => true, notice: null, ...options.claim };
  const lock = holdLineageLock({
    onNotice: (message) => told.notices.push(message),
    onDoubt: () => told.doubts++,
    afterMs: 0,
    ...options,
    claim,
  });
  return { lock, told, path: join(folder, LOCK_NAME) };
}

it('O4 is there while it is held and gone afterwards; a run that is over sooner never has one', async () => {
  const { lock, path, told } = hold(tempFolder());
  await waitFor('the lock', () => existsSync(path));
  await lock.release();
  await lock.release();
  expect(existsSync(path)).toBe(false);
  expect(told).toEqual({ notices: [], doubts: 0 });

  const short = hold(tempFolder(), { afterMs: 60_000 });
  await short.lock.release();
  expect(existsSync(short.path)).toBe(false);
});

describe('O4 an old lock where nobody holds the lineage', () => {
  const plant: Record<string, (path: string) => void> = {
    'of a process that was killed': (path) => mkdirSync(path),
    'that is a file': (path) => writeFileSync(path, 'not a lock'),
    'that holds something': (path) => {
      mkdirSync(path);
      writeFileSync(join(path, 'x'), '');
    },
  };
  it.each(Object.keys(plant))('%s is removed with one line, and held anew', async (name) => {
    const folder = tempFolder();
    plant[name]?.(join(folder, LOCK_NAME));
    const { lock, told, path } = hold(folder);
    expect(told.notices).toEqual([expect.stringContaining(`The lock ${path} was left over`)]);
    await waitFor('the lock', () => existsSync(path) && readdirSync(path).length === 0);
    await lock.release();
    expect(existsSync(path)).toBe(false);
    expect(told.notices).toHaveLength(1);
  });

  it('is not told of twice where the claim was left over too', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, LOCK_NAME));
    const { lock, told } = hold(folder, {
      claim: { folder, isLatest: () => true, notice: 'Run x held this lineage.' },
    });
    await lock.release();
    expect(told.notices).toEqual([]);
  });
});

it('B-051 without the claim nothing is locked and nothing removed later', async () => {
  const folder = tempFolder();
  let holds = true;
  const { lock, path } = hold(folder, { claim: { folder, isLatest: () => holds, notice: null } });
  holds = false;
  mkdirSync(path);
  await lock.release();
  expect(existsSync(path)).toBe(true);
});

/** Times as a file system keeps them that rounds: in memory, the folder by folder as on the disk. */
function roundingFs(round: (ms: number) => number) {
  const folders = new Map<string, number>();
  const fail = (code: string) => Object.assign(new Error(code), { code });
  const done = (callback: (...args: never[]) => void, ...args: unknown[]) =>
    queueMicrotask(() => (callback as (...all: unknown[]) => void)(...args));
  return {
    folders,
    fs: {
      mkdir: (path: string, callback: () => void) => {
        if (folders.has(path)) return done(callback, fail('EEXIST'));
        folders.set(path, round(Date.now()));
        done(callback, null);
      },
      rmdir: (path: string, callback: () => void) => done(callback, folders.delete(path) ? null : fail('ENOENT')),
      stat: (path: string, callback: () => void) => {
        const mtime = folders.get(path);
        if (mtime === undefined) return done(callback, fail('ENOENT'));
        done(callback, null, { mtime: new Date(mtime) } as Stats);
      },
      utimes: (path: string, _atime: Date, mtime: Date, callback: () => void) => {
        if (!folders.has(path)) return done(callback, fail('ENOENT'));
        folders.set(path, round(mtime.getTime()));
        done(callback, null);
      },
    } as unknown as Partial<typeof import('node:fs')>,
  };
}

describe('B-054 on a file system that keeps other times than it was told', () => {
  it.each<[string, (ms: number) => number]>([
    ['2 s down', (ms) => Math.floor(ms / 2000) * 2000],
    ['2 s up', (ms) => Math.ceil(ms / 2000) * 2000],
    ['1 s down', (ms) => Math.floor(ms / 1000) * 1000],
    ['1 s up', (ms) => Math.ceil(ms / 1000) * 1000],
    ['1 ms', (ms) => Math.round(ms)],
    ['a drift', (ms) => ms + 0.001],
  ])('%s: a lock held for a minute costs nobody the run, and it is let go', async (_, round) => {
    vi.useFakeTimers();
    const disk = roundingFs(round);
    const fine = roundingFs((ms) => ms);
    // Two projects on two file systems in one process.
    const coarse = hold(tempFolder(), { fs: disk.fs });
    const exact = hold(tempFolder(), { fs: fine.fs });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(exact.told).toEqual({ notices: [], doubts: 0 });
    expect(fine.folders.has(exact.path)).toBe(true);
    // Doubts are allowed: each is one look at the claim, and it holds. They are bounded.
    expect(coarse.told.doubts).toBeLessThanOrEqual(4);
    expect(coarse.told.notices).toEqual([]);
    const releases = [coarse.lock.release(), exact.lock.release()];
    await vi.advanceTimersByTimeAsync(10);
    await Promise.all(releases);
    expect(fine.folders.size).toBe(0);
  });
});

it('B-052 a lock that is removed and made again by hand is a reason to look at the claim, and no error', async () => {
  vi.useFakeTimers();
  const disk = roundingFs((ms) => ms);
  const { lock, told, path } = hold(tempFolder(), { fs: disk.fs });
  await vi.advanceTimersByTimeAsync(10);
  expect(disk.folders.has(path)).toBe(true);
  disk.folders.set(path, 0);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(told).toEqual({ notices: [], doubts: 1 });
  // Held anew: its time is ours again.
  expect(disk.folders.get(path)).toBeGreaterThan(0);
  disk.folders.delete(path);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(told.doubts).toBe(2);
  expect(disk.folders.has(path)).toBe(true);
  const released = lock.release();
  await vi.advanceTimersByTimeAsync(10);
  await released;
  expect(disk.folders.has(path)).toBe(false);
});

it('R5 loading the library takes no signal: a file that meets its size limit is an error and not the end', (context) => {
  if (spawnSync('prlimit', ['--version']).error) return context.skip('needs prlimit');
  const library = join(import.meta.dirname, '..', '..', 'src', 'shared', 'load-lock-library.ts');
  const file = join(tempFolder(), 'x');
  const code = `
    const before = [process.emit, process.reallyExit, require('node:fs').close];
    import(${JSON.stringify(library)}).then(({ loadLockLibrary }) => {
      if (typeof loadLockLibrary().lock !== 'function') throw new Error('no library');
      const after = [process.emit, process.reallyExit, require('node:fs').close];
      const signals = process.eventNames().filter((name) => String(name).startsWith('SIG'));
      try { require('node:fs').writeFileSync(${JSON.stringify(file)}, Buffer.alloc(20_000)) } catch (error) {
        console.log(error.code, signals.length, before.every((value, i) => value === after[i]));
      }
    });`;
  const ended = spawnSync('prlimit', ['--fsize=4096', process.execPath, '-e', code], { encoding: 'utf8' });
  expect(ended).toMatchObject({ status: 0, stdout: 'EFBIG 0 true\n' });
});
