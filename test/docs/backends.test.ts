/** docs/backends.md shows what the suite with real agents gave. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mergeResults, placeTable, readResults, renderTable } from '../../scripts/backends-table.mjs';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'backends.md'), 'utf8');

describe('docs/backends.md', () => {
  it('holds the table that test/agents/results.json gives (node scripts/backends-table.mjs)', () => {
    expect(page).toBe(placeTable(page, readResults()));
  });

  it('tells of no scenario that fails', () => {
    expect(JSON.stringify(readResults())).not.toContain('"fails"');
  });
});

describe('the table of backends', () => {
  it('takes new results into the known ones and names each reason once', () => {
    const known = { backends: { b: 'b 1' }, scenarios: [{ scenario: 'text', results: { b: 'works' } }] };
    const news = [
      { backend: 'a', runs: 'a 2', scenario: 'text', state: 'works' },
      { backend: 'a', runs: 'a 2', scenario: 'cost', state: 'cannot', note: 'no prices' },
      { backend: 'b', runs: 'b 2', scenario: 'cost', state: 'cannot', note: 'no prices' },
    ];
    const lines = renderTable(mergeResults(known, news, ['text', 'cost', 'tool use'])).split('\n');
    expect(lines).toEqual([
      'Run with `a`: a 2; `b`: b 2.',
      '',
      '|  | `a` | `b` |',
      '| --- | --- | --- |',
      '| text | ✓ | ✓ |',
      '| cost | – (1) | – (1) |',
      '| tool use | · | · |',
      '',
      '1. no prices',
      '',
    ]);
  });
});
