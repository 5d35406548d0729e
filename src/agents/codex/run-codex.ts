/** Runs `codex exec` for one turn of a thread. */
import { Buffer } from 'node:buffer';
import { type AgentRunContext, BackendError } from '../backend.js';
import { describeStartFailure } from '../start-failure.js';
import { runCommand } from '../run-command.js';
import { createJsonLines } from '../json-lines.js';
import { createStayLimit } from '../stay-limit.js';
import { endOf } from '../whole-words.js';
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

export interface CodexEnd {
  turn: Turn;
  exitCode: number | null;
  signal: string | null;
  /** Why we ended it: going on made no sense. */
  stopped: string | undefined;
  /** The end of what it said on stderr. */
  stderr: string;
}

const MAX_STDERR = 8_000;
const STOP_GRACE_MS = 2_000;

export async function runCodex(start: CodexStart, context: AgentRunContext): Promise<CodexEnd> {
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
  const stay = createStayLimit((ms) => {
    context.onEvent({
      type: 'progress',
      text: `codex did not exit within ${ms} ms after the end of its turn; it is ended.`,
    });
    stopping.abort();
  });
  let stderr = '';
  const keep = (text: string): void => {
    stderr = endOf(`${stderr}${text}`, MAX_STDERR);
  };
  const lines = createJsonLines(
    (value) => {
      turn.take((value ?? {}) as CodexMessage);
      if (turn.ended) stay.restart(start.stayMs);
    },
    (line) => keep(`${line}\n`),
  );
  try {
    const end = await runCommand({
      argv: start.argv,
      cwd: start.cwd,
      env: start.env,
      input: Buffer.from(start.prompt),
      maxBytes: Number.POSITIVE_INFINITY,
      signal: AbortSignal.any([context.signal, stopping.signal]),
      graceMs: () => (context.signal.aborted ? context.graceMs : Math.min(context.graceMs, STOP_GRACE_MS)),
      onStdout: (chunk) => lines.push(chunk),
      onStderr: (chunk) => keep(chunk.toString('utf8')),
      onProcess: (pid) => context.onProcess(pid),
      onProcessEnd: (pid) => context.onProcessEnd(pid),
    });
    lines.end();
    if (end.startError !== undefined) throw describeStartFailure('codex', end.startError, start.cwd);
    if (end.leftovers > 0 && !context.signal.aborted) {
      const text = `codex ended while ${end.leftovers} process(es) of it still ran; they were ended.`;
      context.onEvent({ type: 'progress', text });
    }
    return { turn, exitCode: end.exitCode, signal: end.signal, stopped, stderr };
  } finally {
    stay.clear();
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
