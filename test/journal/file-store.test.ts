import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { encodeResult } from './support/lines.js';
import { openFileSource, openFileStore } from '../../src/journal/file-store.js';
import { scanJournal } from '../../src/journal/read-journal.js';
import { needTool } from '../cli/support/need-tool.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { keyOf } from './support/arbitraries.js';

const ROOT = resolve(import.meta.dirname, '..', '..');

const tempFolder = (): string => makeTempFolder('journal');

const result = (n: number, output = `"answer ${n} — 💶"`): Buffer =>
  encodeResult({ seq: n, n, key: keyOf(String(n)), path: '', nth: 0, kind: 'ok', label: `L${n}` }, output);

/** Labels of the good lines, and how many are not. */
function read(path: string): { labels: (string | undefined)[]; bad: number } {
  const source = openFileSource(path);
  const labels: (string | undefined)[] = [];
  const scan = scanJournal(source);
  for (;;) {
    const next = scan.next();
    if (next.done) {
      source.close();
      return { labels, bad: next.value.bad.length };
    }
    if (next.value.type === 'result') labels.push(next.value.header.label);
  }
}

interface Told {
  written: boolean;
  size: number;
  unwritten: { lines: number; reason?: string };
}

/** A store in a process of its own whose files may not grow beyond a size until `lift()`. */
function startUnderLimit(path: string, bytes: number) {
  const module = pathToFileURL(join(ROOT, 'src', 'journal', 'file-store.ts')).href;
  const hooks = pathToFileURL(join(ROOT, 'test', 'support', 'source-hooks.mjs')).href;
  const script = join(import.meta.dirname, 'support', 'append-under-limit.mjs');
  const child = spawn('prlimit', [`--fsize=${bytes}:`, process.execPath, '--import', hooks, script, module, path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  onTestFinished(async () => {
    child.stdin.end();
    await ended;
  });
  return {
    async ask(line: string): Promise<Told> {
      child.stdin.write(`${line}\n`);
      return JSON.parse((await answers.next()).value as string) as Told;
    },
    lift: () => expect(spawnSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:']).status).toBe(0),
  };
}

describe('a journal in a file', () => {
  it('B-025 R6 a tail torn at any byte is closed with a newline before the next line, and never cut off', () => {
    const path = join(tempFolder(), 'journal.jsonl');
    const [before, last, next] = [result(1), result(2), result(3)];
    for (let length = 0; length <= last.length; length++) {
      const torn = Buffer.concat([before, last.subarray(0, length)]);
      writeFileSync(path, torn);
      const store = openFileStore(path);
      expect(statSync(path).size).toBe(torn.length);
      store.append(next);
      store.close();
      const isWhole = length >= last.length - 1;
      expect([length, read(path)]).toEqual([
        length,
        { labels: isWhole ? ['L1', 'L2', 'L3'] : ['L1', 'L3'], bad: isWhole || length === 0 ? 0 : 1 },
      ]);
      expect(readFileSync(path).subarray(0, torn.length)).toEqual(torn);
      expect(store.size).toBe(statSync(path).size);
    }
  });

  it('J3 keeps its descriptor: a journal that was moved away goes on in its file', () => {
    const folder = tempFolder();
    const path = join(folder, 'journal.jsonl');
    const store = openFileStore(path);
    store.append(result(1));
    const { ino } = statSync(path);
    writeFileSync(join(folder, 'other'), 'x');
    store.append(result(2));
    expect(statSync(path).ino).toBe(ino);
    appendFileSync(path, result(3));
    store.append(result(4));
    store.close();
    expect(read(path).labels).toEqual(['L1', 'L2', 'L3', 'L4']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('R5 R6 EFBIG in the middle of a line: the lines are kept, and later ones follow in order', async (context) => {
    needTool(context, 'prlimit');
    const path = join(tempFolder(), 'journal.jsonl');
    const lines = [1, 2, 3, 4, 5].map((n) => result(n).toString().trimEnd());
    const limit = Buffer.byteLength(lines.slice(0, 2).join('\n')) - 20;
    const store = startUnderLimit(path, limit);
    expect(await store.ask(lines[0] as string)).toMatchObject({ written: true, unwritten: { lines: 0 } });
    // The second one does not fit: its beginning stands there now.
    expect(await store.ask(lines[1] as string)).toMatchObject({
      written: false,
      unwritten: { lines: 1, reason: 'EFBIG' },
    });
    expect(statSync(path).size).toBe(limit);
    expect(read(path)).toEqual({ labels: ['L1'], bad: 1 });
    expect(await store.ask(lines[2] as string)).toMatchObject({
      written: false,
      unwritten: { lines: 2, reason: 'EFBIG' },
    });
    store.lift();
    expect(await store.ask(lines[3] as string)).toMatchObject({ written: true, unwritten: { lines: 0 } });
    expect((await store.ask(lines[4] as string)).size).toBe(statSync(path).size);
    expect(read(path)).toEqual({ labels: ['L1', 'L2', 'L3', 'L4', 'L5'], bad: 1 });
  });

  it('R5 a flush at the end writes what could not be written before', async (context) => {
    needTool(context, 'prlimit');
    const path = join(tempFolder(), 'journal.jsonl');
    const line = result(1).toString().trimEnd();
    const store = startUnderLimit(path, 10);
    expect(await store.ask(line)).toMatchObject({ written: false, unwritten: { lines: 1 } });
    expect(await store.ask('flush')).toMatchObject({ unwritten: { lines: 1 } });
    store.lift();
    expect(await store.ask('flush')).toMatchObject({ unwritten: { lines: 0 } });
    expect(read(path)).toEqual({ labels: ['L1'], bad: 1 });
  });

  it('R6 a batch of lines that is cut short: the whole ones are not written twice', async (context) => {
    needTool(context, 'prlimit');
    const path = join(tempFolder(), 'journal.jsonl');
    writeFileSync(path, Buffer.concat([result(1), result(2).subarray(0, 30)]));
    const limit = statSync(path).size + result(3).length + 40;
    const batch = [3, 4, 5]
      .map((n) => result(n).toString())
      .join('')
      .trimEnd();
    const store = startUnderLimit(path, limit);
    // The lines of a batch come as one here; the store is given them one by one, which is the harder case for the tail.
    for (const line of batch.split('\n')) await store.ask(line);
    store.lift();
    await store.ask(result(6).toString().trimEnd());
    expect(read(path).labels).toEqual(['L1', 'L3', 'L4', 'L5', 'L6']);
  });

  it('R5 a full disk: append says so and does not throw, the lines stay in memory, in order', () => {
    const path = join(tempFolder(), 'journal.jsonl');
    symlinkSync('/dev/full', path);
    const store = openFileStore(path);
    expect(store.append(result(1))).toBe(false);
    expect(store.append(Buffer.concat([result(2), result(3)]))).toBe(false);
    expect(store.unwritten).toEqual({ lines: 3, reason: 'ENOSPC' });
    expect(store.size).toBe(0);
    store.close();
  });

  it('R5 a disk that cannot sync does not end the run', () => {
    const store = openFileStore('/dev/null', { sync: 'each' });
    expect(() => store.append(result(1))).not.toThrow();
    store.close();
  });

  it('a source larger than what is read at once is read in pieces, and stays readable when the file is gone', () => {
    const path = join(tempFolder(), 'journal.jsonl');
    const store = openFileStore(path);
    const filler = JSON.stringify('x'.repeat(1 << 20));
    const lines = Array.from({ length: 70 }, (_, i) => result(i + 1, filler));
    for (const line of lines) store.append(line);
    store.close();
    const source = openFileSource(path);
    unlinkSync(path);
    const found = [...scanJournal(source)];
    expect(found.map(({ line }) => line)).toEqual(lines.map((_, i) => i + 1));
    const { offset, length } = found[41] as (typeof found)[number];
    expect(source.readAt(offset, length).equals((lines[41] as Buffer).subarray(0, -1))).toBe(true);
    source.close();
  });

  it('R2 a journal that is a folder, or that is not there, is named as such', () => {
    const folder = tempFolder();
    expect(() => openFileSource(folder)).toThrow(expect.objectContaining({ code: 'EISDIR' }));
    expect(() => openFileSource(join(folder, 'none'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });
});
