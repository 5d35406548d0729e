import { expect, it } from 'vitest';
import { readResetTime } from '../../src/agents/reset-time.js';

const NOW = Date.parse('2026-11-30T21:06:43Z');

it.each([
  ['epoch seconds', 1_796_119_200, '2026-12-01T10:00:00Z'],
  ['epoch milliseconds', 1_796_119_200_000, '2026-12-01T10:00:00Z'],
  ['epoch seconds as text', '1796119200', '2026-12-01T10:00:00Z'],
  ['ISO 8601 in UTC', '2026-12-01T10:00:00Z', '2026-12-01T10:00:00Z'],
  ['ISO 8601 with an offset', '2026-12-01T10:00:00+02:00', '2026-12-01T08:00:00Z'],
  ['a date of HTTP', 'Tue, 01 Dec 2026 10:00:00 GMT', '2026-12-01T10:00:00Z'],
  ['words and a zone, today', 'resets 5:30pm (America/New_York)', '2026-11-30T22:30:00Z'],
  ['words and a zone, tomorrow there', 'Your limit resets at 3am (Europe/Berlin).', '2026-12-01T02:00:00Z'],
  ['an hour of the zone', 'try again at 15:30 UTC', '2026-12-01T15:30:00Z'],
  ['midnight', '12am (Asia/Kolkata)', '2026-12-01T18:30:00Z'],
  ['a time without a zone is nobody’s', 'resets at 3pm', undefined],
  ['a date without a zone', '2026-12-01 10:00', undefined],
  ['a zone that is none', '3pm (Middle/Earth)', undefined],
  ['an hour that is none', '31:00 UTC', undefined],
  ['nothing', undefined, undefined],
  ['words', 'later', undefined],
  ['a number that is no time', -1, undefined],
])('B-076 %s', (_, told, iso) => expect(readResetTime(told, NOW)).toBe(iso));
