/** Claude Code's words for errors, as `claude` itself and its ACP adapter tell them. */
import type { BackendErrorKind } from './backend.js';

export const CLAUDE_ERROR_KINDS: Readonly<Record<string, BackendErrorKind>> = {
  authentication_failed: 'auth',
  oauth_org_not_allowed: 'auth',
  billing_error: 'billing',
  rate_limit: 'rate_limit',
  overloaded: 'overloaded',
  server_error: 'server',
  invalid_request: 'invalid_request',
  model_not_found: 'invalid_request',
  max_output_tokens: 'failed',
};
