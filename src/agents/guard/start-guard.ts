/** The engine's side of the guard: starts it with the first process to watch and tells it which processes to end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { processStartTime } from '../../shared/process-info.js';
import { siblingModule } from '../../shared/sibling-module.js';
import { findScarcity } from '../spare-descriptors.js';

export interface Guard {
  /** Of the guard process, once it was started. */
  readonly pid: number | undefined;
  /** From now on the tree of this process ends with the engine. */
  watch(pid: number, startTime?: string | null): void;
  forget(pid: number): void;
  /** Ends the guard and leaves the watched processes alone. Resolves when it is gone. */
  close(): Promise<void>;
}

export interface GuardOptions {
  /** The Node that runs it (`process.execPath`). */
  nodePath: string;
}

const CLOSE_MS = 2_000;

/**
 * Makes the guard of a run. Nothing is started before the first `watch`.
 *
 * @example
 * const guard = startGuard({ nodePath: process.execPath })
 * guard.watch(agent.pid)
 */
export function startGuard({ nodePath }: GuardOptions): Guard {
  const watched = new Map<number, string>();
  let child: ChildProcess | undefined;
  let closed = false;

  const tell = (line: string): void => {
    // A guard that has just died is started anew by the next watch.
    child?.stdin?.write(`${line}\n`);
  };
  /** Undefined where it cannot be started now: the next watch tries again. */
  const start = (): ChildProcess | undefined => {
    if (findScarcity() !== undefined) return undefined;
    const main = fileURLToPath(siblingModule(import.meta.url, 'agents/guard/guard-main'));
    const trees = siblingModule(import.meta.url, 'shared/process-tree').href;
    const started = spawn(nodePath, [main, trees], {
      detached: true,
      cwd: '/',
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const drop = (): void => {
      if (child === started) child = undefined;
    };
    started.on('error', drop).on('exit', drop);
    started.stdin?.on('error', () => {});
    // It must not keep the engine's process alive.
    started.unref();
    (started.stdin as { unref?(): void } | null)?.unref?.();
    return started.pid === undefined ? undefined : started;
  };

  return {
    get pid() {
      return child?.pid;
    },
    watch(pid, startTime = processStartTime(pid)) {
      if (closed || startTime === null) return;
      watched.set(pid, startTime);
      if (child) return tell(`+${pid} ${startTime}`);
      child = start();
      for (const [each, time] of watched) tell(`+${each} ${time}`);
    },
    forget(pid) {
      if (watched.delete(pid)) tell(`-${pid}`);
    },
    async close() {
      closed = true;
      const leaving = child;
      if (!leaving || leaving.exitCode !== null) return;
      leaving.ref();
      const gone = once(leaving, 'exit', { signal: AbortSignal.timeout(CLOSE_MS) }).catch(() =>
        leaving.kill('SIGKILL'),
      );
      leaving.stdin?.end('bye\n');
      await gone;
    },
  };
}
