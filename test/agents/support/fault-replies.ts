/** Replies that a model's server gives when something is wrong, in the words of each wire format. */
import type { ServerResponse } from 'node:http';
import type { ModelStep, Wire } from './model-step.js';

type Fault = Extract<ModelStep, { status: number } | { usageLimit: number } | { cut: true } | { silent: true }>;

export const isFault = (step: ModelStep): step is Fault =>
  'status' in step || 'usageLimit' in step || 'cut' in step || 'silent' in step;

export function replyWithFault(response: ServerResponse, wire: Wire, step: Fault): void {
  if ('silent' in step) return;
  if ('cut' in step) return cutOff(response, wire);
  if ('usageLimit' in step) return refuseForLimit(response, wire, step.usageLimit);
  const [type, message] = WORDS[step.status] ?? ['api_error', `HTTP ${step.status}`];
  const headers: Record<string, string> =
    step.retryAfter === undefined ? {} : { 'retry-after': String(step.retryAfter) };
  send(response, step.status, headers, errorBody(wire, step.status, type, step.message ?? message));
}

const WORDS: Record<number, [type: string, message: string]> = {
  400: ['invalid_request_error', 'messages: must not be empty'],
  401: ['authentication_error', 'invalid x-api-key'],
  402: ['billing_error', 'Your credit balance is too low to access the API'],
  403: ['permission_error', 'permission denied'],
  404: ['not_found_error', 'model: no such model'],
  429: ['rate_limit_error', 'This request would exceed your rate limit'],
  500: ['api_error', 'Internal server error'],
  529: ['overloaded_error', 'Overloaded'],
};

function errorBody(wire: Wire, status: number, type: string, message: string): object {
  if (wire === 'anthropic') return { type: 'error', error: { type, message } };
  if (wire === 'gemini') return { error: { code: status, message, status: GEMINI_STATUS[status] ?? 'INTERNAL' } };
  return { error: { message, type, code: status === 402 ? 'insufficient_quota' : type, param: null } };
}

const GEMINI_STATUS: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
};

function refuseForLimit(response: ServerResponse, wire: Wire, resetsAt: number): void {
  const message = 'This request would exceed the rate limit of your account.';
  if (wire === 'anthropic') {
    const headers = {
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': String(resetsAt),
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
      'anthropic-ratelimit-unified-fallback': 'available',
      'retry-after': '3600',
      'x-should-retry': 'false',
    };
    return send(response, 429, headers, errorBody(wire, 429, 'rate_limit_error', message));
  }
  const body = { error: { type: 'usage_limit_reached', message, plan_type: 'plus', resets_at: resetsAt } };
  send(response, 429, {}, body);
}

/** A stream that has begun and goes no further. */
const BEGUN: Record<Wire, string[]> = {
  anthropic: [
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"m","usage":{"input_tokens":5,"output_tokens":1}}}\n\n',
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"half an ans"}}\n\n',
  ],
  responses: [
    'event: response.created\ndata: {"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[]}}\n\n',
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","item_id":"i","output_index":0,"content_index":0,"delta":"half an ans"}\n\n',
  ],
  chat: [
    'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"half an ans"},"finish_reason":null}]}\n\n',
  ],
  gemini: ['data: {"candidates":[{"content":{"role":"model","parts":[{"text":"half an ans"}]},"index":0}]}\n\n'],
};

function cutOff(response: ServerResponse, wire: Wire): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(BEGUN[wire].join(''), () => response.destroy());
}

function send(response: ServerResponse, status: number, headers: Record<string, string>, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
