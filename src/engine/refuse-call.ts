/** Outcomes of calls that are never handed to a backend. */
import type { CallOutcome } from '../agents/execute-call.js';
import { messageOf } from '../shared/errors.js';

/** The fault is the call's own: the script gets an error. */
export const refuseCall = (code: string, message: string): CallOutcome => ({
  kind: 'failed',
  error: { name: 'Error', code, message },
  tell: 'throw',
  shared: false,
  usage: undefined,
  attempts: 0,
});

/** A fault of the set-up concerns all calls: the run stops and can be resumed once it is mended. */
export const refuseAllCalls = (message: string): CallOutcome => ({
  kind: 'failed',
  error: { code: 'WF_BACKEND_SETUP', message },
  tell: 'throw',
  shared: true,
  usage: undefined,
  attempts: 0,
});

/** The backend of the run, which this call is for, cannot be made. */
export const refuseBackend = (label: string, error: unknown): CallOutcome => {
  const { remedy } = error as { remedy?: string };
  return refuseAllCalls(
    `Call ${JSON.stringify(label)}: ${messageOf(error)}${remedy === undefined ? '' : ` ${remedy}`}`,
  );
};

export const wordAlias = (alias: string, backend: string): string =>
  `The alias ${JSON.stringify(alias)} names no model for the backend ${backend}. Add it to models.${alias} of the config, then go on with the run.`;
