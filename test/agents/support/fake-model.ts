/**
 * A model on loopback that does what a test says. A small server in front keeps each request as it came and gives the
 * faults; `@copilotkit/aimock` behind it gives the good replies, in the wire format of the agent.
 */
import { LLMock } from '@copilotkit/aimock';
import { createServer, type IncomingMessage, request as forward, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { waitFor } from '../../support/wait.js';
import { isFault, replyWithFault } from './fault-replies.js';
import { type ModelRequest, type ModelStep, STEP_USAGE, type Wire } from './model-step.js';

export interface FakeModel {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  readonly url: string;
  /** Requests for an answer, in order. */
  readonly requests: ModelRequest[];
  /** Whatever else was asked for: `GET /x`. */
  readonly others: string[];
  waitForRequest(n: number): Promise<ModelRequest>;
}

/**
 * @param steps one for each request, the last repeats; or what to do with a request
 */
export async function startFakeModel(
  steps: readonly ModelStep[] | ((request: ModelRequest) => ModelStep),
): Promise<FakeModel> {
  const requests: ModelRequest[] = [];
  const others: string[] = [];
  const replies = new Map<string, { request: ModelRequest; step: ModelStep }>();
  const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
  mock.on(
    { predicate: () => true },
    (asked) => {
      const reply = replies.get(String(asked._context));
      if (!reply) throw new Error('a request that did not come through the front');
      return describeReply(reply.request, reply.step);
    },
    { chunkSize: 8_192 },
  );
  await mock.start();

  const server = createServer(async (incoming, response) => {
    const raw = await readBody(incoming);
    const request = readRequest(incoming, raw, requests.length + 1);
    if (!request) {
      others.push(`${incoming.method} ${incoming.url}`);
      response.writeHead(404).end();
      return;
    }
    requests.push(request);
    const step = typeof steps === 'function' ? steps(request) : steps[Math.min(request.n, steps.length) - 1];
    if (!step) throw new Error('the fake model was given no step');
    if (isFault(step)) return replyWithFault(response, request.wire, step);
    replies.set(String(request.n), { request, step });
    pass(mock.port, incoming, raw, String(request.n), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await mock.stop();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    others,
    waitForRequest: (n) => waitFor(`request ${n} to the model`, () => requests[n - 1], { timeoutMs: 60_000 }),
  };
}

function describeReply(request: ModelRequest, step: ModelStep) {
  const { in: input, out } = step.usage ?? STEP_USAGE;
  const usage = {
    ...{ input_tokens: input, output_tokens: out },
    ...{ prompt_tokens: input, completion_tokens: out },
    ...{ promptTokenCount: input, candidatesTokenCount: out },
  };
  const call = (name: string, input: unknown) => ({
    toolCalls: [{ name, arguments: JSON.stringify(input) }],
    usage,
  });
  if ('text' in step) return { content: step.text, usage };
  if ('tool' in step) return call(step.tool, step.input);
  if ('json' in step) {
    const tool = request.tools.find((name) => /structured_?output|submit_result|^json$/i.test(name));
    return tool ? call(tool, step.json) : { content: JSON.stringify(step.json), usage };
  }
  if ('shell' in step) {
    const tool = request.tools.find((name) => /^(bash|exec_command|shell|run_shell_command)$/i.test(name));
    if (!tool) throw new Error(`the agent offers no shell among ${request.tools.join(', ')}`);
    return call(
      tool,
      tool === 'exec_command' ? { cmd: step.shell } : { command: step.shell, description: 'a command' },
    );
  }
  throw new Error('a fault is not a reply');
}

function readRequest(incoming: IncomingMessage, raw: string, n: number): ModelRequest | undefined {
  const path = (incoming.url ?? '').split('?')[0] as string;
  const wire = wireOf(path);
  if (incoming.method !== 'POST' || !wire) return undefined;
  const body = JSON.parse(raw) as Record<string, unknown>;
  const model = String(body.model ?? /\/models\/([^:]+):/.exec(path)?.[1] ?? '');
  return { n, wire, path, headers: incoming.headers, raw, body, model, tools: toolNames(body.tools) };
}

function wireOf(path: string): Wire | undefined {
  if (path.endsWith('/v1/messages')) return 'anthropic';
  if (path.endsWith('/responses')) return 'responses';
  if (path.endsWith('/chat/completions')) return 'chat';
  return /:(stream)?[gG]enerateContent$/.test(path) ? 'gemini' : undefined;
}

type ToolEntry = { name?: string; type?: string; function?: { name: string }; functionDeclarations?: ToolEntry[] };

function toolNames(tools: unknown): string[] {
  if (!Array.isArray(tools)) return [];
  return (tools as ToolEntry[]).flatMap((tool) =>
    tool.functionDeclarations
      ? toolNames(tool.functionDeclarations)
      : (tool.function?.name ?? tool.name ?? tool.type ?? []),
  );
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function pass(port: number, incoming: IncomingMessage, raw: string, context: string, response: ServerResponse): void {
  const { host, connection, 'content-length': _length, 'transfer-encoding': _encoding, ...headers } = incoming.headers;
  const body = Buffer.from(raw);
  const onward = forward(
    {
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: incoming.url,
      headers: { ...headers, 'content-length': body.length, 'x-aimock-context': context },
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  onward.end(body);
}
