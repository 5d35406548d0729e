/** Follows one turn of codex: events for people, and in the end its last message and what the thread has cost so far. */
import type { AgentEvent } from '../backend.js';
import { isFatal, isWaitingForNetwork } from './classify-message.js';
import type { CodexItem, CodexMessage, CodexUsage } from './codex-messages.js';

export interface Turn {
  take(message: CodexMessage): void;
  readonly thread: string | undefined;
  /** Text of the last message of the agent. */
  readonly text: string | undefined;
  /** Present when the turn came to its end: of the whole thread, not of this turn. */
  readonly total: CodexUsage | undefined;
  readonly completed: boolean;
  /** Its closing message was there, good or bad: codex has nothing more to say. */
  readonly ended: boolean;
  /** What codex says of its failure. */
  readonly failure: string | undefined;
}

export interface TurnHost {
  onEvent(event: AgentEvent): void;
  /** Going on makes no sense: codex would try the same again. */
  stop(message: string): void;
  /** It has lost its network, or has it again. */
  setWaiting(waiting: boolean): void;
}

export function createTurn(host: TurnHost): Turn {
  const tools = new Map<string, string>();
  let thread: string | undefined;
  let text: string | undefined;
  let total: CodexUsage | undefined;
  let completed = false;
  let ended = false;
  let failure: string | undefined;

  const say = (words: unknown): void => {
    if (typeof words === 'string' && words.trim() !== '') host.onEvent({ type: 'progress', text: words });
  };
  const endTool = (id: string): void => {
    const name = tools.get(id);
    if (name !== undefined) host.onEvent({ type: 'tool', name, state: 'end' });
    tools.delete(id);
  };

  const takeItem = (item: CodexItem, ended: boolean): void => {
    const name = toolName(item);
    if (name !== undefined && item.id !== undefined) {
      if (ended && !tools.has(item.id)) host.onEvent({ type: 'tool', name, state: 'start' });
      tools.set(item.id, name);
      if (ended) endTool(item.id);
      else host.onEvent({ type: 'tool', name, state: 'start' });
    } else if (ended) {
      if (item.type === 'agent_message') text = typeof item.text === 'string' ? item.text : '';
      if (item.type === 'file_change') say(describeChanges(item));
      else say(item.text ?? item.message);
    }
  };

  const takeError = (message: string): void => {
    failure = message;
    say(message);
    const waiting = isWaitingForNetwork(message);
    host.setWaiting(waiting);
    if (!waiting && isFatal(message)) host.stop(message);
  };

  return {
    take(message) {
      if (message.type === 'error') return takeError(wordsOf(message.message) ?? 'unknown error');
      host.setWaiting(false);
      switch (message.type) {
        case 'thread.started':
          thread = message.thread_id;
          return;
        case 'item.started':
          if (message.item) takeItem(message.item, false);
          return;
        case 'item.completed':
          if (message.item) takeItem(message.item, true);
          return;
        case 'turn.completed':
          completed = true;
          ended = true;
          total = message.usage;
          return;
        case 'turn.failed':
          ended = true;
          failure = wordsOf(message.error?.message) ?? failure ?? 'it did not say why';
      }
    },
    get thread() {
      return thread;
    },
    get text() {
      return text;
    },
    get total() {
      return total;
    },
    get completed() {
      return completed;
    },
    get ended() {
      return ended;
    },
    get failure() {
      return failure;
    },
  };
}

/** What takes time of its own, so that silence meanwhile is no standstill. */
function toolName({ type, server, tool }: CodexItem): string | undefined {
  if (type === 'command_execution') return 'command';
  if (type === 'mcp_tool_call') return [server, tool].filter(Boolean).join('.') || 'mcp';
  return type === 'web_search' || type === 'collab_tool_call' ? type : undefined;
}

/** Text, whatever stands where it belongs. */
function wordsOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const describeChanges = ({ changes = [] }: CodexItem): string =>
  changes.map(({ kind = 'change', path = '?' }) => `${kind} ${path}`).join('\n');
