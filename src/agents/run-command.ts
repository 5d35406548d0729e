/**
 * Runs one program to its end and leaves nothing of it behind. The answer is what the leader wrote: a process that it left
 * running and that holds the pipe is not waited for.
 */
import { closeSync } from 'node:fs';
import type { AgentRunContext } from './backend.js';
import { callMarks, endMarked } from './end-marked.js';
import { createTreeEnder } from './end-tree.js';
import { ONE_WRITE, openInputFile } from './input-file.js';
import { findScarcity } from './spare-descriptors.js';
import { watchExit } from './watch-exit.js';
import { watchOutput } from './watch-output.js';

export interface CommandStart {
  argv: readonly string[];
  cwd: string;
  env: Record<string, string>;
  input: Buffer;
  /** Longest output, bytes; beyond it the program is stopped and nothing is kept. */
  maxBytes: number;
  signal: AbortSignal;
  /** Asked when the program must stop, ms. */
  graceMs(): number;
  /** Takes the output as it comes; nothing is kept then, and `maxBytes` does not count. */
  onStdout?(chunk: Buffer): void;
  onStderr(chunk: Buffer): void;
  onProcess(pid: number): void;
  onProcessEnd: AgentRunContext['onProcessEnd'];
}

export interface CommandEnd {
  stdout: Buffer;
  /** The program wrote more than `maxBytes`. */
  overflow: boolean;
  exitCode: number | null;
  signal: string | null;
  /** Processes that were still running when the leader had ended by itself. */
  leftovers: number;
  /** Code of the system error (`ENOENT`, …) when the program could not be started. */
  startError?: string;
}

const OVERFLOW_GRACE_MS = 500;

export async function runCommand(start: CommandStart): Promise<CommandEnd> {
  const end: CommandEnd = { stdout: Buffer.alloc(0), overflow: false, exitCode: null, signal: null, leftovers: 0 };
  const execa = await import('execa');
  if (start.signal.aborted) return end;
  const scarcity = findScarcity();
  if (scarcity !== undefined) return { ...end, startError: scarcity };
  const child = spawn(execa, start);
  const { pid } = child;
  if (pid === undefined) {
    const { code } = (await child) as { code?: string };
    return { ...end, startError: code ?? 'unknown' };
  }
  const tree = createTreeEnder(pid);
  const exit = watchExit(child.nodeChildProcess, tree);
  // Told first: from here on it ends with the engine.
  start.onProcess(pid);
  const onAbort = (): void => exit.stop(start.graceMs());
  if (start.signal.aborted) onAbort();
  else start.signal.addEventListener('abort', onAbort, { once: true });

  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (start.onStdout) return start.onStdout(chunk);
    if (bytes <= start.maxBytes) return void chunks.push(chunk);
    end.overflow = true;
    chunks.length = 0;
    exit.stop(OVERFLOW_GRACE_MS);
  });
  child.stderr.on('data', start.onStderr);
  const output = watchOutput([child.stdout, child.stderr], () => bytes);
  // A program need not read its input.
  child.stdin?.on('error', () => {});
  child.stdin?.end(start.input);

  try {
    await exit.exited;
    end.exitCode = exit.code;
    end.signal = exit.signal;
    if (!exit.stopping && !(await output.isDrained())) {
      end.leftovers += await tree.finish();
      await output.isDrained();
    }
    await exit.stopping;
    const killed = await tree.finish();
    if (!exit.stopping) end.leftovers += killed;
    if (!exit.stopping && end.signal !== null) end.leftovers += endMarked(callMarks(start.env));
  } finally {
    start.signal.removeEventListener('abort', onAbort);
    child.stdin?.destroy();
    child.stdout.destroy();
    child.stderr.destroy();
    start.onProcessEnd(pid, tree.left);
  }
  if (!end.overflow) end.stdout = Buffer.concat(chunks);
  return end;
}

/** A large input is there as a whole when the program starts; a small one is written into a pipe in one go. */
function spawn({ execa }: typeof import('execa'), { argv, cwd, env, input }: CommandStart) {
  const file = input.length > ONE_WRITE ? openInputFile(input) : undefined;
  try {
    return execa(argv[0] as string, argv.slice(1), {
      cwd,
      env,
      extendEnv: false,
      // A session of its own: no terminal to ask on, and one group to signal.
      detached: true,
      cleanup: false,
      buffer: false,
      reject: false,
      // Its type knows only the first few of all descriptors.
      stdin: (file as 3 | undefined) ?? 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    });
  } finally {
    // The program has its own by now.
    if (file !== undefined) closeSync(file);
  }
}
