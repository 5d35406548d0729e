import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeHit, encodeResult, encodeScript, encodeTimer } from './support/lines.js';
import { createLineBatch, decodeLine, parseWholeLine } from '../../src/journal/line.js';
import { canonicalJson } from '../../src/shared/canonical-json.js';
import { checksum, faultOf, journalLine } from '../support/journal.js';
import { testSeed } from '../support/seeds.js';
import { anyHit, anyResult, anyScript, anyTimer, jsonValue, keyOf } from './support/arbitraries.js';

const RUNS = { seed: testSeed(), numRuns: 500 };

/** As the reader sees it: the bytes without the newline. */
const body = (line: Buffer): Buffer => line.subarray(0, -1);

function decode(line: Buffer): Record<string, unknown> {
  const decoded = decodeLine(body(line));
  if (typeof decoded === 'string') throw new Error(decoded);
  return parseWholeLine(decoded);
}

/** Without the members that are undefined, as JSON has them. */
const plain = (value: object): unknown => JSON.parse(JSON.stringify(value));

function expectSoundLine(line: Buffer): void {
  expect(line.indexOf(0x0a)).toBe(line.length - 1);
  expect(faultOf(body(line).toString('utf8'))).toBeUndefined();
  // Nothing was lost on the way to UTF-8.
  expect(Buffer.from(line.toString('utf8'))).toEqual(line);
}

const BASE = { n: 1, key: keyOf('x'), path: '', nth: 0, kind: 'ok' as const };

describe('lines that are gathered', () => {
  /** Lengths about the bounds by which room is made, and characters of one to four bytes. */
  const piece = () =>
    fc
      .tuple(
        fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(65_535, 65_536, 65_537, 70_000)),
        fc.constantFrom('a', 'é', '€', '😀', '\ud800'),
      )
      .map(([length, character]) => character.repeat(length));
  const lines = () => fc.array(fc.array(piece(), { minLength: 1, maxLength: 4 }), { maxLength: 6 });

  it('each stands whole behind the one before, with its own checksum, however often they are taken', () => {
    fc.assert(
      fc.property(fc.array(lines(), { maxLength: 3 }), fc.boolean(), (rounds, raw) => {
        const batch = createLineBatch(100);
        for (const round of rounds) {
          const expected: string[] = [];
          for (const [first = '', ...others] of round) {
            const rest = others.join('');
            const open = `{"a":${JSON.stringify(first)},"b":`;
            if (raw) batch.add(open, Buffer.from(JSON.stringify(rest)));
            else batch.addText([open, JSON.stringify(rest)]);
            expected.push(`${open}${JSON.stringify(rest)}`);
          }
          const taken = batch.take();
          const found = taken.toString('utf8').split('\n');
          expect(found.pop()).toBe('');
          for (const line of found) expect(decodeLine(Buffer.from(line))).toBeTypeOf('object');
          expect(found.map((line) => line.slice(0, -',"sum":"00000000"}'.length))).toEqual(expected);
          expect(batch.size).toBe(0);
        }
      }),
      { ...RUNS, numRuns: 100 },
    );
  });
});

