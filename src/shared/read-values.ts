/** Reads values that a person wrote, in a flag, a variable or a config. Every fault names where it stands and what it takes. */
import { WfError } from './errors.js';

export function readCount(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new WfError('WF_USAGE', `${flag} takes a whole number; got ${JSON.stringify(text)}.`);
}

/** `500`, `500k`, `1.5m`. */
export function readTokens(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d+(?:\.\d+)?)([km]?)$/i.exec(text);
  if (match === null)
    throw new WfError('WF_USAGE', `${flag} takes a number of tokens such as 500k or 1m; got ${JSON.stringify(text)}.`);
  const unit = { '': 1, k: 1000, m: 1_000_000 }[(match[2] as string).toLowerCase() as '' | 'k' | 'm'];
  return Math.round(Number(match[1]) * unit);
}

/** `5`, `2.50`, `$5`. */
export function readDollars(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const match = /^\$?(\d{1,9}(?:\.\d+)?)$/.exec(text);
  if (match !== null) return Number(match[1]);
  throw new WfError('WF_USAGE', `${flag} takes US dollars such as 5 or 2.50, or none; got ${JSON.stringify(text)}.`);
}

/** `none` takes a limit away that the run gone on from had. */
export function orNone(
  read: (flag: string, text: string | undefined) => number | undefined,
  flag: string,
  text: string | undefined,
): number | null | undefined {
  return text === 'none' ? null : read(flag, text);
}

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** `90` (seconds), `500ms`, `30s`, `10m`, `2h`; in ms. */
export function readDuration(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text);
  const ms = match === null ? Number.NaN : Number(match[1]) * UNITS[(match[2] ?? 's') as keyof typeof UNITS];
  if (ms <= 2_147_483_647) return Math.round(ms);
  throw new WfError(
    'WF_USAGE',
    `${flag} takes a time such as 90s, 10m or 2h (seconds without a unit); got ${JSON.stringify(text)}.`,
  );
}

/** `256`, `256MB`, `1GB`; in MB. */
export function readMegabytes(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d{1,6})(mb|gb)?$/i.exec(text);
  if (match === null)
    throw new WfError('WF_USAGE', `${flag} takes megabytes such as 256 or 1GB; got ${JSON.stringify(text)}.`);
  return Number(match[1]) * (match[2]?.toLowerCase() === 'gb' ? 1024 : 1);
}

export function readChoice<T extends string>(
  flag: string,
  text: string | undefined,
  choices: readonly T[],
): T | undefined {
  if (text === undefined) return undefined;
  if ((choices as readonly string[]).includes(text)) return text as T;
  throw new WfError('WF_USAGE', `${flag} takes one of ${choices.join(', ')}; got ${JSON.stringify(text)}.`);
}
