/** What it means when an agent cannot be opened, and how long that may take. */
import { setTimeout as sleep } from 'node:timers/promises';
import { BackendError } from '../backend.js';
import type { AgentProcess } from './agent-process.js';

/**
 * @param ms limit
 * @throws BackendError `protocol` when the limit has passed
 */
export async function limitStart<T>(opening: Promise<T>, name: string, ms: number): Promise<T> {
  const timer = new AbortController();
  opening.catch(() => {});
  const tooLong = sleep(ms, undefined, { signal: timer.signal }).then(() => {
    throw new BackendError('protocol', `${name} did not open a session within ${ms} ms.`);
  });
  tooLong.catch(() => {});
  try {
    return await Promise.race([opening, tooLong]);
  } finally {
    timer.abort();
  }
}

/**
 * An agent that has never opened a session here and ends by itself is not set up: no call will fare better. One that
 * has worked before, or was ended by a signal, may work again.
 *
 * @param everOpened a session was opened in this run
 */
export function judgeStart(error: unknown, process: AgentProcess, everOpened: boolean, command: string): unknown {
  if (everOpened || !(error instanceof BackendError) || error.kind !== 'protocol') return error;
  if (process.exit === undefined || process.exit.signal !== null) return error;
  return new BackendError('config', error.message, {
    remedy: `Try it in a terminal: ${command} – it must wait for messages of the Agent Client Protocol on stdin.`,
    cause: error,
  });
}
