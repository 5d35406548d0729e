/** Follows the messages of one attempt: tells what happens, and keeps what its outcome is made of. */
import type { CallUsage } from '../../shared/outcome.js';
import type { AgentEvent } from '../backend.js';
import { sumUsage } from '../usage-words.js';
import { isAuthError } from './classify-failure.js';
import { blocksOf, type ClaudeMessage } from './claude-messages.js';
import { turnOf } from './session-usage.js';

export interface Turn {
  readonly result: ClaudeMessage | undefined;
  /** It has given its result, and nothing is known to run that could bring another one. */
  readonly resting: boolean;
  readonly session: string | undefined;
  readonly model: string | undefined;
  /** The session has begun. */
  readonly started: boolean;
  /** The tool for the answer to a schema is there; `undefined` before the session has begun. */
  readonly hasAnswerTool: boolean | undefined;
  /** A model has said something. */
  readonly asked: boolean;
  /** Word for the last error of a request. */
  readonly error: string | undefined;
  readonly rejectedUntil: number | undefined;
  /** Wait that the server asked for, ms. */
  readonly retryAfterMs: number | undefined;
  /** Sum of the single requests, for when there is no closing message. */
  readonly usage: CallUsage | undefined;
  /** Why the set-up was refused. */
  readonly refusal: string | undefined;
  take(message: ClaudeMessage): void;
}

export interface TurnOptions {
  onEvent(event: AgentEvent): void;
  /** Going on makes no sense: sign-in was refused, or the answer cannot be given as asked. */
  stop(): void;
  /** The attempt needs the tool for the answer to a schema. */
  needsAnswerTool: boolean;
}

const ANSWER_TOOL = 'StructuredOutput';
/** Messages that Claude Code writes itself, about errors and its own commands. */
const NO_MODEL = '<synthetic>';
/** Longest wait before its first repetition, ms; it doubles with each. */
const OWN_WAIT_MS = 650;

export function createTurn({ onEvent, stop, needsAnswerTool }: TurnOptions): Turn {
  const kept = {
    result: undefined as ClaudeMessage | undefined,
    resting: false,
    session: undefined as string | undefined,
    model: undefined as string | undefined,
    started: false,
    hasAnswerTool: undefined as boolean | undefined,
    asked: false,
    error: undefined as string | undefined,
    rejectedUntil: undefined as number | undefined,
    retryAfterMs: undefined as number | undefined,
    usage: undefined as CallUsage | undefined,
    refusal: undefined as string | undefined,
  };
  /** Tool uses under way, by id. */
  const open = new Map<string, { name: string; input: unknown }>();
  /** What runs beside the turn and is waited for by Claude Code, which then goes on and gives another result. */
  const tasks = new Set<string>();
  /** Usage of each request; its message comes in several pieces. */
  const requests = new Map<string, CallUsage>();
  const tell = (text: string): void => onEvent({ type: 'progress', text });

  const begin = ({ tools, model, session_id }: ClaudeMessage): void => {
    kept.started = true;
    kept.session = session_id;
    kept.model = model;
    kept.hasAnswerTool = tools?.includes(ANSWER_TOOL) ?? false;
    if (model !== undefined) onEvent({ type: 'model', model });
    if (needsAnswerTool && !kept.hasAnswerTool) stop();
  };

  const hear = (message: ClaudeMessage): void => {
    kept.error = message.error;
    if (message.message?.model === NO_MODEL) return;
    kept.asked = true;
    countRequest(message);
    for (const block of blocksOf(message)) {
      if (block.type === 'text' && typeof block.text === 'string' && block.text !== '') tell(block.text);
      if (block.type !== 'tool_use' || block.id === undefined) continue;
      const name = block.name ?? 'unnamed';
      open.set(block.id, { name, input: block.input });
      if (name !== ANSWER_TOOL) onEvent({ type: 'tool', name, state: 'start' });
    }
  };

  const countRequest = ({ message }: ClaudeMessage): void => {
    if (!message?.usage) return;
    requests.set(message.id ?? String(requests.size), turnOf({ usage: message.usage }));
    kept.usage = [...requests.values()].reduce<CallUsage | undefined>(sumUsage, undefined);
    if (kept.usage) onEvent({ type: 'usage', usage: kept.usage });
  };

  const endTools = (message: ClaudeMessage): void => {
    for (const block of blocksOf(message)) {
      const tool = open.get(block.tool_use_id ?? '');
      if (block.type !== 'tool_result' || !tool) continue;
      open.delete(block.tool_use_id as string);
      if (tool.name !== ANSWER_TOOL) onEvent({ type: 'tool', name: tool.name, state: 'end' });
      // It may be all that is left of dear work.
      else if (block.is_error) tell(`An answer was refused: ${String(block.content)}\n${JSON.stringify(tool.input)}`);
    }
  };

  const hearSystem = (message: ClaudeMessage): void => {
    if (message.subtype === 'init') return begin(message);
    if (message.subtype === 'task_started' && message.task_id !== undefined) tasks.add(message.task_id);
    if (message.subtype === 'task_notification') tasks.delete(message.task_id ?? '');
    if (message.subtype !== 'api_retry') return;
    const { error = 'unknown', error_status: status, retry_delay_ms: delay = 0, attempt = 1 } = message;
    kept.error = error;
    // Its own waits are shorter: this one was asked for.
    kept.retryAfterMs = delay > OWN_WAIT_MS * 2 ** (attempt - 1) ? delay : undefined;
    tell(`The model's server said ${status ?? 'nothing'} (${error}); claude asks again in ${Math.round(delay)} ms.`);
    if (isAuthError(error)) stop();
  };

  const take = (message: ClaudeMessage): void => {
    if (message.type === 'assistant' || message.type === 'user') kept.resting = false;
    switch (message.type) {
      case 'system':
        return hearSystem(message);
      case 'assistant':
        return hear(message);
      case 'user':
        return endTools(message);
      case 'rate_limit_event':
        if (message.rate_limit_info?.status === 'rejected') kept.rejectedUntil = message.rate_limit_info.resetsAt ?? 0;
        return;
      case 'control_response':
        if (message.response?.subtype === 'error') kept.refusal = message.response.error ?? 'no reason given';
        return;
      case 'result':
        kept.result = message;
        kept.resting = tasks.size === 0;
        kept.session = message.session_id ?? kept.session;
        return;
    }
  };
  return Object.assign(kept, { take });
}
