/** The process of one agent: started without a shell in a session of its own, and ended with everything below it. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '../../shared/errors.js';
import { createStderrReader } from '../command/read-stderr.js';
import type { AgentRunContext } from '../backend.js';
import { callMarks, endMarked } from '../end-marked.js';
import { createTreeEnder } from '../end-tree.js';
import { leaveUnreachable } from '../leave-unreachable.js';
import { findScarcity } from '../spare-descriptors.js';

export interface AgentStart {
  argv: readonly string[];
  cwd: string;
  env: Record<string, string>;
  onProcess(pid: number): void;
  onProcessEnd: AgentRunContext['onProcessEnd'];
}

export interface AgentProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>;
  /** Set once it has ended. */
  readonly exit: { code: number | null; signal: string | null } | undefined;
  /** The last line for people on its stderr; empty when there was none. */
  readonly lastWords: string;
  /**
   * Closes its stdin, then SIGTERM, then SIGKILL to all that is left; what no signal reaches is left to itself. Never rejects.
   *
   * @param graceMs between the first and the last of these, read when the end starts
   */
  end(graceMs: number): Promise<void>;
}

/** Agents that end with their input do so within this time; others are not waited for. */
const LEAVE_MS = 300;

/** Gives the code of the system error when the program cannot be started. */
export async function startAgentProcess(start: AgentStart): Promise<AgentProcess | { startError: string }> {
  const scarcity = findScarcity();
  if (scarcity !== undefined) return { startError: scarcity };
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(start.argv[0] as string, start.argv.slice(1), {
      cwd: start.cwd,
      env: start.env,
      // A session of its own: no terminal to ask on, and one group to signal.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  } catch (error) {
    // Some errors of the system come at once, the others as an event.
    return { startError: systemCode(error) ?? 'unknown' };
  }
  const { pid } = child;
  if (pid === undefined) {
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => child.once('error', resolve));
    return { startError: error.code ?? 'unknown' };
  }
  // Told first: from here on it ends with the engine.
  start.onProcess(pid);
  const tree = createTreeEnder(pid);
  let exit: AgentProcess['exit'];
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      exit = { code, signal };
      resolve();
    });
  });
  child.on('error', () => {});
  for (const stream of child.stdio) stream?.on('error', () => {});
  const stderr = createStderrReader(() => {});
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stderr.once('close', () => stderr.end());

  let ending: Promise<void> | undefined;
  const end = async (graceMs: number): Promise<void> => {
    // Members in sessions of their own are found only while their parents live.
    tree.remember();
    const leftByItself = exit !== undefined && start.env.WF_RUN_ID !== undefined;
    child.stdin.end();
    if (exit === undefined) await Promise.race([exited, sleep(Math.min(LEAVE_MS, graceMs), undefined, { ref: false })]);
    if (exit === undefined) await tree.terminate(graceMs);
    await tree.finish();
    if (exit === undefined) await leaveUnreachable(child, tree, exited);
    if (leftByItself) endMarked(callMarks(start.env));
    child.stdin.destroy();
    child.stdout.destroy();
    child.stderr.destroy();
    start.onProcessEnd(pid, tree.left);
  };
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    exited,
    get exit() {
      return exit;
    },
    get lastWords() {
      return stderr.lastLine;
    },
    end(graceMs) {
      ending ??= end(graceMs);
      return ending;
    },
  };
}
