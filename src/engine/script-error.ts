/** Turns what the sandbox says of an error into a record with the user's own file, line, column and code frame. */
import { codeFrame } from '../script/code-frame.js';
import { mapStack } from '../script/map-stack.js';
import type { ErrorRecord } from '../shared/outcome.js';
import type { SandboxError } from './sandbox/frames.js';

/** @param sources source text by the file name that stacks use */
export function explainScriptError(error: SandboxError, sources: ReadonlyMap<string, string>): ErrorRecord {
  const record: ErrorRecord = { code: error.code, message: error.message, name: error.name };
  if (error.name && error.name !== 'Error' && error.code === 'WF_SCRIPT_THREW')
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
