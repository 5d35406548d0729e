/** What an error of the AI SDK means. Its status and codes decide; words only where vendors use no code. */
import { messageOf } from '../../shared/errors.js';
import type { CallUsage } from '../../shared/outcome.js';
import { BackendError, type BackendErrorKind } from '../backend.js';
import { rateLimited, readRetryAfter, readTryAgainIn } from '../retry-after.js';

interface SdkError {
  name?: string;
  message?: string;
  statusCode?: number;
  responseHeaders?: Record<string, string | undefined>;
  responseBody?: string;
  data?: unknown;
  lastError?: unknown;
}

const MAX_MESSAGE = 1_000;

/** Names that say enough without a status. */
const NAMES: Record<string, BackendErrorKind> = {
  AI_LoadAPIKeyError: 'auth',
  AI_LoadSettingError: 'config',
  AI_NoSuchModelError: 'invalid_request',
  AI_UnsupportedFunctionalityError: 'invalid_request',
  AI_InvalidArgumentError: 'invalid_request',
  AI_InvalidPromptError: 'invalid_request',
  AI_JSONParseError: 'protocol',
  AI_InvalidResponseDataError: 'protocol',
  AI_TypeValidationError: 'protocol',
  AI_EmptyResponseBodyError: 'protocol',
  AI_InvalidStreamPartError: 'protocol',
  AI_StreamProviderError: 'protocol',
  AI_NoOutputGeneratedError: 'protocol',
  // No status: the connection failed, or broke within the answer.
  AI_APICallError: 'network',
};

const REMEDIES: [pattern: RegExp, remedy: string][] = [
  [
    /does not support tools|tool.?(choice|use).*not supported/i,
    'Set "tools": "none" in backends.ai-sdk of the config.',
  ],
  [/response_format|json_schema|output_format/i, 'Set "structuredOutput": "prompt" in backends.ai-sdk of the config.'],
];

export function classifySdkError(thrown: unknown, usage: CallUsage | undefined, now = Date.now()): BackendError {
  if (thrown instanceof BackendError) return thrown;
  const error = ((thrown as SdkError | undefined)?.lastError ?? thrown ?? {}) as SdkError;
  const said = error.message ?? messageOf(thrown);
  const status = error.statusCode !== undefined && error.statusCode >= 300 ? error.statusCode : undefined;
  const message =
    status === undefined ? `The model could not be asked: ${said}` : `The model server answered ${status}: ${said}`;
  const details = { usage, cause: thrown };
  const signs = `${listCodes(error.data).join(' ')} ${said} ${error.responseBody?.slice(0, MAX_MESSAGE) ?? ''}`;

  const kind = findKind(error, status, signs);
  const resetsAt = readResetsAt(error);
  if (kind === 'usage_limit' || (kind === 'rate_limit' && resetsAt !== undefined)) {
    return new BackendError('usage_limit', message, { ...details, resetsAt });
  }
  if (kind === 'rate_limit') {
    const wait = readRetryAfter(error.responseHeaders, now) ?? readTryAgainIn(said);
    return rateLimited(message, wait, now, details);
  }
  return new BackendError(kind, message, { ...details, remedy: findRemedy(kind, signs) });
}

function findKind(error: SdkError, status: number | undefined, signs: string): BackendErrorKind {
  if (status === 402 || /insufficient_quota|billing_|credit balance/i.test(signs)) return 'billing';
  if (/usage_limit_reached/i.test(signs)) return 'usage_limit';
  if (/content_filter|content_policy/i.test(signs)) return 'refused';
  if (/context_length_exceeded|prompt is too long|context (window|length|size)/i.test(signs)) return 'invalid_request';
  if (status === undefined) return NAMES[error.name ?? ''] ?? (isNetworkError(error) ? 'network' : 'failed');
  if (status === 401 || status === 403) return 'auth';
  if (status === 429) return 'rate_limit';
  if (status === 503 || status === 529 || /overloaded/i.test(signs)) return 'overloaded';
  if (status === 408) return 'network';
  return status >= 500 ? 'server' : 'invalid_request';
}

/** When the limit of an account is lifted, as far as the server says so (epoch seconds). */
function readResetsAt({ responseHeaders, responseBody }: SdkError): string | undefined {
  const rejected = responseHeaders?.['anthropic-ratelimit-unified-status'] === 'rejected';
  const seconds = rejected
    ? Number(responseHeaders['anthropic-ratelimit-unified-reset'])
    : // The package keeps only what it knows of the body.
      Number(/"resets_at"\s*:\s*(\d+)/.exec(responseBody ?? '')?.[1]);
  return seconds > 0 && seconds < 8.64e12 ? new Date(seconds * 1_000).toISOString() : undefined;
}

function findRemedy(kind: BackendErrorKind, signs: string): string | undefined {
  if (kind === 'auth') return 'Check the key of the ai-sdk backend, then go on with the run.';
  if (kind === 'billing') return 'See to the credit of the account, then go on with the run.';
  if (kind !== 'invalid_request') return undefined;
  return REMEDIES.find(([pattern]) => pattern.test(signs))?.[1];
}

/** `code` and `type` at any place of the server's error. */
function listCodes(data: unknown, depth = 0): string[] {
  if (typeof data !== 'object' || data === null || depth > 4) return [];
  return Object.entries(data).flatMap(([name, value]) =>
    (name === 'code' || name === 'type') && typeof value === 'string' ? [value] : listCodes(value, depth + 1),
  );
}

const isNetworkError = (error: SdkError): boolean =>
  error instanceof TypeError || /ECONN|ENOTFOUND|EAI_AGAIN|socket|fetch failed|terminated/i.test(error.message ?? '');
