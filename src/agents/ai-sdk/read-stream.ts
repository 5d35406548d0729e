/** Follows one streamed answer: events for people, and in the end its text, cost and the reason of its end. */
import type { CallUsage } from '../../shared/outcome.js';
import type { AgentRunContext } from '../backend.js';
import { tooLarge } from '../run-attempt.js';
import { sumUsage } from '../usage-words.js';
import { wholeWordsIn } from '../whole-words.js';
import type { SdkUsage, StreamPart, StreamResult } from './sdk-shapes.js';

export interface StreamEnd {
  /** Of the last step: what came before a use of tools is no answer. */
  text: string;
  finishReason: string;
  rawReason: string | undefined;
}

export interface StreamReader {
  /** What the steps so far have cost; also there when the stream has failed. */
  readonly usage: CallUsage | undefined;
  /** @throws what the stream has thrown or told as its error */
  read(result: StreamResult): Promise<StreamEnd>;
}

/** Words of the model are told in pieces of about this length, or so often. */
const PIECE = 2_000;
const PIECE_MS = 1_000;

export function createStreamReader(context: AgentRunContext): StreamReader {
  let usage: CallUsage | undefined;
  let text = '';
  let told = '';
  let toldAt = performance.now();

  /** @param length of the part to tell; what stays is told with what follows */
  const flush = (length = told.length): void => {
    const words = told.slice(0, length);
    if (words.trim() !== '') context.onEvent({ type: 'progress', text: words });
    told = told.slice(length);
    toldAt = performance.now();
  };
  const tell = (words: string): void => {
    told += words;
    if (told.length >= PIECE || performance.now() - toldAt >= PIECE_MS) flush(wholeWordsIn(told));
  };

  const take = (part: StreamPart | { type: 'start' }): StreamEnd | undefined => {
    switch (part.type) {
      case 'start-step':
        text = '';
        for (const warning of part.warnings ?? []) tell(`warning of the AI SDK: ${JSON.stringify(warning)}\n`);
        return undefined;
      case 'text-delta':
        text += part.text;
        // One character has at least one byte.
        if (text.length > context.maxAnswerBytes) throw tooLarge(context.maxAnswerBytes);
        tell(part.text);
        return undefined;
      case 'reasoning-delta':
        tell(part.text);
        return undefined;
      case 'tool-call':
        flush();
        context.onEvent({ type: 'tool', name: part.toolName, state: 'start' });
        return undefined;
      case 'tool-result':
      case 'tool-error':
        context.onEvent({ type: 'tool', name: part.toolName, state: 'end' });
        return undefined;
      case 'finish-step':
        flush();
        usage = sumUsage(usage, readSdkUsage(part.usage));
        if (usage) context.onEvent({ type: 'usage', usage });
        return undefined;
      case 'finish':
        return { text, finishReason: part.finishReason, rawReason: part.rawFinishReason };
      case 'error':
        throw part.error;
      default:
        return undefined;
    }
  };

  return {
    get usage() {
      return usage;
    },
    async read(result) {
      let end: StreamEnd | undefined;
      try {
        for await (const part of result.fullStream) end = take(part) ?? end;
      } finally {
        flush();
      }
      return end ?? { text, finishReason: 'interrupted', rawReason: undefined };
    },
  };
}

function readSdkUsage(usage: SdkUsage | undefined): CallUsage | undefined {
  // A server that reports nothing is not one that did nothing.
  if (usage?.inputTokens === undefined && usage?.outputTokens === undefined) return undefined;
  const read: CallUsage = { inputTokens: usage.inputTokens ?? 0, outputTokens: usage.outputTokens ?? 0 };
  const cached = usage.inputTokenDetails?.cacheReadTokens;
  if (cached !== undefined) read.cacheReadTokens = cached;
  return read;
}
