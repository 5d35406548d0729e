/** Runs the `claude` program for one turn of a session. */
import { Buffer } from 'node:buffer';
import type { AgentRunContext } from '../backend.js';
import { BackendError } from '../backend.js';
import { runTurn, type TurnEnd } from '../run-turn.js';
import type { ClaudeMessage } from './claude-messages.js';
import { createTurn, type Turn } from './read-turn.js';

export interface ClaudeStart {
  argv: readonly string[];
  cwd: string;
  env: Record<string, string>;
  messages: string;
  needsAnswerTool: boolean;
  /** How long it may stay after its result, ms. */
  stayMs: number;
}

export interface ClaudeEnd extends TurnEnd {
  turn: Turn;
  /** We ended it: going on made no sense. */
  stopped: boolean;
}

/** Claude Code waits ten minutes for what runs beside its turn. */
const BUSY_STAY_MS = 11 * 60_000;

export async function runClaude(start: ClaudeStart, context: AgentRunContext): Promise<ClaudeEnd> {
  const { argv, cwd, env, messages, needsAnswerTool, stayMs } = start;
  const stopping = new AbortController();
  const turn = createTurn({
    onEvent: (event) => context.onEvent(event),
    stop: () => stopping.abort(),
    needsAnswerTool,
  });
  const end = await runTurn(
    {
      name: 'claude',
      lastWord: 'its result',
      argv,
      cwd,
      env,
      input: Buffer.from(messages),
      stopping,
      take(message) {
        turn.take(message as ClaudeMessage);
        if (!turn.result) return undefined;
        return turn.resting ? stayMs : BUSY_STAY_MS;
      },
    },
    context,
  );
  if (context.signal.aborted) {
    throw new BackendError('cancelled', 'The call was stopped.', { ...(turn.usage && { usage: turn.usage }) });
  }
  return { ...end, turn, stopped: stopping.signal.aborted };
}
