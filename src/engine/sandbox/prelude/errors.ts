/** Errors on their way in and out: text only, and read only under the turn's time limit. */
import {
  descendsFrom,
  ErrorPrototype,
  isArray,
  P,
  PError,
  PRangeError,
  PString,
  PTypeError,
  SafeWeakMap,
  stringify,
  textSlice,
  textStartsWith,
} from './primordials.js';

/** What the host says of a failure. */
export interface Cause {
  name: string;
  code: string;
  message: string;
  /** Where in a child's script it happened. */
  line?: number;
  column?: number;
  /** The host's own number for the error of a child workflow. */
  origin?: number;
  /** A call had this outcome, and is counted. */
  ofCall?: boolean;
}

/** What is known of the errors that the engine made. The `code` that a script gives to its own errors says nothing. */
const known = new SafeWeakMap<object, Cause>();

/** An error of the engine for the script: name and code can be read, and nothing of the host is in it. */
export function makeError(cause: Cause): Error {
  const name = cause.name;
  const message = cause.message;
  const error = (
    name === 'TypeError'
      ? new PTypeError(message)
      : name === 'RangeError'
        ? new PRangeError(message)
        : new PError(message)
  ) as Error & { code?: string; line?: number; column?: number };
  if (error.name !== name) error.name = name;
  error.code = cause.code;
  if (cause.line !== undefined) {
    error.line = cause.line;
    error.column = cause.column as number;
  }
  known.set(error, cause);
  return error;
}

/** An argument is not what the dialect wants. */
export const misuse = (code: string, message: string): Error => makeError({ name: 'TypeError', code, message });

/** What is known of an error that the engine made. */
export const engineCause = (error: unknown): Cause | undefined =>
  error !== null && typeof error === 'object' ? known.get(error) : undefined;

/** The code of an error that the engine made. */
export function codeOf(error: unknown): string | undefined {
  return error !== null && typeof error === 'object' ? known.get(error)?.code : undefined;
}

export function describe(value: unknown): string {
  if (value === null || value === undefined) return PString(value);
  if (typeof value === 'string') return `a string of ${value.length} characters ("${textSlice(value, 0, 40)}")`;
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return 'a symbol';
  if (typeof value !== 'object') return `the ${typeof value} ${PString(value)}`;
  if (isArray(value)) return `an array of ${value.length}`;
  return descendsFrom(value, P.prototype) ? 'a promise (await it first)' : 'an object';
}

export function messageOf(error: unknown): string {
  try {
    if (error !== null && typeof error === 'object') {
      const message = (error as Error).message;
      if (typeof message === 'string') return textSlice(message, 0, 20_000);
      return textSlice(stringify(error) ?? PString(error), 0, 20_000);
    }
    return textSlice(PString(error), 0, 20_000);
  } catch {
    return '(a value that cannot be shown)';
  }
}

/** An error as the host is told it. */
interface ToldError extends Cause {
  stack: string;
  /** False for any other thrown value. */
  isError: boolean;
  cause?: ToldError;
}

const CAUSES = 4;

/** JSON text of anything thrown. */
export const errorText = (error: unknown): string => stringify(tell(error, CAUSES));

function tell(error: unknown, depth: number): ToldError {
  const told = { __proto__: null, name: 'Error', message: messageOf(error), code: '' } as unknown as ToldError;
  told.stack = '';
  told.isError = false;
  if (error === null || typeof error !== 'object') return told;
  const engineMade = known.get(error);
  if (engineMade !== undefined) {
    told.code = engineMade.code;
    told.ofCall = engineMade.ofCall === true;
    if (engineMade.origin !== undefined) told.origin = engineMade.origin;
  }
  try {
    const name = (error as Error).name;
    const stack = (error as Error).stack;
    told.isError = descendsFrom(error, ErrorPrototype);
    if (typeof name === 'string') told.name = textSlice(name, 0, 200);
    if (typeof stack === 'string') told.stack = framesOf(stack, told);
    const cause = causeOf(error as Error & { errors?: unknown });
    if (cause !== undefined && depth > 0) told.cause = tell(cause, depth - 1);
  } catch {
    // A getter threw: what was read so far has to do.
  }
  return told;
}

/** Without the message: its lines could look like frames. */
function framesOf(stack: string, told: Cause): string {
  const head = `${told.name}: ${told.message}`;
  return textSlice(textStartsWith(stack, head) ? textSlice(stack, head.length) : stack, 0, 40_000);
}

/** The error behind an error: its cause, or the first of several. */
function causeOf(error: Error & { errors?: unknown }): unknown {
  const cause = error.cause;
  const errors = error.errors;
  if (cause !== null && typeof cause === 'object') return cause;
  return isArray(errors) ? errors[0] : undefined;
}
