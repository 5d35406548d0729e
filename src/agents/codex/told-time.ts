/** Reads when a usage limit ends: `try again at 10:51 PM`, or `… at Jan 2nd, 2040 12:00 AM`, by the clock of codex. */

const WORDS = /try again at (?:([A-Z][a-z]{2,8}) (\d{1,2})(?:st|nd|rd|th)?,? (\d{4}),? )?(\d{1,2}):(\d{2}) ?([AP]M)/i;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAY_MS = 86_400_000;

/**
 * @param timeZone zone of the codex process; the system's own by default
 * @returns ISO 8601 UTC
 */
export function readToldTime(message: string, now: number, timeZone?: string): string | undefined {
  const [, month, day, year, hour, minute, half] = WORDS.exec(message) ?? [];
  if (hour === undefined) return undefined;
  const hours = (Number(hour) % 12) + (/p/i.test(half as string) ? 12 : 0);
  const offset = offsetOf(now, timeZone);
  const here = new Date(now + offset);
  const at = (date: number): number => date + hours * 3_600_000 + Number(minute) * 60_000;
  if (month !== undefined) {
    const index = MONTHS.indexOf(month.slice(0, 3).toLowerCase());
    if (index < 0) return undefined;
    const local = at(Date.UTC(Number(year), index, Number(day)));
    return new Date(local - offsetOf(local, timeZone)).toISOString();
  }
  const today = at(Date.UTC(here.getUTCFullYear(), here.getUTCMonth(), here.getUTCDate())) - offset;
  // A minute that has just begun is told as the past.
  return new Date(today < now - 60_000 ? today + DAY_MS : today).toISOString();
}

/** Milliseconds that the zone's clock is ahead of UTC. */
function offsetOf(time: number, timeZone: string | undefined): number {
  if (timeZone === undefined) return -new Date(time).getTimezoneOffset() * 60_000;
  try {
    const parts = new Intl.DateTimeFormat('en-US', {
      ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    }).formatToParts(time);
    const read = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
    const local = Date.UTC(read('year'), read('month') - 1, read('day'), read('hour'), read('minute'), read('second'));
    return local - Math.floor(time / 1_000) * 1_000;
  } catch {
    return offsetOf(time, undefined);
  }
}
