/** When a limit is lifted, from whatever form a backend tells it in, as ISO 8601 UTC. */

/** Larger numbers are milliseconds; as seconds they would lie in the year 5138. */
const MOST_SECONDS = 100_000_000_000;
const DAY_MS = 86_400_000;

/**
 * Reads seconds or milliseconds since 1970, a date with its zone, or a time of day with its zone
 * (`3:30pm (Europe/Berlin)`, `15:30 UTC`), which is the next one after `now`.
 *
 * @returns undefined when it says no certain moment: a time without a zone is nobody's
 */
export function readResetTime(told: unknown, now = Date.now()): string | undefined {
  if (typeof told === 'number') return fromNumber(told);
  if (typeof told !== 'string') return undefined;
  const text = told.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return fromNumber(Number(text));
  if (/\d{4}/.test(text) && /(Z|GMT|UTC|[+-]\d{2}:?\d{2})$/.test(text)) {
    const ms = Date.parse(text);
    if (!Number.isNaN(ms)) return isoText(ms);
  }
  return fromTimeOfDay(text, now);
}

const isoText = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

function fromNumber(value: number): string | undefined {
  const ms = value > MOST_SECONDS ? value : value * 1000;
  return value > 0 && ms <= 8.64e15 ? isoText(ms) : undefined;
}

const TIME_OF_DAY = /\b(\d{1,2})(?::(\d{2}))?\s*([ap])?\.?m?\.?\s*\(?\b(UTC|GMT|[A-Z][A-Za-z_]+\/[A-Za-z_/+-]+)\)?/i;

function fromTimeOfDay(text: string, now: number): string | undefined {
  const [, hours, minutes = '0', half, zone] = TIME_OF_DAY.exec(text) ?? [];
  if (hours === undefined || zone === undefined) return undefined;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  if (hour > 23 || Number(minutes) > 59) return undefined;
  try {
    const wanted = hour * 60 + Number(minutes);
    // The minutes of that zone's day at each of the next minutes: a change of its offset in between is met that way.
    for (let ms = now - (now % 60_000) + 60_000; ms <= now + DAY_MS + 7_200_000; ) {
      const ahead = (wanted - minuteOfDay(ms, zone) + 1440) % 1440;
      if (ahead === 0) return isoText(ms);
      ms += Math.max(1, ahead > 120 ? ahead - 120 : ahead) * 60_000;
    }
  } catch {
    // No such zone.
  }
  return undefined;
}

function minuteOfDay(ms: number, zone: string): number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hour12: false,
  });
  const [hour, minute] = format.format(ms).split(':').map(Number) as [number, number];
  return (hour % 24) * 60 + minute;
}
