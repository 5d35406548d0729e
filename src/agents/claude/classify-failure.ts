/** What a failed attempt of `claude` means. Only signs made for it are read, never the words for people. */
import type { CallUsage } from '../../shared/outcome.js';
import { BackendError, type BackendErrorKind } from '../backend.js';
import { CLAUDE_ERROR_KINDS } from '../claude-error-kinds.js';
import { endOf } from '../whole-words.js';
import type { ClaudeMessage } from './claude-messages.js';

export interface FailureSigns {
  result: ClaudeMessage;
  /** `error` of the last assistant message. */
  error: string | undefined;
  /** Of a rejecting `rate_limit_event`, epoch seconds; 0 when it did not say. */
  rejectedUntil: number | undefined;
  retryAfterMs: number | undefined;
  usage: CallUsage | undefined;
}

const BY_STATUS: Record<number, BackendErrorKind> = {
  401: 'auth',
  402: 'billing',
  403: 'auth',
  408: 'network',
  429: 'rate_limit',
  529: 'overloaded',
};
const BY_SUBTYPE: Record<string, BackendErrorKind> = {
  error_max_structured_output_retries: 'schema',
  // Broken off from outside, or by a fault of its own.
  error_during_execution: 'protocol',
  error_max_turns: 'failed',
  error_max_budget_usd: 'failed',
};
const REMEDIES: Partial<Record<BackendErrorKind, string>> = {
  auth: 'Sign in (claude auth login) or set ANTHROPIC_API_KEY, then go on with the run.',
  billing: 'Add credit to the account, then go on with the run.',
  usage_limit: 'Go on with the run when the limit is lifted.',
};

export const isAuthError = (error: string | undefined): boolean => CLAUDE_ERROR_KINDS[error ?? ''] === 'auth';

export function classifyFailure(signs: FailureSigns): BackendError {
  const { result, usage, rejectedUntil } = signs;
  const kind = kindOf(signs);
  const said = result.result?.trim() || result.errors?.join('; ') || `it ended with ${result.subtype ?? 'no word'}`;
  const details: ConstructorParameters<typeof BackendError>[2] = {};
  if (usage) details.usage = usage;
  if (kind === 'usage_limit' && rejectedUntil) details.resetsAt = new Date(rejectedUntil * 1_000).toISOString();
  if (kind === 'rate_limit' && signs.retryAfterMs !== undefined) details.retryAfterMs = signs.retryAfterMs;
  const remedy = REMEDIES[kind];
  if (remedy !== undefined) details.remedy = remedy;
  return new BackendError(kind, `claude: ${said}`, details);
}

function kindOf({ result, error, rejectedUntil }: FailureSigns): BackendErrorKind {
  const bySubtype = BY_SUBTYPE[result.subtype ?? ''];
  if (bySubtype) return bySubtype;
  if (result.terminal_reason === 'prompt_too_long') return 'invalid_request';
  const status = result.api_error_status ?? undefined;
  const kind =
    BY_STATUS[status ?? 0] ?? CLAUDE_ERROR_KINDS[error ?? ''] ?? (status === undefined ? undefined : byClass(status));
  if (kind === 'rate_limit' && rejectedUntil !== undefined) return 'usage_limit';
  // An API error without a status never reached a server, or lost it on the way.
  const lost = status === undefined && result.terminal_reason === 'api_error';
  if (lost && (kind === undefined || kind === 'server')) return 'network';
  return kind ?? 'failed';
}

const byClass = (status: number): BackendErrorKind => (status >= 500 ? 'server' : 'invalid_request');

/** It ended without its closing message: whatever it had said is no answer. */
export function describeSilentEnd(
  end: { exitCode: number | null; signal: string | null },
  { started, stderr, usage }: { started: boolean; stderr: string; usage: CallUsage | undefined },
): BackendError {
  const how = end.signal ? `was ended by ${end.signal}` : `ended with exit code ${end.exitCode}`;
  const words = stderr.trim() === '' ? '' : `: ${endOf(stderr.trim(), 2_000)}`;
  // Before it has begun, an orderly end means that it does not take what it was given.
  const kind: BackendErrorKind = !started && end.exitCode === 1 ? 'config' : 'protocol';
  return new BackendError(kind, `claude ${how} before it gave a result${words}`, { ...(usage && { usage }) });
}
