/**
 * Runs a small program to its end and takes what it writes. What it leaves running and that holds its output is neither
 * waited for nor ended, unless the program itself had to be stopped.
 */
import type { AgentRunContext } from './backend.js';
import { createTreeEnder } from './end-tree.js';
import { endWithProcess } from './end-with-process.js';
import { findScarcity } from './spare-descriptors.js';
import { watchExit } from './watch-exit.js';
import { watchOutput } from './watch-output.js';

export interface ProgramStart {
  cwd: string;
  env: Record<string, string>;
  /** Stops the program with all that it started. */
  signal?: AbortSignal | undefined;
  /** ms */
  timeoutMs: number;
  /** Between SIGTERM and SIGKILL when it must stop, ms. */
  graceMs: number;
  /** Longest output, bytes; beyond it the program is stopped. */
  maxBytes: number;
  /** It must not outlive this process; it has nothing to lose. */
  endsWithProcess?: boolean | undefined;
  onProcess?: ((pid: number) => void) | undefined;
  onProcessEnd?: AgentRunContext['onProcessEnd'] | undefined;
}

export interface ProgramEnd {
  /** `null`: it could not be started, was stopped, or a signal ended it. */
  code: number | null;
  /** The signal that ended it without its having been stopped here. */
  endedBy: string | null;
  /** The time limit stopped it. */
  isLate: boolean;
  stdout: string;
  stderr: string;
  /** Code of the system error when it could not be started. */
  startError: string | undefined;
}

/** Never rejects. */
export async function runToEnd(program: string, args: readonly string[], start: ProgramStart): Promise<ProgramEnd> {
  const { execa } = await import('execa');
  const end: ProgramEnd = { code: null, endedBy: null, isLate: false, stdout: '', stderr: '', startError: undefined };
  if (start.signal?.aborted) return end;
  const scarcity = findScarcity();
  if (scarcity !== undefined) return { ...end, startError: scarcity };
  const child = execa(program, args, {
    cwd: start.cwd,
    env: start.env,
    extendEnv: false,
    // A session of its own: no terminal to ask on, and one group to signal.
    detached: true,
    cleanup: false,
    buffer: false,
    reject: false,
    stdin: 'ignore',
  });
  const { pid } = child;
  if (pid === undefined) {
    const { code } = (await child) as { code?: string };
    return { ...end, startError: code ?? 'unknown' };
  }
  start.onProcess?.(pid);
  const tree = createTreeEnder(pid);
  const letGo = start.endsWithProcess ? endWithProcess(tree) : undefined;
  const exit = watchExit(child.nodeChildProcess, tree);
  const stop = (): void => exit.stop(start.graceMs);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  let bytes = 0;
  const collect = (chunks: Buffer[], chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes <= start.maxBytes) chunks.push(chunk);
    else stop();
  };
  child.stdout.on('data', (chunk: Buffer) => collect(stdout, chunk));
  child.stderr.on('data', (chunk: Buffer) => collect(stderr, chunk));
  const output = watchOutput([child.stdout, child.stderr], () => bytes);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, start.timeoutMs);
  start.signal?.addEventListener('abort', stop, { once: true });
  if (start.signal?.aborted) stop();
  try {
    await exit.exited;
    await output.isDrained();
    await exit.stopping;
    const words = { stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
    // What was cut off is no answer, whatever exit code was found for it.
    return exit.stopping === undefined
      ? { ...end, code: exit.code, endedBy: exit.signal, ...words }
      : { ...end, isLate, ...words };
  } finally {
    clearTimeout(timer);
    start.signal?.removeEventListener('abort', stop);
    child.stdout.destroy();
    child.stderr.destroy();
    letGo?.();
    start.onProcessEnd?.(pid, tree.left);
  }
}
