/** Errors on their way in and out: text only, and read only under the turn's time limit. */
import { PError, PRangeError, PString, PTypeError, stringify, textSlice } from './primordials.js';

/** What the host says of a failure. */
export interface Cause {
  name: string;
  code: string;
  message: string;
}

/** An error of the engine for the script: name and code can be read, and nothing of the host is in it. */
export function makeError(cause: Cause): Error {
  const error =
    cause.name === 'TypeError'
      ? new PTypeError(cause.message)
      : cause.name === 'RangeError'
        ? new PRangeError(cause.message)
        : new PError(cause.message);
  if (error.name !== cause.name) error.name = cause.name;
  (error as { code?: string }).code = cause.code;
  return error;
}

export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return `a string of ${value.length} characters ("${textSlice(value, 0, 40)}")`;
  if (typeof value === 'object' || typeof value === 'function')
    return typeof value === 'object' ? 'an object' : 'a function';
  return `${typeof value} ${PString(value)}`;
}

export function messageOf(error: unknown): string {
  try {
    if (error !== null && typeof error === 'object') {
      const message = (error as Error).message;
      if (typeof message === 'string') return textSlice(message, 0, 20_000);
    }
    return textSlice(PString(error), 0, 20_000);
  } catch {
    return '(a value that cannot be shown)';
  }
}

/** JSON text of anything thrown. */
export function errorText(error: unknown): string {
  let name = 'Error';
  let stack = '';
  let code = '';
  const message = messageOf(error);
  try {
    if (error !== null && typeof error === 'object') {
      const given = error as Error & { code?: unknown };
      if (typeof given.name === 'string') name = textSlice(given.name, 0, 200);
      if (typeof given.stack === 'string') stack = textSlice(given.stack, 0, 40_000);
      if (typeof given.code === 'string') code = textSlice(given.code, 0, 200);
    }
  } catch {
    // A getter threw: what was read so far has to do.
  }
  return stringify({ __proto__: null, name, message, stack, code });
}
