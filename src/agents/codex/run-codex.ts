/** Runs `codex exec` for one turn of a thread. */
import { Buffer } from 'node:buffer';
import { type AgentRunContext, BackendError } from '../backend.js';
import { runTurn, type TurnEnd } from '../run-turn.js';
import type { CodexMessage } from './codex-messages.js';
import { createTurn, type Turn } from './read-turn.js';

export interface CodexStart {
  argv: readonly string[];
  cwd: string;
  env: Record<string, string>;
  prompt: string;
  /** How long it may wait for a network that is not there, ms. */
  networkWaitMs: number;
  /** How long it may stay after its closing message, ms. */
  stayMs: number;
}

export interface CodexEnd extends TurnEnd {
  turn: Turn;
  /** Why we ended it: going on made no sense. */
  stopped: string | undefined;
}

export async function runCodex(start: CodexStart, context: AgentRunContext): Promise<CodexEnd> {
  const { argv, cwd, env, prompt, stayMs } = start;
  const stopping = new AbortController();
  let stopped: string | undefined;
  let waiting: NodeJS.Timeout | undefined;
  const stop = (message: string): void => {
    stopped ??= message;
    stopping.abort();
  };
  const turn = createTurn({
    onEvent: (event) => context.onEvent(event),
    stop,
    setWaiting(isWaiting) {
      if (isWaiting) {
        const tooLong = `waited for the network for ${start.networkWaitMs} ms`;
        waiting ??= setTimeout(stop, start.networkWaitMs, tooLong);
        return;
      }
      clearTimeout(waiting);
      waiting = undefined;
    },
  });
  try {
    const end = await runTurn(
      {
        name: 'codex',
        lastWord: 'the end of its turn',
        argv,
        cwd,
        env,
        input: Buffer.from(prompt),
        stopping,
        take(message) {
          turn.take(message as CodexMessage);
          return turn.ended ? stayMs : undefined;
        },
      },
      context,
    );
    return { ...end, turn, stopped };
  } finally {
    clearTimeout(waiting);
  }
}

/** It ended without the end of its turn: whatever it had said is no answer. */
export function describeSilentEnd({ exitCode, signal, stderr }: CodexEnd): string | BackendError {
  const words = stderr
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^(WARNING|warning|Reading prompt from stdin)/.test(line))
    .join('\n');
  if (words !== '') return words;
  const how = signal ? `was ended by ${signal}` : `ended with exit code ${exitCode}`;
  return new BackendError('protocol', `codex ${how} before the end of its turn.`);
}
