/** `wf` in a terminal of its own, as a person has it: a pty made by `script` of bsdutils. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { killTree, sendSignal } from './processes.js';
import { requireBuild } from './run-wf.js';
import type { TestProject } from './temp-project.js';
import { waitFor } from './wait.js';

const WF_ENTRY = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');

export interface Terminal {
  /** Everything that was printed so far; stdout and stderr are one in a terminal. */
  readonly output: string;
  /** Exit code of the program. */
  readonly done: Promise<number | null>;
  /** Types keys; `\x03` is Ctrl-C. */
  type(keys: string): void;
  /** Closes the window. */
  hangUp(): void;
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
}

/** The command line of `wf` for a shell. */
export const wfCommand = (args: readonly string[]): string =>
  [process.execPath, WF_ENTRY, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');

/** Runs a shell command in a new terminal. */
export function openTerminal(project: TestProject, command: string, env: Record<string, string> = {}): Terminal {
  requireBuild();
  const child = spawn('script', ['--quiet', '--return', '--command', command, join(project.control, 'typescript')], {
    cwd: project.dir,
    env: { ...project.env, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const pid = child.pid ?? Number.NaN;
  let output = '';
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    tell();
  });
  child.stdin.on('error', () => {});
  let ended = false;
  const done = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      ended = true;
      tell();
      resolve(code);
    });
  });
  done.catch(() => {});
  project.onDispose(async () => {
    if (ended) return;
    killTree(pid);
    await done.catch(() => {});
  });
  return {
    get output() {
      return output;
    },
    done,
    type: (keys) => void child.stdin.write(keys),
    hangUp: () => void sendSignal(pid, 'SIGKILL'),
    waitForOutput: (pattern) =>
      waitFor(
        () => `${pattern} in the terminal, which shows:\n${output}`,
        () => pattern.exec(output) ?? undefined,
        {
          gaveUp: () => (ended ? 'the program has ended' : undefined),
          onChange(listener) {
            listeners.add(listener);
            return () => void listeners.delete(listener);
          },
        },
      ),
  };
}
