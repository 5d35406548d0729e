import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { carryLines } from '../../src/journal/carry.js';
import { encodeResult } from './support/lines.js';
import { createMemoryStore, memorySource } from '../../src/journal/memory-store.js';
import { readWholeResult, scanJournal } from '../../src/journal/read-journal.js';
import { checksum, faultOf, journalLine } from '../support/journal.js';
import { testSeed } from '../support/seeds.js';
import { anyLine, anyResult, keyOf } from './support/arbitraries.js';
import { keptResults, type ModelRun, startModelRun } from './support/model-run.js';

const RUNS = { seed: testSeed(), numRuns: 300 };

const labels = (run: ModelRun): (string | undefined)[] =>
  keptResults(run.carried?.lines ?? []).map(({ label }) => label);
const answers = (run: ModelRun): unknown[] =>
  keptResults(run.carried?.lines ?? [])
    .filter(({ kind }) => kind === 'ok')
    .map((line) => JSON.parse(run.carried?.readOutput(line).toString('utf8') ?? ''));

function carry(bytes: Buffer | string, from = 'source') {
  const store = createMemoryStore();
  return { ...carryLines(memorySource(Buffer.from(bytes)), from, store), bytes: store.bytes() };
}

describe('what a resume takes over', () => {
  it('J9 delivered lines by place first, then kept ones that no call had asked for, in their old order', () => {
    const first = startModelRun('one');
    for (const name of ['a', 'b', 'c', 'd']) first.live(name);
    const second = first.resume('two');
    expect(labels(second)).toEqual(['a', 'b', 'c', 'd']);
    // The second run asks for c, makes x, asks for a, and is killed: b and d were never asked for.
    second.hit(3);
    second.live('x');
    second.hit(1);
    const third = second.resume('three');
    expect(labels(third)).toEqual(['c', 'x', 'a', 'b', 'd']);
    expect(third.carried?.lines.map(({ kept }) => kept)).toEqual([1, 2, 3, 4, 5]);
    expect(keptResults(third.carried?.lines ?? []).map(({ delivered }) => delivered)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  it('a place between two whole numbers is kept between them', () => {
    const line = (seq: number, name: string): Buffer =>
      encodeResult({ seq, n: 1, key: keyOf(name), path: '', nth: 0, label: name, kind: 'ok' }, '1');
    const { lines } = carry(Buffer.concat([line(2, 'c'), line(1, 'a'), line(1 + 2 ** -24, 'b')]));
    expect(keptResults(lines).map(({ label }) => label)).toEqual(['a', 'b', 'c']);
  });

  it('J12 a hit gives its line the identity of the call that took it', () => {
    const first = startModelRun('one');
    first.live('vote', { path: 'p0.0', nth: 0, label: 'old' });
    const second = first.resume('two');
    second.hit(1, { path: 'p0.2', nth: 1, label: 'new', n: 7 });
    const third = second.resume('three');
    expect(third.carried?.lines).toMatchObject([{ path: 'p0.2', nth: 1, label: 'new', n: 7, key: keyOf('vote') }]);
    // What was not asked for keeps the one that it had.
    const fourth = third.resume('four');
    expect(fourth.carried?.lines).toMatchObject([{ path: 'p0.2', nth: 1, label: 'new', n: 7 }]);
  });

  it('names the run that made a result, over any number of resumes', () => {
    const first = startModelRun('one');
    first.live('a');
    const second = first.resume('two');
    second.hit(1);
    second.live('b');
    const fourth = second.resume('three').resume('four');
    expect(keptResults(fourth.carried?.lines ?? []).map(({ label, from }) => [label, from])).toEqual([
      ['a', 'one'],
      ['b', 'two'],
    ]);
    expect(answers(fourth)).toEqual(['a of one', 'b of two']);
  });

  it('J14 failures and skips are taken over for the record', () => {
    const first = startModelRun('one');
    first.live('a', { kind: 'failed' });
    first.live('b');
    first.live('c', { kind: 'skipped' });
    const second = first.resume('two');
    expect(keptResults(second.carried?.lines ?? []).map(({ kind }) => kind)).toEqual(['failed', 'ok', 'skipped']);
    const third = second.resume('three');
    expect(keptResults(third.carried?.lines ?? []).map(({ kind }) => kind)).toEqual(['failed', 'ok', 'skipped']);
    const [failed] = [...scanJournal(memorySource(third.bytes()))];
    expect(readWholeResult(failed as never)).toMatchObject({
      error: { code: 'WF_CALL_FAILED', message: 'no' },
      prompt: 'do a',
      from: 'one',
    });
  });

  it('R3 a line that stands twice counts once', () => {
    const first = startModelRun('one');
    first.live('a');
    first.timer(0, 50);
    first.live('b');
    const once = carry(first.bytes());
    const twice = carry(Buffer.concat([first.bytes(), first.bytes()]));
    expect(twice.lines).toEqual(once.lines);
    expect(twice.bytes).toEqual(once.bytes);
  });

  it('R3 a hit that stands twice, names no line, or a line of another key changes nothing', () => {
    const first = startModelRun('one');
    first.live('a');
    first.live('b');
    first.live('c');
    const second = first.resume('two');
    second.hit(2);
    second.hit(1);
    const expected = carry(second.bytes());
    const [, , , hit] = [...scanJournal(memorySource(second.bytes()))];
    const fields = hit?.header as unknown as Record<string, unknown>;
    const odd = [
      // Behind the other one: the first place of a line is the one that counts.
      { ...fields, seq: 9, path: 'p0.7', nth: 7 },
      { ...fields, of: 77 },
      { ...fields, of: 3, seq: 3 },
    ].map((hitFields) => journalLine(hitFields));
    expect(carry(Buffer.concat([second.bytes(), Buffer.from(odd.join(''))])).bytes).toEqual(expected.bytes);
  });

  it('B-018 a timer keeps its place among the answers over any number of resumes', () => {
    const first = startModelRun('one');
    first.live('a');
    first.timer(0, 50);
    first.live('b');
    let run = first.resume('two');
    for (const id of ['three', 'four', 'five']) {
      // What the engine writes when it replays all of it.
      for (const line of run.carried?.lines ?? []) {
        if (line.type === 'result') run.hit(line.kept);
        else if (line.type === 'timer') run.timer(line.n, line.ms);
      }
      run = run.resume(id);
      expect(run.carried?.lines.map(({ type }) => type)).toEqual(['result', 'timer', 'result']);
    }
  });

  it('B-018 a timer that a resume did not come to is kept like the answers', () => {
    const first = startModelRun('one');
    first.live('a');
    first.timer(0, 50);
    first.timer(1, 70);
    const second = first.resume('two');
    second.hit(1);
    second.timer(0, 50);
    const third = second.resume('three');
    expect(third.carried?.lines.map((line) => (line.type === 'timer' ? line.ms : line.type))).toEqual([
      'result',
      50,
      70,
    ]);
  });

  it('B-011 of two texts of one child the later one counts', () => {
    const first = startModelRun('one');
    first.script('child', 'old');
    const second = first.resume('two');
    second.script('child', 'new');
    const third = second.resume('three');
    const sources = third.carried?.lines.flatMap((line) => (line.type === 'script' ? [line.source] : []));
    expect(sources?.at(-1)).toBe('new');
  });

  it('J13 a chain of resumes, each asking for anything in any order, loses no answer and makes none up', () => {
    const step = fc.oneof(
      { weight: 2, arbitrary: fc.record({ hit: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ live: fc.constantFrom('a', 'b', 'c', 'd') }) },
      { weight: 1, arbitrary: fc.record({ timer: fc.nat({ max: 3 }) }) },
    );
    const generation = fc.array(step, { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(generation, { minLength: 1, maxLength: 6 }), (generations) => {
        let run = startModelRun('run0');
        const made: string[] = [];
        let expected: string[] = [];
        for (const [i, steps] of generations.entries()) {
          const nths = new Map<string, number>();
          const unasked = keptResults(run.carried?.lines ?? []);
          const order: string[] = [];
          for (const one of steps) {
            if ('live' in one) {
              const nth = nths.get(one.live) ?? 0;
              nths.set(one.live, nth + 1);
              run.live(one.live, { nth });
              order.push(`${one.live} of ${run.id}`);
              made.push(`${one.live} of ${run.id}`);
            } else if ('timer' in one) run.timer(one.timer, 5);
            else {
              const [line] = unasked.splice(one.hit % Math.max(1, unasked.length), 1);
              if (line === undefined) continue;
              run.hit(line.kept, { nth: 50 + one.hit });
              order.push(JSON.parse(run.carried?.readOutput(line).toString() ?? '') as string);
            }
          }
          const asked = new Set(order);
          expected = [...order, ...expected.filter((answer) => !asked.has(answer) || countOf(order, answer) === 0)];
          run = run.resume(`run${i + 1}`);
          expect(new Set(answers(run))).toEqual(new Set(made));
          expect(answers(run)).toHaveLength(made.length);
          expect(keptResults(run.carried?.lines ?? []).filter(({ delivered }) => delivered)).toHaveLength(order.length);
          expect(answers(run).slice(0, order.length)).toEqual(order);
        }
      }),
      RUNS,
    );
  });

  it('R3 any lines: what is written is sound, is what is returned, and a second time comes out the same', () => {
    fc.assert(
      fc.property(fc.array(anyLine(), { maxLength: 10 }), (lines) => {
        const first = carry(Buffer.concat(lines));
        const texts = first.bytes.toString('utf8').split('\n').slice(0, -1);
        for (const text of texts) expect(faultOf(text), text).toBeUndefined();
        expect(texts).toHaveLength(first.lines.length);
        const second = carry(first.bytes, 'other');
        expect(second.damage.bad).toEqual([]);
        const strip = (all: typeof first.lines) =>
          all.map((line) => ({ ...line, delivered: 0, outputOffset: 0, lineOffset: 0, lineLength: 0, canonical: 0 }));
        expect(strip(second.lines)).toEqual(strip(first.lines));
        expect(second.bytes).toEqual(first.bytes);
      }),
      RUNS,
    );
  });

  it('an answer is taken over byte for byte, and so is what people see beside it', () => {
    fc.assert(
      fc.property(anyResult(), ({ fields, outputJson }) => {
        const { lines, bytes, readOutput } = carry(encodeResult(fields, outputJson));
        const [line] = keptResults(lines);
        if (line === undefined) throw new Error('the line was lost');
        if (outputJson !== undefined) expect(readOutput(line).toString('utf8')).toBe(outputJson);
        const [written] = [...scanJournal(memorySource(bytes))];
        const { seq: _, ...expected } = JSON.parse(encodeResult(fields, outputJson).toString('utf8'));
        const { kept, from, ...whole } = readWholeResult(written as never) as unknown as Record<string, unknown>;
        expect([kept, from]).toEqual([1, 'source']);
        delete expected.sum;
        expect(whole).toEqual(expected);
      }),
      RUNS,
    );
  });

  it('R3 lines that another program wrote, in its own order and spacing, are taken over whole', () => {
    const fields = { v: 1, type: 'result', n: 1, key: keyOf('x'), path: '', nth: 0, label: 'L' };
    const reordered = journalLine({ output: { a: [1, ',"output":2'] }, kind: 'ok', ...fields, seq: 4 });
    const open = JSON.stringify({ ...fields, seq: 5, nth: 1, kind: 'ok', size: 3 }, null, 1).replaceAll('\n', '');
    const spaced = spacedLine(open, ',"output":"a"');
    const withError = journalLine({ ...fields, nth: 2, seq: 6, kind: 'failed', size: 4, output: null });
    const { lines, bytes, readOutput } = carry(reordered + spaced + withError);
    const texts = bytes.toString('utf8').split('\n').slice(0, -1);
    expect(texts.map((text) => faultOf(text))).toEqual([undefined, undefined, undefined]);
    expect(texts.map((text) => JSON.parse(text))).toMatchObject([
      { output: { a: [1, ',"output":2'] }, kept: 1, kind: 'ok' },
      { output: 'a', kept: 2, kind: 'ok' },
      { kept: 3, kind: 'failed' },
    ]);
    const outputs = keptResults(lines)
      .slice(0, 2)
      .map((line) => readOutput(line).toString());
    expect(outputs).toEqual(['{"a":[1,",\\"output\\":2"]}', '"a"']);
  });

  it('R3 texts that hold quotes where the engine writes none are escaped again', () => {
    const from = 'x","kind":"failed';
    const fields = { v: 1, type: 'result', n: 1, key: keyOf('x'), path: '', nth: 0, from };
    const { bytes } = carry(
      journalLine({ ...fields, kept: 3, kind: 'ok', output: 1, startedAt: '"' }) +
        journalLine({ ...fields, kept: 4, kind: 'ok', size: 1, output: 1, startedAt: '"' }) +
        journalLine({ ...fields, kept: 5, startedAt: '"', kind: 'ok', size: 1, output: 1 }),
    );
    const texts = bytes.toString('utf8').split('\n').slice(0, -1);
    expect(texts).toHaveLength(3);
    for (const text of texts) {
      expect(faultOf(text), text).toBeUndefined();
      expect(JSON.parse(text)).toMatchObject({ from, kind: 'ok', output: 1, startedAt: '"' });
    }
  });

  it('R3 results that have neither a place nor an ordinal are all taken over', () => {
    const fields = { v: 1, type: 'result', n: 1, key: keyOf('x'), path: '', kind: 'ok' };
    const { lines } = carry(
      journalLine({ ...fields, nth: 0, size: 1, output: 1 }) + journalLine({ ...fields, nth: 1, size: 1, output: 2 }),
    );
    expect(keptResults(lines)).toHaveLength(2);
  });

  it('R3 counts the damage, and takes over what is whole', () => {
    const first = startModelRun('one');
    first.live('a');
    first.live('b');
    const damaged = Buffer.concat([Buffer.from('garbage\n'), first.bytes(), Buffer.from('{"v":1,"type":"res')]);
    const { lines, damage } = carry(damaged);
    expect(keptResults(lines).map(({ label }) => label)).toEqual(['a', 'b']);
    expect(damage).toMatchObject({ tornTail: true, bad: [{ line: 1 }, { line: 4, fault: 'torn' }] });
  });

  it('H12 writes nothing when the source is of a newer version', () => {
    const first = startModelRun('one');
    first.live('a');
    const store = createMemoryStore();
    const newer = Buffer.concat([first.bytes(), Buffer.from(journalLine({ v: 9, type: 'result' }))]);
    expect(() => carryLines(memorySource(newer), 'one', store)).toThrow(
      expect.objectContaining({ code: 'WF_VERSION_NEWER' }),
    );
    expect(store.size).toBe(0);
  });

  it('many lines are written in few pieces', () => {
    const first = startModelRun('one');
    for (let i = 0; i < 500; i++) first.live(`call ${i}`);
    let appends = 0;
    const store = createMemoryStore();
    const counting = {
      ...store,
      append(bytes: Buffer) {
        appends++;
        return store.append(bytes);
      },
    };
    carryLines(memorySource(first.bytes()), 'one', counting);
    expect(appends).toBeLessThanOrEqual(2);
  });
});

const countOf = (all: readonly string[], one: string): number => all.filter((item) => item === one).length;

/** A sealed line whose JSON has spaces that the engine does not write. */
function spacedLine(open: string, rest: string): string {
  const line = journalLine({ placeholder: 1 });
  const head = `${open.slice(0, -1)}${rest}`;
  const sum = JSON.parse(line).sum as string;
  return line.replace(line.slice(0, line.indexOf(',"sum"')), head).replace(sum, checksum(head));
}
