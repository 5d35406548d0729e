/** What an error of the protocol means. Agents agree on little: a code of its own for sign-in, and then each its own way. */
import { BackendError, type BackendErrorKind } from '../backend.js';
import { CLAUDE_ERROR_KINDS } from '../claude-error-kinds.js';
import { asObject } from './read-usage.js';
import { kindOfReported, kindOfStatus, type ReportedFailure } from './reported-failure.js';

type Json = Readonly<Record<string, unknown>>;

/** An error as the SDK rejects with; `code` is missing when the connection broke. */
export interface ProtocolError {
  code?: unknown;
  message?: unknown;
  data?: unknown;
}

const AUTH_REQUIRED = -32_000;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;

/** `data.errorKind` of claude-agent-acp, `data.errorName` of opencode, `data.codexErrorInfo` of codex-acp. */
const KINDS: Record<string, BackendErrorKind> = {
  ...CLAUDE_ERROR_KINDS,
  transport_lost: 'network',
  worker_shutdown: 'network',
  no_result: 'protocol',
  incomplete_tool_call: 'protocol',
  ProviderAuthError: 'auth',
  MessageOutputLengthError: 'failed',
  ContextOverflowError: 'invalid_request',
  unauthorized: 'auth',
  usageLimitExceeded: 'usage_limit',
  serverOverloaded: 'overloaded',
  internalServerError: 'server',
  contextWindowExceeded: 'invalid_request',
  badRequest: 'invalid_request',
};

/** @param reported the last failure that the agent told beside the protocol */
export function classifyError(
  name: string,
  error: ProtocolError,
  signIn: string,
  reported: ReportedFailure | undefined,
): BackendError {
  const data = asObject(error.data) ?? {};
  const said = describe(error.message, data) || reported?.title || 'it gave no reason';
  const kind = findKind(error.code, data, said) ?? (reported && kindOfReported(reported)) ?? 'failed';
  const details: { remedy?: string; retryAfterMs?: number; resetsAt?: string } = {};
  if (kind === 'auth') details.remedy = signIn;
  const wait = readWait(data, String(error.message ?? ''));
  if (wait !== undefined) details.retryAfterMs = wait;
  if (typeof data.resetsAt === 'string') details.resetsAt = data.resetsAt;
  return new BackendError(kind, `${name} refused: ${said}`, details);
}

function findKind(code: unknown, data: Json, said: string): BackendErrorKind | undefined {
  if (code === AUTH_REQUIRED) return 'auth';
  for (const told of [data.errorKind, data.errorName, data.codexErrorInfo]) {
    if (typeof told === 'string' && Object.hasOwn(KINDS, told)) return KINDS[told];
  }
  for (const status of [data.status, data.statusCode, data.httpStatus, code, statusInText(said)]) {
    const kind = typeof status === 'number' ? kindOfStatus(status) : undefined;
    if (kind) return kind;
  }
  if (code === METHOD_NOT_FOUND || code === INVALID_PARAMS) return 'invalid_request';
  return /\b(?:ECONN\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|fetch failed|socket hang up)\b/.test(said)
    ? 'network'
    : undefined;
}

/** Only where the words say that the number is a status. */
function statusInText(text: string): number | undefined {
  const found = /\b(?:status(?: code)?|HTTP(?:\/[\d.]+)?|API Error)\b[:\s]+(\d{3})\b/i.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Some agents pass on the JSON text of their model's API: its own message is what a person wants to read. */
function describe(message: unknown, data: Json): string {
  const text = typeof message === 'string' ? message.trim() : '';
  const parts = [innerMessage(text) ?? text];
  for (const more of [data.details, data.message]) {
    if (typeof more === 'string' && !parts.includes(more.trim())) parts.push(innerMessage(more.trim()) ?? more.trim());
  }
  return parts.filter((part) => part !== '').join(': ');
}

function innerMessage(text: string): string | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const parsed = asObject(JSON.parse(text));
    const inner = asObject(parsed?.error) ?? parsed;
    if (typeof inner?.message !== 'string') return undefined;
    const status = typeof inner.code === 'number' ? ` (status ${inner.code})` : '';
    return `${inner.message}${status}`;
  } catch {
    return undefined;
  }
}

/** How long the other side asks to wait, ms: as data, or as Google's RetryInfo inside of the text. */
function readWait(data: Json, text: string): number | undefined {
  if (typeof data.retryAfterMs === 'number' && data.retryAfterMs >= 0) return data.retryAfterMs;
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(text)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}
