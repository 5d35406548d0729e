/** Runs the `claude` program for one turn of a session. */
import { Buffer } from 'node:buffer';
import type { AgentRunContext } from '../backend.js';
import { BackendError } from '../backend.js';
import { describeStartFailure } from '../start-failure.js';
import { runCommand } from '../run-command.js';
import { createJsonLines } from '../json-lines.js';
import { createStayLimit } from '../stay-limit.js';
import { endOf } from '../whole-words.js';
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

export interface ClaudeEnd {
  turn: Turn;
  exitCode: number | null;
  signal: string | null;
  /** We ended it: going on made no sense. */
  stopped: boolean;
  /** The end of what it said on stderr. */
  stderr: string;
}

const MAX_STDERR = 8_000;
const STOP_GRACE_MS = 2_000;
/** Claude Code waits ten minutes for what runs beside its turn. */
const BUSY_STAY_MS = 11 * 60_000;

export async function runClaude(start: ClaudeStart, context: AgentRunContext): Promise<ClaudeEnd> {
  const stopping = new AbortController();
  const turn = createTurn({
    onEvent: (event) => context.onEvent(event),
    stop: () => stopping.abort(),
    needsAnswerTool: start.needsAnswerTool,
  });
  const stay = createStayLimit((ms) => {
    context.onEvent({ type: 'progress', text: `claude did not exit within ${ms} ms after its result; it is ended.` });
    stopping.abort();
  });
  let stderr = '';
  const lines = createJsonLines(
    (value) => {
      turn.take((value ?? {}) as ClaudeMessage);
      if (turn.result) stay.restart(turn.resting ? start.stayMs : BUSY_STAY_MS);
    },
    (line) => {
      stderr = endOf(`${stderr}${line}\n`, MAX_STDERR);
    },
  );
  const end = await runCommand({
    argv: start.argv,
    cwd: start.cwd,
    env: start.env,
    input: Buffer.from(start.messages),
    maxBytes: Number.POSITIVE_INFINITY,
    signal: AbortSignal.any([context.signal, stopping.signal]),
    graceMs: () => (context.signal.aborted ? context.graceMs : Math.min(context.graceMs, STOP_GRACE_MS)),
    onStdout: (chunk) => lines.push(chunk),
    onStderr: (chunk) => {
      stderr = endOf(`${stderr}${chunk.toString('utf8')}`, MAX_STDERR);
    },
    onProcess: (pid) => context.onProcess(pid),
    onProcessEnd: (pid) => context.onProcessEnd(pid),
  }).finally(stay.clear);
  lines.end();
  stay.clear();
  if (end.startError !== undefined) throw describeStartFailure('claude', end.startError, start.cwd);
  if (context.signal.aborted) {
    throw new BackendError('cancelled', 'The call was stopped.', { ...(turn.usage && { usage: turn.usage }) });
  }
  if (end.leftovers > 0) {
    const text = `claude ended while ${end.leftovers} process(es) of it still ran; they were ended.`;
    context.onEvent({ type: 'progress', text });
  }
  return { turn, exitCode: end.exitCode, signal: end.signal, stopped: stopping.signal.aborted, stderr };
}
