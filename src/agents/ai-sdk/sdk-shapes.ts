/**
 * The part of the AI SDK's shape that is used here. Its packages are the user's own and not needed to build this one;
 * test/agents runs against the real ones.
 */
export type LanguageModel = object;
export type Message = { role: string; content: unknown };

export interface SdkUsage {
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  inputTokenDetails?: { cacheReadTokens?: number | undefined } | undefined;
}

export type StreamPart =
  | { type: 'text-delta' | 'reasoning-delta'; text: string }
  | { type: 'start-step'; warnings?: readonly unknown[] }
  | { type: 'tool-call'; toolCallId: string; toolName: string }
  | { type: 'tool-result' | 'tool-error'; toolCallId: string; toolName: string }
  | { type: 'finish-step'; usage?: SdkUsage; response?: { modelId?: string } }
  | { type: 'finish'; finishReason: string; rawFinishReason?: string; totalUsage?: SdkUsage }
  | { type: 'error'; error: unknown }
  | { type: 'abort' };

export interface StreamResult {
  fullStream: AsyncIterable<StreamPart | { type: 'start' }>;
  responseMessages: PromiseLike<Message[]>;
}

export interface AiModule {
  streamText(options: Record<string, unknown>): StreamResult;
  stepCountIs(count: number): unknown;
  jsonSchema(schema: object): unknown;
  tool(parts: Record<string, unknown>): unknown;
  Output: { object(parts: { schema: unknown }): unknown };
}
