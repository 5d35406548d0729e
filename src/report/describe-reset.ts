/** When to go on after a limit: in UTC, as everything else, and by the clock of whoever reads it. */
import type { ErrorRecord } from '../shared/outcome.js';

/**
 * @returns undefined when the error is of no limit
 * @example '2026-12-01 10:00 UTC (11:00 here, Europe/Berlin)'
 */
export function describeReset({ resetsAt }: Pick<ErrorRecord, 'resetsAt'>): string | undefined {
  if (resetsAt === undefined) return undefined;
  const at = new Date(resetsAt ?? Number.NaN);
  if (Number.isNaN(at.getTime())) return 'unknown: the backend named no time';
  const utc = at.toISOString().slice(0, 16).replace('T', ' ');
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  const here = utc.startsWith(day) ? time : `${day} ${time}`;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return `${utc} UTC${utc === `${day} ${time}` ? '' : ` (${here} here, ${zone})`}`;
}
