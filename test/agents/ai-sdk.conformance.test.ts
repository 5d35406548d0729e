/** The shared steps of every backend, with the real AI SDK and a server that speaks Chat Completions. */
import { createHash } from 'node:crypto';
import { createAiSdkBackend } from '../../src/agents/ai-sdk/ai-sdk-backend.js';
import type { BackendErrorKind } from '../../src/agents/backend.js';
import { describeConformance, type Step } from '../agents-room/conformance.js';
import { neverReply, type Reply, replyChat, replyJson, startScriptedServer } from './support/scripted-server.js';

const STATUS: Partial<Record<BackendErrorKind, number>> = {
  auth: 401,
  billing: 402,
  rate_limit: 429,
  server: 500,
  overloaded: 529,
  failed: 400,
};

describeConformance({
  name: 'ai-sdk',
  placeless: true,
  tokensOnly: true,
  async make(steps) {
    const { url } = await startScriptedServer(steps.map(toReply));
    return createAiSdkBackend({
      settings: { provider: 'openai-compatible', baseURL: url, model: 'm1' },
      env: {},
      folder: import.meta.dirname,
    });
  },
});

function toReply(step: Step): Reply {
  if ('hang' in step) return neverReply;
  if ('error' in step) {
    const headers: Record<string, string> = step.retryAfterMs ? { 'retry-after-ms': String(step.retryAfterMs) } : {};
    return replyJson(
      STATUS[step.error] ?? 500,
      { error: { message: step.message ?? step.error, type: step.error } },
      headers,
    );
  }
  if ('echo' in step) {
    return (response, request) => {
      const prompt = request.body.messages.at(-1).content as string;
      const sha256 = createHash('sha256').update(Buffer.from(prompt)).digest('hex');
      replyChat(JSON.stringify({ sha256 }))(response, request);
    };
  }
  return replyChat(step.text.repeat(step.repeat ?? 1), step.usage);
}
