/** What a failure of codex means. It tells them in words only; each sign was seen in a run. */
import type { CallUsage } from '../../shared/outcome.js';
import { BackendError, type BackendErrorKind } from '../backend.js';
import { rateLimited, readTryAgainIn } from '../retry-after.js';
import { readToldTime } from './told-time.js';

const SIGNS: [pattern: RegExp, kind: BackendErrorKind][] = [
  [/usage limit/i, 'usage_limit'],
  [/quota exceeded|insufficient_quota|exceeded your current quota|out of credits/i, 'billing'],
  [/missing environment variable|not logged in|codex login|sign in again|refresh token/i, 'auth'],
  [/context window|context_length_exceeded/i, 'invalid_request'],
  [/flagged|content policy|invalid_prompt|safety/i, 'refused'],
  [/rate limit/i, 'rate_limit'],
  [/overloaded|at capacity/i, 'overloaded'],
  [/high demand|internal server error|server_error/i, 'server'],
  [/model .*(does not exist|not supported|not found)/i, 'invalid_request'],
  [
    /stream disconnected|reconnecting|(waiting|waited) for (the )?network|error sending request|time(d )?out/i,
    'network',
  ],
  [/connection (failed|refused|reset|closed)/i, 'network'],
  [/config\.toml|unknown (variant|field|configuration)|invalid (value|override)|unexpected argument/i, 'config'],
];

const REMEDIES: Partial<Record<BackendErrorKind, string>> = {
  auth: 'Sign in (codex login) or set CODEX_API_KEY, then go on with the run.',
  billing: 'See to the credit of the account, then go on with the run.',
  usage_limit: 'Go on with the run when the limit is lifted.',
};

/** `waiting for network` comes once and is followed by nothing: codex waits for ever. */
export const isWaitingForNetwork = (message: string): boolean => /waiting for network/i.test(message);

/** Errors that another try of codex itself cannot mend. */
export const isFatal = (message: string): boolean => ['auth', 'billing'].includes(kindOf(message));

export function classifyMessage(
  message: string,
  { usage, timeZone, now = Date.now() }: { usage?: CallUsage | undefined; timeZone?: string | undefined; now?: number },
): BackendError {
  const kind = kindOf(message);
  const text = `codex: ${message}`;
  const details: ConstructorParameters<typeof BackendError>[2] = { ...(usage && { usage }) };
  if (kind === 'rate_limit') return rateLimited(text, readTryAgainIn(message), now, details);
  if (kind === 'usage_limit') {
    const resetsAt = readToldTime(message, now, timeZone);
    if (resetsAt !== undefined) details.resetsAt = resetsAt;
  }
  const remedy = REMEDIES[kind];
  if (remedy !== undefined) details.remedy = remedy;
  return new BackendError(kind, text, details);
}

function kindOf(message: string): BackendErrorKind {
  const sign = SIGNS.find(([pattern]) => pattern.test(message));
  // These come with a status that says less.
  if (sign && ['usage_limit', 'billing'].includes(sign[1])) return sign[1];
  const status = Number(/(?:unexpected|last) status:? (\d{3})/i.exec(message)?.[1]);
  return byStatus(status) ?? sign?.[1] ?? 'failed';
}

function byStatus(status: number): BackendErrorKind | undefined {
  if (Number.isNaN(status)) return undefined;
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'billing';
  if (status === 408) return 'network';
  if (status === 429) return 'rate_limit';
  if (status === 503 || status === 529) return 'overloaded';
  return status >= 500 ? 'server' : 'invalid_request';
}