describe('a line of the journal', () => {
  it('result: any answer, prompt, label and option comes back as it was, on one sound line', () => {
    fc.assert(
      fc.property(anyResult(), ({ fields, outputJson }) => {
        const line = encodeResult(fields, outputJson);
        expectSoundLine(line);
        const { v, type, size, phase, ...rest } = decode(line);
        expect([v, type]).toEqual([1, 'result']);
        expect(size).toBe(outputJson === undefined ? undefined : Buffer.byteLength(outputJson));
        const expected = { ...fields, ...(outputJson === undefined ? {} : { output: JSON.parse(outputJson) }) };
        const { phase: givenPhase, ...others } = expected;
        expect(canonicalJson(rest)).toBe(canonicalJson(plain(others)));
        expect(phase ?? null).toBe(givenPhase ?? null);
      }),
      RUNS,
    );
  });

  it('result: the answer is found as raw bytes, whatever stands in it or before it', () => {
    fc.assert(
      fc.property(anyResult(), ({ fields, outputJson }) => {
        const decoded = decodeLine(body(encodeResult(fields, outputJson)));
        if (typeof decoded === 'string') throw new Error(decoded);
        expect(decoded.output?.toString('utf8')).toBe(outputJson);
      }),
      RUNS,
    );
  });

  it('result: the fast way and plain JSON.parse agree', () => {
    fc.assert(
      fc.property(anyResult(), ({ fields, outputJson }) => {
        const line = encodeResult(fields, outputJson);
        const { sum: _, ...whole } = JSON.parse(line.toString('utf8')) as Record<string, unknown>;
        expect(canonicalJson(decode(line))).toBe(canonicalJson(whole));
      }),
      RUNS,
    );
  });

  it('hit, timer and script come back as they were', () => {
    fc.assert(
      fc.property(anyHit(), anyTimer(), anyScript(), (hit, timer, script) => {
        for (const [line, fields] of [
          [encodeHit(hit), hit],
          [encodeTimer(timer), timer],
          [encodeScript(script), script],
        ] as const) {
          expectSoundLine(line);
          const { v, type: _, ...rest } = decode(line);
          expect(v).toBe(1);
          // No phase and a phase of none are one thing; so are no path and the empty one of a timer.
          const strip = (value: object): unknown =>
            Object.fromEntries(
              Object.entries(value).filter(([name, member]) => !(name === 'phase' && member === null)),
            );
          const expected = strip(plain(fields) as object) as Record<string, unknown>;
          if (fields === timer && timer.path === '') delete expected.path;
          expect(canonicalJson(rest)).toBe(canonicalJson(expected));
        }
      }),
      RUNS,
    );
  });

  it('a line that another program wrote, members in any order, is read all the same', () => {
    fc.assert(
      fc.property(jsonValue(), jsonValue(), (output, salt) => {
        const fields = { output, v: 1, opts: { salt }, type: 'result', ...BASE };
        const decoded = decodeLine(Buffer.from(journalLine(fields).slice(0, -1)));
        if (typeof decoded === 'string') throw new Error(decoded);
        expect(canonicalJson(JSON.parse(decoded.output?.toString('utf8') ?? ''))).toBe(canonicalJson(output));
        expect(canonicalJson(parseWholeLine(decoded))).toBe(canonicalJson(fields));
      }),
      RUNS,
    );
  });

  it('R3 a size that is not that of the answer never yields a part of the answer', () => {
    for (const size of [0, 1, 4, 6, 999, -1, 1.5, '5', null]) {
      const fields = { v: 1, type: 'result', ...BASE, size, output: 12345, attempts: 1 };
      const decoded = decodeLine(Buffer.from(journalLine(fields).slice(0, -1)));
      if (typeof decoded === 'string') continue;
      expect([size, decoded.output?.toString()]).toEqual([size, '12345']);
    }
  });

  it('R3 of a member that stands before the answer and again behind it, the first counts: the line was taken for that', () => {
    const fields = { v: 1, type: 'result', ...BASE, size: 1, output: 1 };
    const text = `${JSON.stringify(fields).slice(0, -1)},"kind":"failed","key":"${keyOf('another')}","n":7,"size":9`;
    expect(decode(Buffer.from(`${text},"sum":"${checksum(text)}"}\n`))).toEqual(fields);
  });

  it('every single flipped bit is noticed', () => {
    const line = body(encodeResult({ ...BASE, seq: 1, label: 'A', prompt: 'do A' }, '"an answer"'));
    for (let bit = 0; bit < line.length * 8; bit++) {
      const damaged = Buffer.from(line);
      damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7));
      const decoded = decodeLine(damaged);
      // Hex digits of the sum in capitals say the same sum.
      if (typeof decoded !== 'string') expect(decoded).toEqual(decodeLine(line));
      else expect(decoded).toMatch(/^(torn|no checksum|wrong checksum)$/);
    }
  });

  it('a carriage return at the end and a byte order mark at the start are ignored', () => {
    const line = body(encodeResult(BASE, '1'));
    const expected = decodeLine(line);
    expect(decodeLine(Buffer.concat([line, Buffer.from('\r')]))).toEqual(expected);
    expect(decodeLine(Buffer.concat([Buffer.from('\ufeff'), line]))).toEqual(expected);
  });

  it('names the fault of a line that is none', () => {
    const line = body(encodeResult(BASE, '1')).toString();
    const faults = {
      '': 'empty',
      '\r': 'empty',
      '{"v":1': 'torn',
      [line.slice(0, -1)]: 'torn',
      [line.slice(0, -20)]: 'torn',
      [`${'x'.repeat(40)}`]: 'no checksum',
      '{"v":1,"type":"result","n":1}': 'no checksum',
      [line.replace('"n":1', '"n":2')]: 'wrong checksum',
      [journalLine({ a: 1 }).replace('{"a"', '["a"').trimEnd()]: 'wrong checksum',
    };
    for (const [text, fault] of Object.entries(faults))
      expect([text, decodeLine(Buffer.from(text))]).toEqual([text, fault]);
  });
});
