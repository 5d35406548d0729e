import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeHit, encodeResult } from './support/lines.js';
import {
  entrySchema,
  hitEntrySchema,
  resultEntrySchema,
  scriptEntrySchema,
  timerEntrySchema,
} from '../../src/journal/entry.js';
import { hasEntryShape } from '../../src/journal/entry-shape.js';
import { memorySource } from '../../src/journal/memory-store.js';
import { describeDamage, type JournalDamage, readWholeResult, scanJournal } from '../../src/journal/read-journal.js';
import type { JournalSource } from '../../src/journal/store.js';
import { faultOf, journalLine } from '../support/journal.js';
import { testSeed } from '../support/seeds.js';
import { anyLine, jsonValue, keyOf } from './support/arbitraries.js';

const RUNS = { seed: testSeed(), numRuns: 300 };

interface Scan {
  /** Physical number and text of each line that was yielded. */
  lines: { line: number; text: string }[];
  damage: JournalDamage;
}

function scan(source: JournalSource | Buffer | string): Scan {
  const from = Buffer.isBuffer(source) || typeof source === 'string' ? memorySource(Buffer.from(source)) : source;
  const lines: Scan['lines'] = [];
  const reading = scanJournal(from);
  for (;;) {
    const next = reading.next();
    if (next.done) return { lines, damage: next.value };
    const { line, offset, length } = next.value;
    lines.push({ line, text: from.readAt(offset, length).toString('utf8') });
  }
}

/** Whether a strict reader, too, finds the line sound; a mark at its start and a CR at its end are let pass. */
const isSound = (text: string): boolean => faultOf(text.replace(/^\ufeff/, '').replace(/\r$/, '')) === undefined;

/** Damage of all kinds; `at` and `more` are in [0, 1). */
const MUTATIONS: Record<string, (bytes: Buffer, at: number, more: number) => Buffer> = {
  flip: (bytes, at, more) => {
    const copy = Buffer.from(bytes);
    const place = Math.floor(at * copy.length);
    if (copy.length > 0) copy[place] = (copy[place] as number) ^ (1 << Math.floor(more * 8));
    return copy;
  },
  cut: (bytes, at) => bytes.subarray(0, Math.floor(at * bytes.length)),
  drop: (bytes, at, more) => {
    const from = Math.floor(at * bytes.length);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + Math.floor(more * 40))]);
  },
  insert: (bytes, at, more) => {
    const from = Math.floor(at * bytes.length);
    const piece = ['\n', '\0\0\0', '\xff\xfe', '{}', '\r', 'garbage\n', '{"v":1,"type":"result"}\n'][
      Math.floor(more * 7)
    ] as string;
    return Buffer.concat([bytes.subarray(0, from), Buffer.from(piece, 'latin1'), bytes.subarray(from)]);
  },
  double: (bytes, at, more) => {
    const from = Math.floor(at * bytes.length);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(Math.floor(more * from))]);
  },
  swap: (bytes, at, more) => {
    const lines = bytes.toString('latin1').split(/(?<=\n)/);
    const [a, b] = [Math.floor(at * lines.length), Math.floor(more * lines.length)];
    [lines[a], lines[b]] = [lines[b] ?? '', lines[a] ?? ''];
    return Buffer.from(lines.join(''), 'latin1');
  },
};

const someJournal = (): fc.Arbitrary<Buffer> => fc.array(anyLine(), { maxLength: 8 }).map((all) => Buffer.concat(all));
const someDamage = () =>
  fc.array(
    fc.tuple(
      fc.constantFrom(...Object.keys(MUTATIONS)),
      fc.double({ min: 0, max: 0.999_999, noNaN: true }),
      fc.double({ min: 0, max: 0.999_999, noNaN: true }),
    ),
    { minLength: 1, maxLength: 3 },
  );

const result = (n: number, output = '"an answer"'): Buffer =>
  encodeResult({ seq: n, n, key: keyOf(String(n)), path: '', nth: 0, kind: 'ok', label: `L${n}` }, output);
const GOOD = [result(1), result(2), result(3)];

