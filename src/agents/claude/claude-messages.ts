/** The messages of `claude --output-format stream-json`, as far as they are read here. Everything may be absent. */

interface Block {
  type?: string;
  text?: string;
  id?: string;
  name?: string;
  input?: unknown;
  tool_use_id?: string;
  is_error?: boolean;
  content?: unknown;
}

export interface Tokens {
  input_tokens?: number;
  output_tokens?: number;
  cache_read_input_tokens?: number;
  cache_creation_input_tokens?: number;
}

export interface ModelTotal {
  inputTokens?: number;
  outputTokens?: number;
  cacheReadInputTokens?: number;
  cacheCreationInputTokens?: number;
}

export interface ClaudeMessage {
  type?: string;
  subtype?: string;
  session_id?: string;
  parent_tool_use_id?: string | null;
  // system/init
  tools?: string[];
  model?: string;
  // system/task_started, system/task_notification
  task_id?: string;
  // system/api_retry
  attempt?: number;
  retry_delay_ms?: number;
  error_status?: number | null;
  /** Of `api_retry` and of an assistant's message: one word of a closed list. */
  error?: string;
  // assistant, user
  message?: { id?: string; model?: string; content?: string | Block[]; usage?: Tokens };
  // rate_limit_event
  rate_limit_info?: { status?: string; resetsAt?: number; rateLimitType?: string };
  // control_response
  response?: { subtype?: string; error?: string };
  // result
  is_error?: boolean;
  result?: string;
  structured_output?: unknown;
  terminal_reason?: string | null;
  api_error_status?: number | null;
  errors?: string[];
  num_turns?: number;
  total_cost_usd?: number;
  usage?: Tokens;
  modelUsage?: Record<string, ModelTotal>;
}

export const blocksOf = (message: ClaudeMessage): Block[] => {
  const content = message.message?.content;
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter((block) => typeof block === 'object' && block !== null) : [];
};
