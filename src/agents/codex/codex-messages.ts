/** The lines of `codex exec --json`, as far as they are read here. Everything may be absent. */
export interface CodexItem {
  id?: string;
  type?: string;
  /** Of `agent_message` and `reasoning`. */
  text?: string;
  /** Of `error`. */
  message?: string;
  /** Of `command_execution`. */
  command?: string;
  /** Of `mcp_tool_call`. */
  server?: string;
  tool?: string;
  /** Of `web_search`. */
  query?: string;
  /** Of `file_change`. */
  changes?: { path?: string; kind?: string }[];
}

export interface CodexUsage {
  input_tokens?: number;
  cached_input_tokens?: number;
  output_tokens?: number;
}

export interface CodexMessage {
  type?: string;
  thread_id?: string;
  item?: CodexItem;
  usage?: CodexUsage;
  /** Of `error`. */
  message?: string;
  /** Of `turn.failed`. */
  error?: { message?: string };
}
