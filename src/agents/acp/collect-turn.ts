/** Collects one turn: the answer from its chunks, and events for people from everything else. */
import { Buffer } from 'node:buffer';
import type { AgentEvent } from '../backend.js';
import { wholeWordsIn } from '../whole-words.js';
import type { AskedTool } from './permission-rules.js';
import { asObject, joinUsage, readSessionCost } from './read-usage.js';
import { readReportedFailure } from './reported-failure.js';

type Json = Readonly<Record<string, unknown>>;

export interface TurnCollector {
  /** Takes an update of this session. */
  take(update: Json): void;
  /** What is known of a tool, with what a question about it adds. */
  toolOf(asked: Json): AskedTool & { title: string };
  /** Tells what is left to tell; nothing is told afterwards. */
  end(): void;
  /** What the agent said last: after its last tool, in its last message. */
  readonly answer: string;
  /** Dollars of the session so far. */
  readonly cost: number | undefined;
}

/** Words are told in pieces of about this length, or after this time: a chunk is often but half a word. */
const PIECE = 200;
const PIECE_MS = 1_000;

/**
 * @param costBefore dollars of the session before this turn
 * @param maxBytes of all that the agent says in the turn
 * @param onOverflow called once when that is exceeded; nothing more is kept
 */
export function collectTurn(
  onEvent: (event: AgentEvent) => void,
  costBefore: number,
  maxBytes: number,
  onOverflow: () => void,
): TurnCollector {
  const tools = new Map<string, { kind?: unknown; name?: unknown; title: string; running: boolean }>();
  let said: string[] = [];
  let earlier = '';
  let bytes = 0;
  let message: unknown;
  let cost: number | undefined;
  let piece = '';
  let toldAt = performance.now();
  let open = true;

  /** @param length of the part to tell; what stays is told with what follows */
  const tellPiece = (length = piece.length): void => {
    toldAt = performance.now();
    const told = piece.slice(0, length).trim();
    if (told !== '') onEvent({ type: 'progress', text: told });
    piece = piece.slice(length);
  };
  const tell = (event: AgentEvent): void => {
    tellPiece(wholeWordsIn(piece));
    onEvent(event);
  };
  const startMessage = (): void => {
    const text = said.join('');
    if (text.trim() !== '') earlier = text;
    said = [];
  };
  const addText = (text: string, messageId: unknown): void => {
    if (bytes > maxBytes) return;
    if (typeof messageId === 'string' && message !== undefined && messageId !== message) startMessage();
    if (typeof messageId === 'string') message = messageId;
    bytes += Buffer.byteLength(text);
    if (bytes > maxBytes) {
      said = [];
      return onOverflow();
    }
    said.push(text);
    addPiece(text);
  };
  const addPiece = (text: string): void => {
    piece += text;
    if (piece.length >= PIECE || performance.now() - toldAt > PIECE_MS) tellPiece(wholeWordsIn(piece));
  };
  const takeTool = (update: Json): void => {
    const id = String(update.toolCallId);
    const known = tools.get(id);
    const ended = update.status === 'completed' || update.status === 'failed';
    const wasRunning = known?.running ?? true;
    const tool = { ...known, ...readTool(update, known?.title), running: wasRunning && !ended };
    tools.set(id, tool);
    if (!known) {
      startMessage();
      tellPiece();
      tell({ type: 'tool', name: tool.title, state: 'start' });
    }
    if (ended && wasRunning) tell({ type: 'tool', name: tool.title, state: 'end' });
  };

  const takeCost = (update: Json): void => {
    cost = readSessionCost(update) ?? cost;
    const usage = joinUsage(undefined, cost, costBefore);
    if (usage) tell({ type: 'usage', usage });
  };

  return {
    take(update) {
      if (!open) return;
      const kind = update.sessionUpdate;
      const content = asObject(update.content);
      const text = content?.type === 'text' && typeof content.text === 'string' ? content.text : undefined;
      if (kind === 'agent_message_chunk' && text !== undefined) addText(text, update.messageId);
      else if (kind === 'agent_thought_chunk' && text !== undefined) addPiece(text);
      else if (kind === 'tool_call' || kind === 'tool_call_update') takeTool(update);
      else if (kind === 'usage_update') takeCost(update);
      else {
        const failure = readReportedFailure(update);
        if (failure && !failure.final) tell({ type: 'progress', text: `trouble: ${failure.title}` });
      }
    },
    toolOf(asked) {
      const known = tools.get(String(asked.toolCallId));
      return { ...known, ...readTool(asked, known?.title) };
    },
    end() {
      tellPiece();
      open = false;
    },
    get answer() {
      const last = said.join('');
      return last.trim() === '' ? earlier : last;
    },
    get cost() {
      return cost;
    },
  };
}

/** Only what is given: an update leaves out what has not changed. */
function readTool(given: Json, title = 'tool'): { kind?: unknown; name?: unknown; title: string } {
  return {
    ...(given.kind != null && { kind: given.kind }),
    ...(given.name != null && { name: given.name }),
    title: typeof given.title === 'string' && given.title !== '' ? given.title : title,
  };
}
