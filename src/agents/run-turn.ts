/** Runs an agent program for one turn: it is given its prompt, its messages are read as they come, and it is ended in time. */
import type { AgentRunContext } from './backend.js';
import { createJsonLines } from './json-lines.js';
import { type CommandStart, runCommand } from './run-command.js';
import { describeStartFailure } from './start-failure.js';
import { createStayLimit } from './stay-limit.js';
import { endOf } from './whole-words.js';

export interface TurnStart extends Pick<CommandStart, 'argv' | 'cwd' | 'env' | 'input'> {
  /** Of the program, for people. */
  name: string;
  /** What it says last, for people: `its result`. */
  lastWord: string;
  /** Aborted when going on makes no sense; also by a program that stays too long after its last word. */
  stopping: AbortController;
  /** Takes a message. Once it has said its last word, the answer is for how long it may stay from now on, ms. */
  take(message: unknown): number | undefined;
}

export interface TurnEnd {
  exitCode: number | null;
  signal: string | null;
  /** The end of what it said on stderr, and on stdout beside its messages. */
  stderr: string;
}

const MAX_STDERR = 8_000;
const STOP_GRACE_MS = 2_000;

/** @throws BackendError when the program could not be started */
export async function runTurn(start: TurnStart, context: AgentRunContext): Promise<TurnEnd> {
  const { name, stopping } = start;
  const tell = (text: string): void => context.onEvent({ type: 'progress', text });
  const stay = createStayLimit((ms) => {
    tell(`${name} did not exit within ${ms} ms after ${start.lastWord}; it is ended.`);
    stopping.abort();
  });
  let stderr = '';
  // A character may lie in two chunks.
  const decoder = new TextDecoder();
  const keep = (text: string): void => {
    stderr = endOf(`${stderr}${text}`, MAX_STDERR);
  };
  const lines = createJsonLines(
    (message) => {
      const mayStayMs = start.take(message ?? {});
      if (mayStayMs !== undefined) stay.restart(mayStayMs);
    },
    (line) => keep(`${line}\n`),
  );
  try {
    const end = await runCommand({
      argv: start.argv,
      cwd: start.cwd,
      env: start.env,
      input: start.input,
      maxBytes: Number.POSITIVE_INFINITY,
      signal: AbortSignal.any([context.signal, stopping.signal]),
      graceMs: () => (context.signal.aborted ? context.graceMs : Math.min(context.graceMs, STOP_GRACE_MS)),
      onStdout: (chunk) => lines.push(chunk),
      onStderr: (chunk) => keep(decoder.decode(chunk, { stream: true })),
      onProcess: (pid) => context.onProcess(pid),
      onProcessEnd: (pid, left) => context.onProcessEnd(pid, left),
    });
    lines.end();
    if (end.startError !== undefined) throw describeStartFailure(name, end.startError, start.cwd);
    if (!context.signal.aborted) tellLeftovers(name, end.leftovers, context);
    return { exitCode: end.exitCode, signal: end.signal, stderr };
  } finally {
    stay.clear();
  }
}

/** Says that a program ended by itself and left something running. */
export function tellLeftovers(name: string, leftovers: number, context: AgentRunContext): void {
  if (leftovers === 0) return;
  const text = `${name} ended while ${leftovers} process(es) of it still ran; they were ended.`;
  context.onEvent({ type: 'progress', text });
}