describe('reading a journal', () => {
  it('yields every line of a sound journal, in order', () => {
    fc.assert(
      fc.property(fc.array(anyLine(), { maxLength: 8 }), (lines) => {
        const found = scan(Buffer.concat(lines));
        expect(found.damage).toEqual({ bad: [], tornTail: false });
        expect(found.lines.map(({ text }) => `${text}\n`)).toEqual(lines.map((line) => line.toString()));
      }),
      RUNS,
    );
  });

  it('R3 random bytes: never throws, yields nothing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(scan(Buffer.from(bytes)).lines).toEqual([]);
      }),
      RUNS,
    );
  });

  it('R3 H18 random damage: no line of a wrong checksum is yielded, and no untouched line is lost', () => {
    fc.assert(
      fc.property(someJournal(), someDamage(), (journal, damage) => {
        const damaged = damage.reduce(
          (bytes, [kind, at, more]) => (MUTATIONS[kind] as (typeof MUTATIONS)[string])(bytes, at, more),
          journal,
        );
        const found = scan(damaged);
        for (const { text } of found.lines) expect(isSound(text), text).toBe(true);
        const original = new Set(journal.toString('latin1').split('\n'));
        const untouched = damaged
          .toString('latin1')
          .split('\n')
          .flatMap((text, i) => (text !== '' && original.has(text) ? [i + 1] : []));
        expect(found.lines.map(({ line }) => line)).toEqual(expect.arrayContaining(untouched));
        // Each line that is not yielded is named, but for empty ones.
        const named = [...found.lines.map(({ line }) => line), ...found.damage.bad.map(({ line }) => line)];
        expect(new Set(named).size).toBe(named.length);
      }),
      { ...RUNS, numRuns: 1_000 },
    );
  });

  it('does not depend on the pieces in which the bytes come', () => {
    fc.assert(
      fc.property(someJournal(), someDamage(), fc.array(fc.nat({ max: 60 })), (journal, damage, sizes) => {
        const bytes = damage.reduce(
          (all, [kind, at, more]) => (MUTATIONS[kind] as (typeof MUTATIONS)[string])(all, at, more),
          journal,
        );
        const inPieces: JournalSource = {
          ...memorySource(bytes),
          *pieces() {
            let at = 0;
            for (const size of sizes) {
              yield bytes.subarray(at, at + size);
              at = Math.min(bytes.length, at + size);
            }
            yield bytes.subarray(at);
          },
        };
        expect(scan(inPieces)).toEqual(scan(bytes));
      }),
      RUNS,
    );
  });

  it('B-025 a journal cut at every byte: the whole lines are kept, also the one that only lacks its newline', () => {
    const last = result(4, JSON.stringify('naïve 💶 "quoted" ,"output":'));
    const before = Buffer.concat(GOOD);
    for (let length = 0; length <= last.length; length++) {
      const found = scan(Buffer.concat([before, last.subarray(0, length)]));
      const isWhole = length >= last.length - 1;
      expect([length, found.lines.length]).toEqual([length, isWhole ? 4 : 3]);
      expect([length, found.damage.tornTail]).toEqual([length, !isWhole && length > 0]);
      expect([length, found.damage.bad.length]).toEqual([length, isWhole || length === 0 ? 0 : 1]);
    }
  });

  it('H18 a bad line in the middle is skipped alone and named with its number', () => {
    const found = scan(Buffer.concat([GOOD[0] as Buffer, Buffer.from('garbage\n'), ...GOOD.slice(1)]));
    expect(found.lines.map(({ line }) => line)).toEqual([1, 3, 4]);
    expect(found.damage.bad).toEqual(
      [{ line: 2, fault: 'torn' }].map(({ line }) => ({ line, fault: expect.any(String) })),
    );
    expect(describeDamage(found.damage)).toMatch(/^1 unreadable line \(line 2: /);
  });

  it('empty lines are no damage', () => {
    const found = scan(`\n${GOOD[0]}\n\r\n${GOOD[1]}\n`);
    expect(found.lines).toHaveLength(2);
    expect(found.damage).toEqual({ bad: [], tornTail: false });
  });

  it('R3 names what is wrong: kind, shape, version, and lines that are no JSON object', () => {
    const ok = { v: 1, type: 'result', n: 1, key: keyOf('x'), path: '', nth: 0, kind: 'ok', output: 1 };
    const { output: _, ...withoutOutput } = ok;
    const cases: [fields: Record<string, unknown>, fault: string][] = [
      [{ ...ok, type: 'intent' }, 'unknown kind'],
      [{ ...ok, type: '__proto__' }, 'unknown kind'],
      [{ ...ok, type: undefined }, 'unknown kind'],
      [{ ...ok, v: 0 }, 'unknown version'],
      [{ ...ok, v: '1' }, 'unknown version'],
      [{ ...ok, v: undefined }, 'unknown version'],
      [{ ...ok, key: 'abc' }, 'wrong shape'],
      [{ ...ok, key: 7 }, 'wrong shape'],
      [{ ...ok, path: null }, 'wrong shape'],
      [{ ...ok, nth: '0' }, 'wrong shape'],
      [{ ...ok, n: 1.5 }, 'wrong shape'],
      [{ ...ok, kind: 'done' }, 'wrong shape'],
      [{ ...ok, seq: '1' }, 'wrong shape'],
      [{ ...ok, kept: 0.5 }, 'wrong shape'],
      [{ ...ok, label: 5 }, 'wrong shape'],
      [withoutOutput, 'wrong shape'],
      [{ v: 1, type: 'hit', n: 1, key: keyOf('x'), path: '', nth: 0 }, 'wrong shape'],
      [{ v: 1, type: 'timer', n: 1 }, 'wrong shape'],
      [{ v: 1, type: 'script', name: 'c', path: null, sha256: 'x' }, 'wrong shape'],
    ];
    for (const [fields, fault] of cases) {
      expect([fields, scan(journalLine(fields)).damage.bad]).toEqual([fields, [{ line: 1, fault }]]);
    }
    expect(scan(journalLine(ok)).lines).toHaveLength(1);
  });

  it('H12 a line of a newer version stops the reading, by name; with a wrong checksum it is damage', () => {
    const newer = journalLine({ v: 2, type: 'result' });
    expect(() => scan(newer)).toThrow(expect.objectContaining({ code: 'WF_VERSION_NEWER' }));
    expect(scan(newer.replace('"v":2', '"v":3')).damage.bad).toEqual([{ line: 1, fault: 'wrong checksum' }]);
  });

  it('R3 deep nesting, a __proto__ member and odd members are data like any other', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const [line] = [...scanJournal(memorySource(result(1, deep)))];
    expect(line?.decoded.output?.toString()).toBe(deep);
    const proto = encodeResult(
      { n: 1, key: keyOf('x'), path: '', nth: 0, kind: 'ok', opts: JSON.parse('{"__proto__":{"polluted":1}}') },
      '{"__proto__":{"polluted":1}}',
    );
    const [read] = [...scanJournal(memorySource(proto))];
    expect(JSON.stringify(readWholeResult(read as never).output)).toBe('{"__proto__":{"polluted":1}}');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('R3 members that every object has by its nature are no trouble', () => {
    const ok = { v: 1, type: 'result', n: 1, key: keyOf('x'), path: '', nth: 0, kind: 'ok', output: 1 };
    for (const name of ['__proto__', 'constructor', 'hasOwnProperty', 'toString', '__defineGetter__']) {
      const fields = Object.fromEntries([...Object.entries(ok), [name, { n: 'x' }]]);
      expect([name, scan(journalLine(fields)).lines.length]).toEqual([name, 1]);
    }
  });

  it('R3 the shape by hand and the published one agree on any member of any value', () => {
    const shapes = {
      result: resultEntrySchema.shape,
      hit: hitEntrySchema.shape,
      timer: timerEntrySchema.shape,
      script: scriptEntrySchema.shape,
    };
    const sound = {
      result: { n: 1, key: keyOf('x'), path: '', nth: 0, kind: 'ok', output: 1 },
      hit: { n: 1, key: keyOf('x'), path: '', nth: 0, of: 1 },
      timer: { n: 1, ms: 5 },
      script: { name: 'c', path: null, sha256: 'x', source: '' },
    };
    const type = fc.constantFrom('result' as const, 'hit' as const, 'timer' as const, 'script' as const);
    const change = type.chain((chosen) =>
      fc.record({
        type: fc.constant(chosen),
        name: fc.constantFrom(...Object.keys(shapes[chosen]).filter((name) => !['v', 'type', 'output'].includes(name))),
        value: fc.oneof(
          jsonValue(),
          fc.constant(undefined),
          fc.integer(),
          fc.constantFrom('ok', 'failed', 1.5, -1, {}),
        ),
      }),
    );
    fc.assert(
      fc.property(change, ({ type, name, value }) => {
        const fields = { v: 1, type, ...sound[type], [name]: value };
        const { output: _, ...header } = fields as Record<string, unknown>;
        expect(hasEntryShape(type, header)).toBe(entrySchema.safeParse(header).success);
      }),
      { ...RUNS, numRuns: 2_000 },
    );
  });

  it('R3 a line beyond any size that can be right is named and not kept in memory', () => {
    const piece = Buffer.alloc(1 << 20, 0x61);
    let largest = 0;
    const huge: JournalSource = {
      size: 0,
      *pieces() {
        yield GOOD[0] as Buffer;
        for (let i = 0; i < 300; i++) {
          yield piece;
          largest = Math.max(largest, process.memoryUsage().arrayBuffers);
        }
        yield Buffer.from('\n');
        yield GOOD[1] as Buffer;
      },
      readAt: () => Buffer.alloc(0),
      close() {},
    };
    const reading = [...scanJournal(huge)];
    expect(reading.map(({ line }) => line)).toEqual([1, 3]);
    expect(largest).toBeLessThan(400 << 20);
  });

  it('says no more than five places, and how many more there are', () => {
    const text = describeDamage(scan('x\n'.repeat(7)).damage);
    expect(text).toMatch(/^7 unreadable lines \(line 1: .*line 5: [^,]*, and 2 more\)$/);
    expect(describeDamage({ bad: [], tornTail: false })).toBeUndefined();
  });

  it('a hit keeps the place of what it names', () => {
    const hit = { seq: 1, n: 3, key: keyOf('x'), path: 'p0', nth: 2, label: 'L', of: 5 };
    const [line] = [...scanJournal(memorySource(encodeHit(hit)))];
    expect(line?.header).toMatchObject({ ...hit, v: 1, type: 'hit' });
  });
});
