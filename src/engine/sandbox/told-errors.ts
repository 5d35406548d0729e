/** Errors that workflows tell, and what the parent of a failed child workflow is told of its error. */
import { mapStack } from '../../script/map-stack.js';
import type { SandboxError } from './frames.js';
import type { IsolateHost } from './isolate-host.js';
import type { Cause } from './prelude/errors.js';

/** Errors of child workflows; an error of a parent names one by its place here. */
interface ChildErrors {
  childErrors: SandboxError[];
}
type ToldError = Omit<SandboxError, 'origin' | 'cause' | 'filename'> & { origin?: number; cause?: ToldError };

/** An error as the prelude told it, with the file whose stack it has and the child's error that it comes from. */
export function readError(state: ChildErrors, host: IsolateHost, text: string): SandboxError {
  return complete(state, host.filename, JSON.parse(text) as ToldError);
}

function complete(state: ChildErrors, filename: string, { origin, cause, ...told }: ToldError): SandboxError {
  const error: SandboxError = { ...told, code: told.code || 'WF_SCRIPT_THREW', filename };
  const child = origin === undefined ? undefined : state.childErrors[origin];
  if (child !== undefined) error.origin = child;
  if (cause !== undefined) error.cause = complete(state, filename, cause);
  return error;
}

/** Name, code, message and place of a child's error: no source text, no stack, no path. */
export function causeForParent(state: ChildErrors, error: SandboxError): string {
  const { name, message, ofCall } = error;
  const cause: Cause & { tell: 'throw' } = {
    name,
    code: error.code === 'WF_SCRIPT_THREW' ? 'WF_WORKFLOW_FAILED' : error.code,
    message,
    origin: state.childErrors.push(error) - 1,
    tell: 'throw',
  };
  if (ofCall) cause.ofCall = true;
  const [frame] = mapStack(error.stack, { filename: error.filename });
  if (frame !== undefined) {
    cause.line = frame.line;
    cause.column = frame.column;
  }
  return JSON.stringify(cause);
}
