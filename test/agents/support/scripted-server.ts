/** A server on loopback that does to each request, in order, exactly what a test says: also what no well-behaved one does. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface SeenRequest {
  path: string;
  headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: whatever the client sends
  body: any;
}

export type Reply = (response: ServerResponse, request: SeenRequest) => void;

export interface ScriptedServer {
  url: string;
  requests: SeenRequest[];
}

/** Answers request n by reply n; the last one repeats. It is closed with the test. */
export async function startScriptedServer(replies: readonly Reply[]): Promise<ScriptedServer> {
  const requests: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const seen = {
        path: request.url ?? '',
        headers: request.headers,
        body: text === '' ? undefined : JSON.parse(text),
      };
      requests.push(seen);
      replies[Math.min(requests.length, replies.length) - 1]?.(response, seen);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

export const replyJson =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

/** @param end `cut` breaks the connection after the last event, `open` never ends it */
export const replyEvents =
  (events: readonly string[], end: 'end' | 'cut' | 'open' = 'end'): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) response.write(event);
    if (end === 'end') response.end();
    // Only once the other side has what was written.
    if (end === 'cut') setImmediate(() => response.socket?.destroySoon());
  };

export const neverReply: Reply = () => {};

export const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

interface ChatUsage {
  in: number;
  out: number;
  cached?: number;
}

/** One chunk of OpenAI's Chat Completions. */
export const chatChunk = (delta: object, finish: string | null = null): string =>
  data({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm1',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });

export const chatUsage = ({ in: prompt, out, cached }: ChatUsage): string =>
  data({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm1',
    choices: [],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: out,
      total_tokens: prompt + out,
      ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
    },
  });

export const DONE = 'data: [DONE]\n\n';

export const replyChat = (text: string, usage?: ChatUsage): Reply =>
  replyEvents([
    chatChunk({ role: 'assistant', content: text }),
    chatChunk({}, 'stop'),
    ...(usage ? [chatUsage(usage)] : []),
    DONE,
  ]);

export const replyToolCall = (name: string, input: unknown, usage?: ChatUsage): Reply =>
  replyEvents([
    chatChunk({
      role: 'assistant',
      tool_calls: [
        { index: 0, id: `t-${name}`, type: 'function', function: { name, arguments: JSON.stringify(input) } },
      ],
    }),
    chatChunk({}, 'tool_calls'),
    ...(usage ? [chatUsage(usage)] : []),
    DONE,
  ]);
