/** Turns what the sandbox says of an error into a record with the user's own file, line, column and code frame. */
import { codeFrame } from '../script/code-frame.js';
import { mapStack } from '../script/map-stack.js';
import { ERROR_CODES, EXIT } from '../shared/errors.js';
import type { ErrorRecord } from '../shared/outcome.js';
import type { SandboxError } from './sandbox/frames.js';

/** @param sources source text by the file name that stacks use */
export function explainScriptError(error: SandboxError, sources: ReadonlyMap<string, string>): ErrorRecord {
  const record: ErrorRecord = { code: codeOf(error), message: error.message, name: error.name };
  if (error.name && error.name !== 'Error' && record.code === 'WF_SCRIPT_THREW')
    record.message = `${error.name}: ${error.message}`;
  const frames = mapStack(error.stack, { filename: error.filename });
  const first = frames[0];
  if (first === undefined) return record;
  const source = sources.get(error.filename);
  record.file = error.filename;
  record.line = first.line;
  record.column = first.column;
  if (source !== undefined) record.frame = codeFrame(source, first.line, first.column);
  record.stack = frames
    .map((frame) => `    at ${frame.name ? `${frame.name} ` : ''}(${error.filename}:${frame.line}:${frame.column})`)
    .join('\n');
  return record;
}

/** A script may give its errors any code: one that means something else to whoever reads the outcome is not taken over. */
function codeOf({ code }: SandboxError): string {
  const exit = Object.entries(ERROR_CODES).find(([known]) => known === code)?.[1];
  const isOfRun = exit === EXIT.runFailed || exit === EXIT.callsFailed || code === 'WF_SCRIPT_SYNTAX';
  return isOfRun ? code : 'WF_SCRIPT_THREW';
}
