/** Starts the command `wf` as a person would: the built one, in a process of its own, with nothing but the project's environment. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { inject } from 'vitest';
import { killTree, readProcess, sendSignal } from './processes.js';
import type { TestProject } from './temp-project.js';
import { waitFor } from './wait.js';

const WF_ENTRY = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');

export interface WfOptions {
  project: TestProject;
  /** Added to the project's environment; `undefined` takes a variable away. */
  env?: Record<string, string | undefined>;
  /** Default: the project's folder. */
  cwd?: string;
  /** Text for stdin; without it stdin is empty. */
  input?: string;
  /** After that the process and all below it are killed and `done` rejects. Default 30 s. */
  timeoutMs?: number;
  /** Arguments for Node itself. */
  nodeArgs?: readonly string[];
  /** A program that starts it: `['strace', '-f', …]`, `['prlimit', '--fsize=4096', …]`. Its last word is followed by node and its arguments. */
  under?: readonly string[];
  /** Another script than the built command; for tests of this file. */
  entry?: string;
}

export interface WfResult {
  /** `null` when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface WfHandle {
  readonly pid: number;
  /** Kernel's mark of the process, to tell it from a later one of the same pid. */
  readonly startTime: string;
  /** What it has printed so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Settles when the process has ended and its output is read; rejects on the time limit. */
  readonly done: Promise<WfResult>;
  /** Settles when the process itself is gone, even if something still holds its output open. */
  readonly exited: Promise<Pick<WfResult, 'code' | 'signal'>>;
  readonly ended: boolean;
  /** Resolves with the first match in all that was printed so far or will be; rejects when the process ends without one. */
  waitForStderr(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray>;
  waitForStdout(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray>;
  /** Sends a signal to the process alone; false when it has ended. */
  kill(signal?: NodeJS.Signals): boolean;
  /** SIGKILL for the process and everything below it. */
  killTree(): void;
}

/** Runs `wf` to its end. Any exit code is a result; only the time limit rejects. */
export function runWf(args: readonly string[], options: WfOptions): Promise<WfResult> {
  return startWf(args, options).done;
}

/** Starts `wf` and gives a handle to follow and to end it; at the end of the project whatever is left of it is killed. */
export function startWf(args: readonly string[], options: WfOptions): WfHandle {
  if (!options.entry) requireBuild();
  const node = [...(options.nodeArgs ?? []), options.entry ?? WF_ENTRY, ...args];
  const [file, ...argv] = [...(options.under ?? []), process.execPath, ...node] as [string, ...string[]];
  const child = spawn(file, argv, {
    cwd: options.cwd ?? options.project.dir,
    env: { ...options.project.env, ...options.env } as NodeJS.ProcessEnv,
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    // A session of its own: no terminal, and a signal to the tests' group does not reach it.
    detached: true,
  });
  const output = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      for (const listener of listeners) listener();
    });
  }
  // The process may end without reading its input.
  child.stdin?.on('error', () => {}).end(options.input);

  // Absent when the program could not be started; `done` rejects then.
  const pid = child.pid ?? Number.NaN;
  const startTime = process.platform === 'linux' ? (readProcess(pid)?.startTime ?? '') : '';
  let ended = false;
  const exited = new Promise<Pick<WfResult, 'code' | 'signal'>>((resolve) => {
    child.on('exit', (code, signal) => resolve({ code, signal }));
  });
  const done = new Promise<WfResult>((resolve, reject) => {
    const limit = options.timeoutMs ?? 30_000;
    const timer = setTimeout(() => {
      killTree(pid);
      reject(new Error(`wf ${args.join(' ')}: not done after ${limit} ms.\n${describeOutput(output)}`));
    }, limit);
    child.on('error', (error) => {
      clearTimeout(timer);
      ended = true;
      reject(error);
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      ended = true;
      for (const listener of listeners) listener();
      resolve({ code, signal, ...output });
    });
  });
  // A test that only waits for output must not fail by an unobserved time limit.
  done.catch(() => {});
  options.project.onDispose(async () => {
    if (ended) return;
    killTree(pid);
    await done.catch(() => {});
  });

  const waitForOutput = (name: 'stdout' | 'stderr', pattern: RegExp, timeoutMs?: number) =>
    waitFor(
      () => `${pattern} on ${name} of wf ${args.join(' ')}\n${describeOutput(output)}`,
      () => new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).exec(output[name]) ?? undefined,
      {
        timeoutMs: timeoutMs ?? 20_000,
        gaveUp: () => (ended ? 'it has ended' : undefined),
        onChange: subscribe(listeners),
      },
    );
  return {
    pid,
    startTime,
    done,
    exited,
    get stdout() {
      return output.stdout;
    },
    get stderr() {
      return output.stderr;
    },
    get ended() {
      return ended;
    },
    waitForStderr: (pattern, timeoutMs) => waitForOutput('stderr', pattern, timeoutMs),
    waitForStdout: (pattern, timeoutMs) => waitForOutput('stdout', pattern, timeoutMs),
    kill: (signal = 'SIGTERM') => !ended && sendSignal(pid, signal),
    killTree: () => {
      if (!ended) killTree(pid);
    },
  };
}

/** Fails with the compiler's words when dist/ is not what the sources say. */
export function requireBuild(): void {
  const failure = inject('buildFailure');
  if (failure) throw new Error(failure);
}

const subscribe = (listeners: Set<() => void>) => (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

const describeOutput = ({ stdout, stderr }: { stdout: string; stderr: string }): string =>
  `stdout: ${stdout.slice(-2000) || '(empty)'}\nstderr: ${stderr.slice(-4000) || '(empty)'}`;
