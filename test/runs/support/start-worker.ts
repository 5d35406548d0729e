import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { Answer, Job } from './worker.js';

export interface Worker {
  process: ChildProcess;
  /** What it has said on stdout so far. */
  output(): string;
  /** Gives it a job and waits for its answer. */
  ask(job: Job): Promise<Answer>;
  /** Gives it a job and does not wait. */
  tell(job: Job): void;
  /** Ends it at once and waits until it is gone. */
  kill(): Promise<void>;
}

/** Starts a worker process and waits until it is ready; it is ended with the test. */
export async function startWorker(path: string): Promise<Worker> {
  const child = fork(path, {
    execArgv: [],
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = once(child, 'close');
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  await once(child, 'message');
  const tell = (job: Job): void => void child.send(job);
  return {
    process: child,
    output: () => output,
    tell,
    ask: async (job) => {
      const answer = once(child, 'message');
      tell(job);
      return (await answer)[0] as Answer;
    },
    kill,
  };
}

export const startWorkers = (path: string, count: number): Promise<Worker[]> =>
  Promise.all(Array.from({ length: count }, () => startWorker(path)));
