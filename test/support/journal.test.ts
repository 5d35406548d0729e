import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checksum, faultOf, journalLine, readJournal, waitForJournalLines } from './journal.js';
import { makeProject } from './temp-project.js';

const line = journalLine({ v: 1, type: 'result', output: 'grün "sum":' });

describe('the strict journal reader', () => {
  it('knows the check value of CRC-32', () => expect(checksum('123456789')).toBe('cbf43926'));

  it('pads the sum to eight digits', () => {
    const texts = Array.from({ length: 400 }, (_, i) => checksum(String(i)));
    expect(texts.every((text) => /^[0-9a-f]{8}$/.test(text))).toBe(true);
    expect(texts.some((text) => text.startsWith('0'))).toBe(true);
  });

  it('reads what it should', () => {
    const project = makeProject();
    const file = project.write('journal.jsonl', line + journalLine({ v: 1, type: 'timer', n: 0, ms: 5 }));
    expect(readJournal(file)).toMatchObject([{ output: 'grün "sum":' }, { type: 'timer', ms: 5 }]);
    expect(readJournal(project.write('empty.jsonl', ''))).toEqual([]);
  });

  it.each([
    ['no newline', line.slice(0, -1), /the last line has no newline/],
    ['bad UTF-8', Buffer.from([0xff, 0x0a]), /encoded data was not valid/],
    ['an empty line', `${line}\n`, /:2: not JSON/],
    ['a wrong sum', line.replace('grün', 'grim'), /:1: wrong sum/],
    [
      'a capital in the sum',
      line.replace(/"sum":"(\w+)"}\n$/, (_, sum) => `"sum":"${sum.toUpperCase()}X"}\n`),
      /wrong sum/,
    ],
    ['no sum', '{"v":1,"type":"hit"}\n', /sum is not the last field/],
    ['no version', '{"type":"hit","sum":"00000000"}\n', /no version/],
  ])('refuses %s', (_, text, message) => {
    const project = makeProject();
    expect(() => readJournal(project.write('journal.jsonl', text))).toThrow(message);
  });

  it('has nothing against a line it made', () => expect(faultOf(line.trimEnd())).toBeUndefined());
});

describe('waitForJournalLines', () => {
  it('counts whole lines of the newest run, by type if asked', async () => {
    const project = makeProject();
    const file = '.claude/workflow-runs/00000000-0000-4000-8000-000000000001/journal.jsonl';
    const waiting = waitForJournalLines(project, 2, { type: 'result' });
    project.write(file, line + journalLine({ v: 1, type: 'timer', n: 0, ms: 1 }) + line.slice(0, 10));
    await expect(waitForJournalLines(project, 3, { timeoutMs: 100 })).rejects.toThrow(/Waited 100 ms for 3/);
    expect(await waitForJournalLines(project, 2)).toBe(project.path(file));
    writeFileSync(project.path(file), line.slice(10), { flag: 'a' });
    expect(await waiting).toBe(project.path(file));
  });
});
