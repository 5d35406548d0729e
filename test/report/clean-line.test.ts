import { describe, expect, test } from 'vitest';
import { cleanFrame, cleanLine } from '../../src/report/clean-line.js';

describe('text of scripts and agents in our lines', () => {
  test('holds no escape sequences, control characters or line ends', () => {
    expect(cleanLine('a\u001b[2J\u001b]0;title\u0007b\r\nc\td\u0000e\u0085f\u2028g')).toBe('ab c d e f g');
  });
  test('cannot turn the writing direction', () => {
    expect(cleanLine('ab\u202ecd\u2066ef')).toBe('abcdef');
  });
  test('is cut without tearing a pair', () => {
    expect(cleanLine('ab😀cd', 4)).toBe('ab…');
    expect(cleanLine('ab😀c', 5)).toBe('ab😀c');
    expect(cleanLine('x'.repeat(5_000_000), 10)).toBe('xxxxxxxxx…');
  });
  test('lone surrogates become the replacement mark', () => {
    expect(cleanLine('a\ud800b')).toBe('a\ufffdb');
  });
  test('a code frame keeps its spaces and is bounded', () => {
    expect(cleanFrame('  1 | a\u001b[31m\n    |   ^')).toEqual(['  1 | a', '    |   ^']);
    expect(cleanFrame('x\n'.repeat(1000)).length).toBe(20);
  });
});
