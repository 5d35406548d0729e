/** A call of the AI SDK backend against a scripted server on loopback, and how each provider's server replies. */
import { createAiSdkBackend } from '../../../src/agents/ai-sdk/ai-sdk-backend.js';
import type { AiSdkSettings } from '../../../src/agents/ai-sdk/ai-sdk-settings.js';
import { executeCall } from '../../../src/agents/execute-call.js';
import { makeContext, makePolicy, makeRequest } from '../../agents-room/call-kit.js';
import { data, type Reply, startScriptedServer } from './scripted-server.js';

/** In the package that has the AI SDK. */
export const HERE = import.meta.dirname;

export const SCHEMA = {
  type: 'object',
  properties: { verdict: { type: 'string', enum: ['yes', 'no'] }, score: { type: 'integer' } },
  required: ['verdict', 'score'],
  additionalProperties: false,
};
export const GOOD = '{"verdict":"yes","score":3}';

export interface Changes {
  settings?: AiSdkSettings;
  env?: Record<string, string>;
  request?: Parameters<typeof makeRequest>[0];
  policy?: Parameters<typeof makePolicy>[0];
}

export async function callWith(replies: readonly Reply[], changes: Changes = {}) {
  const { url, requests } = await startScriptedServer(replies);
  const context = makeContext();
  const backend = createAiSdkBackend({
    settings: { provider: 'openai-compatible', baseURL: url, model: 'm1', ...changes.settings },
    env: { ANTHROPIC_API_KEY: 'dummy-key-0001', OPENAI_API_KEY: 'dummy-key-0002', ...changes.env },
    folder: HERE,
  });
  const outcome = await executeCall(
    backend,
    makeRequest(changes.request),
    makePolicy({ retries: 0, ...changes.policy }),
    context,
  );
  return { outcome, requests, context };
}

export const event = (type: string, value: object): string => `event: ${type}\n${data({ type, ...value })}`;

export const anthropicStart = event('message_start', {
  message: {
    ...{ id: 'm', type: 'message', role: 'assistant', model: 'claude', content: [] },
    ...{ stop_reason: null, stop_sequence: null },
    usage: { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 90, cache_creation_input_tokens: 0 },
  },
});
export const anthropicText = (text: string): string =>
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
export const anthropicEnd = (reason: string): string =>
  event('content_block_stop', { index: 0 }) +
  event('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 7 } }) +
  event('message_stop', {});

export const openaiStart = event('response.created', {
  response: { id: 'r', object: 'response', created_at: 1, model: 'gpt-5', status: 'in_progress', output: [] },
});
export const openaiItem = { type: 'message', id: 'i', status: 'in_progress', role: 'assistant', content: [] };
export const openaiText = (text: string): string =>
  event('response.output_item.added', { output_index: 0, item: openaiItem }) +
  event('response.output_text.delta', { item_id: 'i', output_index: 0, content_index: 0, delta: text }) +
  event('response.output_item.done', {
    output_index: 0,
    item: { ...openaiItem, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] },
  });
export const openaiEnd = event('response.completed', {
  response: { usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 90 }, output_tokens: 7 } },
});
