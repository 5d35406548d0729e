/** What each kind of backend error means for a call: its code, what the script is told, and whether all calls are concerned. */
import type { ErrorCode } from '../shared/errors.js';
import { messageOf } from '../shared/errors.js';
import type { ErrorRecord } from '../shared/outcome.js';
import { BackendError, type BackendErrorKind } from './backend.js';
import { readResetTime } from './reset-time.js';

export interface CallFailure {
  error: ErrorRecord;
  tell: 'null' | 'throw';
  shared: boolean;
}

interface Meaning {
  code: ErrorCode;
  /** Name of the error that the script gets; without it the script gets `null`. */
  name?: string;
  shared?: true;
}

const MEANINGS: Record<BackendErrorKind, Meaning> = {
  auth: { code: 'WF_AUTH', shared: true },
  billing: { code: 'WF_BILLING', shared: true },
  usage_limit: { code: 'WF_USAGE_LIMIT', shared: true },
  config: { code: 'WF_BACKEND_SETUP', shared: true },
  backend_missing: { code: 'WF_BACKEND_MISSING', shared: true },
  rate_limit: { code: 'WF_AGENT_UNREACHABLE' },
  overloaded: { code: 'WF_AGENT_UNREACHABLE' },
  server: { code: 'WF_AGENT_UNREACHABLE' },
  network: { code: 'WF_AGENT_UNREACHABLE' },
  protocol: { code: 'WF_AGENT_UNREACHABLE' },
  empty: { code: 'WF_AGENT_EMPTY' },
  isolation: { code: 'WF_WORKTREE', name: 'WorktreeError' },
  timeout: { code: 'WF_AGENT_TIMEOUT' },
  stalled: { code: 'WF_AGENT_STALLED', name: 'StallError' },
  refused: { code: 'WF_AGENT_REFUSED' },
  schema: { code: 'WF_SCHEMA_UNMET', name: 'StructuredOutputError' },
  invalid_request: { code: 'WF_AGENT_FAILED' },
  failed: { code: 'WF_AGENT_FAILED' },
  too_large: { code: 'WF_ANSWER_SIZE' },
  // Only from a backend that stopped although nobody told it to.
  cancelled: { code: 'WF_AGENT_FAILED' },
};

/** True for the name of a kind that somebody outside may state. */
export const isErrorKind = (value: unknown): value is BackendErrorKind =>
  typeof value === 'string' && Object.hasOwn(MEANINGS, value) && value !== 'cancelled';

export function describeFailure(error: BackendError): CallFailure {
  const { code, name, shared } = MEANINGS[error.kind] ?? MEANINGS.failed;
  const message = error.remedy ? `${endSentence(error.message)} ${error.remedy}` : error.message;
  const record: ErrorRecord = { code, message };
  if (name) record.name = name;
  // Null: there is such a time, and nobody told it.
  const resetsAt = readResetTime(error.resetsAt) ?? (error.kind === 'usage_limit' ? null : undefined);
  if (resetsAt !== undefined) record.resetsAt = resetsAt;
  return { error: record, tell: name || shared ? 'throw' : 'null', shared: shared === true };
}

/** A call whose schema cannot be used: nothing is spent on it. */
export function refuseSchema(fault: string) {
  const error = { code: 'WF_SCHEMA_INVALID', name: 'TypeError', message: `The schema cannot be used: ${fault}.` };
  return { kind: 'failed', error, tell: 'throw', shared: false, usage: undefined, attempts: 0 } as const;
}

/** Anything thrown by a backend as the error that it should have thrown. */
export function toBackendError(thrown: unknown): BackendError {
  if (thrown instanceof BackendError) return thrown;
  // Another copy of this package may have made it.
  if (thrown instanceof Error && thrown.name === 'BackendError') {
    const { kind, ...details } = thrown as BackendError;
    if (isErrorKind(kind)) return new BackendError(kind, thrown.message, details);
  }
  return new BackendError('failed', messageOf(thrown) || 'The backend failed without a word.', { cause: thrown });
}

/** What a program said of itself may end anyhow. */
const endSentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
