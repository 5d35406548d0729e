import { describe, expect, test } from 'vitest';
import {
  formatCount,
  formatDuration,
  formatSavedTokens,
  formatTokens,
  formatTokensOf,
  formatUsd,
  plural,
} from '../../src/report/format.js';

describe('format', () => {
  test.each([
    [-5, '0 ms'],
    [0, '0 ms'],
    [999.4, '999 ms'],
    [999.6, '1.0 s'],
    [9_949, '9.9 s'],
    [9_960, '10 s'],
    [59_499, '59 s'],
    [59_600, '1 min'],
    [185_000, '3 min 5 s'],
    [3_599_600, '1 h'],
    [7_500_000, '2 h 5 min'],
    [86_399_999, '1 d'],
    [90_000_000, '1 d 1 h'],
  ])('a length of %d ms is %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  test.each([
    [0, '0'],
    [9_999, '9,999'],
    [10_000, '10.0k'],
    [999_949, '999.9k'],
    [999_950, '1.00M'],
    [1_234_567, '1.23M'],
    [2_000_000_000, '2.00G'],
  ])('%d tokens are %s', (tokens, text) => expect(formatTokens(tokens)).toBe(text));

  test('money that is not known is unknown, and a small sum is not 0', () => {
    expect([null, 0, 0.0042, 0.5, 1234.567].map(formatUsd)).toEqual([
      'unknown',
      '$0.00',
      '$0.0042',
      '$0.50',
      '$1234.57',
    ]);
  });

  test('tokens that nobody told are unknown, not 0; where nobody was asked, 0 is known', () => {
    const told = (inputTokens: number, outputTokens: number, usd: number | null): string =>
      formatTokensOf({ inputTokens, outputTokens, usd });
    expect([told(0, 0, null), told(0, 0, 0), told(7, 0, null), told(0, 0, 0.01)]).toEqual([
      'unknown',
      '0 in, 0 out',
      '7 in, 0 out',
      '0 in, 0 out',
    ]);
    expect(formatSavedTokens({ savedOutputTokens: 0, savedUsd: null })).toBe('unknown');
    expect(formatSavedTokens({ savedOutputTokens: 21_000, savedUsd: null })).toBe('21.0k out');
  });

  test('words follow their number', () => {
    expect([plural(1, 'call'), plural(0, 'call'), plural(1234, 'try', 'tries')]).toEqual([
      '1 call',
      '0 calls',
      '1,234 tries',
    ]);
    expect(formatCount(1_234_567)).toBe('1,234,567');
  });
});
