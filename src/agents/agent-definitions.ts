export interface AgentDefinition {
  name: string;
  /** Path of the file, for people. */
  file: string;
  /** sha256 of the file's bytes, hex: part of the key of each call that names this definition. */
  digest: string;
  description: string | undefined;
  /** The body: system prompt. */
  prompt: string;
  model: string | undefined;
  effort: string | undefined;
  tools: readonly string[] | undefined;
  disallowedTools: readonly string[] | undefined;
}
