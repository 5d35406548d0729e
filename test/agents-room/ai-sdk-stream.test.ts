/** What is told of a stream of the AI SDK while it comes. */
import { expect, test } from 'vitest';
import { createStreamReader } from '../../src/agents/ai-sdk/read-stream.js';
import type { StreamPart, StreamResult } from '../../src/agents/ai-sdk/sdk-shapes.js';
import type { AgentRunContext } from '../../src/agents/backend.js';

async function toldOf(texts: readonly string[]): Promise<string[]> {
  const told: string[] = [];
  const context = {
    maxAnswerBytes: 1_000_000,
    onEvent: (event: { text?: string }) => void told.push(event.text ?? ''),
  } as unknown as AgentRunContext;
  async function* parts() {
    for (const text of texts) yield { type: 'text-delta', text } as StreamPart;
  }
  await createStreamReader(context).read({ fullStream: parts() } as unknown as StreamResult);
  return told;
}

test('a secret at the edge of a piece is told in one piece, where it can be masked', async () => {
  const secret = 'sk-half-and-half-0123456789';
  const told = await toldOf([`${'word '.repeat(399)}${secret.slice(0, 9)}`, secret.slice(9), ' end']);
  expect(told).toEqual(['word '.repeat(399), `${secret} end`]);
});

test('a text without white space is held back only so long', async () => {
  const told = await toldOf(['a'.repeat(4_000), 'b'.repeat(4_000), 'c']);
  expect(told).toEqual([`${'a'.repeat(4_000)}${'b'.repeat(4_000)}`, 'c']);
});
