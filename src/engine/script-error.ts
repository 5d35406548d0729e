/** Turns what the sandbox says of an error into a record with the user's own file, line, column and code frame. */
import { codeFrame, splitLines } from '../script/code-frame.js';
import { mapStack } from '../script/map-stack.js';
import { ERROR_CODES, EXIT } from '../shared/errors.js';
import type { ErrorRecord } from '../shared/outcome.js';
import { hintFor } from './error-hints.js';
import type { SandboxError } from './sandbox/frames.js';

/** @param sources source text by the file name that stacks use */
export function explainScriptError(error: SandboxError, sources: ReadonlyMap<string, string>): ErrorRecord {
  const frames = mapStack(error.stack, { filename: error.filename });
  const [first] = frames;
  const source = sources.get(error.filename);
  const line = first && source && splitLines(source.replace(/^\ufeff/, ''))[first.line - 1];
  const message = messageOf(error, line?.slice(0, first && first.column - 1));
  const record: ErrorRecord = { code: codeOf(error), message, name: error.name };
  const cause = error.cause && explainScriptError(error.cause, sources);
  if (cause !== undefined) record.cause = cause;
  const stack = frames.map(({ name, line, column, isAsync }) => {
    const place = `${error.filename}:${line}:${column}`;
    return `    at ${isAsync ? 'async ' : ''}${name === undefined ? place : `${name} (${place})`}`;
  });
  if (error.origin !== undefined) {
    // It happened in the child; the parent's frames are those that called it.
    const { code, name, cause: theirs, ...inner } = explainScriptError(error.origin, sources);
    const whole = [...(inner.stack?.split('\n') ?? []), ...stack];
    return { ...record, ...inner, ...(theirs === undefined ? {} : { cause: theirs }), stack: whole.join('\n') };
  }
  if (first === undefined) return record;
  record.file = error.filename;
  record.line = first.line;
  record.column = first.column;
  if (source !== undefined) record.frame = codeFrame(source, first.line, first.column);
  record.stack = stack.join('\n');
  return record;
}

function messageOf(error: SandboxError, before: string | undefined): string {
  const { name, message, code, isError } = error;
  if (isError === false) return `${message} (thrown as it is, not as an Error, so its place is not known)`;
  const named = name !== '' && name !== 'Error' && codeOf({ code }) === 'WF_SCRIPT_THREW';
  return `${named ? `${name}: ` : ''}${message}${hintFor(error, before)}`;
}

/** The sandbox is the less trusted side: a code that means more to whoever reads the outcome is not taken over. */
function codeOf({ code }: Pick<SandboxError, 'code'>): string {
  const exit = Object.entries(ERROR_CODES).find(([known]) => known === code)?.[1];
  return exit === EXIT.runFailed || exit === EXIT.callsFailed || exit === EXIT.notStarted ? code : 'WF_SCRIPT_THREW';
}
