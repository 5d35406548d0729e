/** Holds docs/dialect.md and the tests of the dialect together: no row without a test, no test without a row. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const HERE = import.meta.dirname;
const page = readFileSync(join(HERE, '..', '..', 'docs', 'dialect.md'), 'utf8');

interface Row {
  id: string;
  behaviour: string;
  status: string;
  probes: number[];
  tests: string[];
}

const rows: Row[] = page
  .split('\n')
  .filter((line) => /^\| [CX]\d/.test(line))
  .map((line) => {
    const [, id = '', behaviour = '', status = '', probes = '', tests = '', ...rest] = line
      .split('|')
      .map((cell) => cell.trim());
    expect([line, rest]).toEqual([line, ['']]);
    return { id, behaviour, status, probes: listOf(probes).map(Number), tests: listOf(tests) };
  });

function listOf(cell: string): string[] {
  return cell === '' ? [] : cell.split(/,\s*/);
}

/** ID → files in whose test names it stands; names of tests, not their bodies. */
const named = new Map<string, Set<string>>();
/** ID and probe that stand in one test's name. */
const probed = new Map<number, Set<string>>();
for (const file of readdirSync(HERE).filter((name) => name.endsWith('.test.ts'))) {
  const text = readFileSync(join(HERE, file), 'utf8');
  for (const [, , name = ''] of text.matchAll(/^ *(?:it|test)(?:\.each\([\s\S]*?\n? *\]\))?\(\s*(['"`])(.*?)\1/gm)) {
    const ids = name.match(/\b[CX]\d{3}\b/g) ?? [];
    for (const id of ids) named.set(id, (named.get(id) ?? new Set()).add(file.replace('.test.ts', '')));
    for (const [, probe] of name.matchAll(/\bprobe (\d+)\b/g)) {
      const set = probed.get(Number(probe)) ?? new Set();
      for (const id of ids) set.add(id);
      probed.set(Number(probe), set);
    }
  }
}

describe('docs/dialect.md', () => {
  it('has rows of a known form, each ID once', () => {
    expect(rows.length).toBeGreaterThan(120);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(rows.filter(({ id }) => !/^[CX]\d{3}$/.test(id))).toEqual([]);
    expect(rows.filter(({ behaviour }) => behaviour === '')).toEqual([]);
    // A reason stands behind everything that is not as in the original.
    expect(rows.filter(({ status }) => !/^(full|adapted: .{10,}|no: .{10,})$/.test(status))).toEqual([]);
  });

  it('names no row without a test, in the file that it names', () => {
    const lacking = rows.flatMap(({ id, tests }) => {
      const files = [...(named.get(id) ?? [])].sort();
      return JSON.stringify(files) === JSON.stringify([...tests].sort())
        ? []
        : [`${id}: ${tests} named, tested in ${files}`];
    });
    expect(lacking).toEqual([]);
  });

  it('has a row for every ID that a test names', () => {
    const ids = new Set(rows.map(({ id }) => id));
    expect([...named.keys()].filter((id) => !ids.has(id))).toEqual([]);
  });

  it('holds all 70 probes, each in a row whose tests name it', () => {
    const all = Array.from({ length: 70 }, (_, i) => i + 1);
    const held = new Set(rows.flatMap(({ probes }) => probes));
    expect(all.filter((probe) => !held.has(probe))).toEqual([]);
    const untested = rows.flatMap(({ id, probes }) =>
      probes.filter((probe) => !probed.get(probe)?.has(id)).map((probe) => `${id} probe ${probe}`),
    );
    expect(untested).toEqual([]);
  });

  it('says of the probes that were decided otherwise why they are adapted', () => {
    for (const probe of [26, 27, 33, 57, 59, 63, 64, 70]) {
      const own = rows.filter(({ probes }) => probes.includes(probe));
      expect([probe, own.every(({ status }) => status.startsWith('adapted: '))]).toEqual([probe, true]);
    }
  });
});
