import { describe, expect, test } from 'vitest';
import { codeFrame } from '../../src/script/code-frame.js';

const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`).join('\n');

test('marks the column and shows two lines before and after', () => {
  expect(codeFrame(lines(12), 10, 6)).toBe(
    ['   8 | line 8', '   9 | line 9', '> 10 | line 10', '     |      ^', '  11 | line 11', '  12 | line 12'].join(
      '\n',
    ),
  );
});

test('context is the caller’s choice', () => {
  expect(codeFrame(lines(5), 3, 1, { context: 0 })).toBe('> 3 | line 3\n    | ^');
  expect(codeFrame(lines(5), 1, 1, { context: 1 })).toBe('> 1 | line 1\n    | ^\n  2 | line 2');
});

test('CRLF, a byte order mark and an empty line', () => {
  expect(codeFrame('\ufeffa\r\n\r\nb', 2, 1)).toBe('  1 | a\n> 2 |\n    | ^\n  3 | b');
});

test('a tab is two columns, in the line and under it', () => {
  expect(codeFrame('\t\tfoo(\t1)', 1, 8, { context: 0 })).toBe('> 1 |     foo(  1)\n    |           ^');
});

test('wide characters and marks', () => {
  expect(codeFrame('日本🙂e\u0301 x', 1, 8, { context: 0 })).toBe('> 1 | 日本🙂e\u0301 x\n    |         ^');
});

test('what would move the cursor or reorder the line is not printed', () => {
  expect(codeFrame('a\u001b[31m\u202eb\u0000', 1, 3, { context: 0 })).toBe('> 1 | a\ufffd[31m\ufffdb\ufffd\n    |   ^');
  expect(codeFrame('a\ud800', 1, 1, { context: 0 })).toBe('> 1 | a\ufffd\n    | ^');
});

describe('a long line is cut around the column', () => {
  const long = 'abcdefghij'.repeat(50);
  const marked = (column: number) => {
    const [row = '', mark = ''] = codeFrame(long, 1, column, { context: 0, width: 40 }).split('\n');
    return { row, at: row[mark.indexOf('^')] };
  };
  test('in the middle', () => {
    const { row, at } = marked(255);
    expect(row).toBe(`> 1 | …${long.slice(234, 274)}…`);
    expect(at).toBe('e');
  });
  test('at its start and its end', () => {
    expect(marked(3)).toEqual({ row: `> 1 | ${long.slice(0, 40)}…`, at: 'c' });
    expect(marked(500)).toEqual({ row: `> 1 | …${long.slice(460)}`, at: 'j' });
  });
  test('never inside a character', () => {
    const frame = codeFrame('🙂'.repeat(100), 1, 101, { context: 0, width: 31 });
    expect(frame.isWellFormed()).toBe(true);
    expect(frame).not.toContain('\ufffd');
  });
  test('lines around it are cut at their end', () => {
    expect(codeFrame(`${long}\nx`, 2, 1, { width: 10 })).toBe('  1 | abcdefghij…\n> 2 | x\n    | ^');
  });
});

test('a place outside the text is moved to the nearest one', () => {
  expect(codeFrame('ab', 9, 9, { context: 0 })).toBe('> 1 | ab\n    |   ^');
  expect(codeFrame('', 0, -3)).toBe('> 1 |\n    | ^');
  expect(codeFrame('ab', Number.NaN, Number.NaN)).toBe('> 1 | ab\n    | ^');
});
