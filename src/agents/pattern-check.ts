/** Checks answers in a thread with a time limit, one after the other. The thread starts with the first check. */
import { Worker } from 'node:worker_threads';
import { siblingModule } from '../shared/sibling-module.js';

export interface PatternCheckOptions {
  /** Of one check, ms. */
  limitMs?: number;
  /** For loading the thread and compiling the schema, ms. */
  startLimitMs?: number;
}

export interface PatternCheck {
  /**
   * What does not fit, as `SchemaCheck` gives it; a check that takes too long is such a line.
   *
   * @throws Error when the thread fails
   */
  check(schema: string, value: string): Promise<string[]>;
  close(): Promise<void>;
}

const MEMORY_MB = 256;

export function createPatternCheck(options: PatternCheckOptions = {}): PatternCheck {
  const limitMs = options.limitMs ?? 1_000;
  const startLimitMs = options.startLimitMs ?? 20_000;
  let worker: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();

  function start(): Worker {
    return new Worker(siblingModule(import.meta.url, 'agents/pattern-worker'), {
      workerData: { compiler: siblingModule(import.meta.url, 'agents/compile-check').href },
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
      env: {},
      execArgv: [],
    });
  }

  async function checkNow(schema: string, value: string): Promise<string[]> {
    worker ??= start();
    const current = worker;
    // Only a check that somebody waits for keeps the process alive.
    current.ref();
    const drop = (): void => {
      if (worker === current) worker = undefined;
      void current.terminate();
    };
    return await new Promise<string[]>((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        current.off('message', onMessage).off('error', onError).off('exit', onExit);
        current.unref();
      };
      const fail = (reason: string, cause?: unknown): void => {
        settle();
        drop();
        reject(new Error(`The thread that checks answers ${reason}`, { cause }));
      };
      const onError = (error: Error): void => fail(`failed: ${error.message}`, error);
      const onExit = (): void => fail('has ended.');
      const tooLong = (): void => {
        settle();
        drop();
        resolve([`/ could not be checked: a pattern of the schema took longer than ${limitMs} ms`]);
      };
      const onMessage = (message: 'started' | string[]): void => {
        clearTimeout(timer);
        if (message === 'started') {
          timer = setTimeout(tooLong, limitMs);
          return;
        }
        settle();
        resolve(message);
      };
      let timer = setTimeout(fail, startLimitMs, 'does not start.');
      current.on('message', onMessage).on('error', onError).on('exit', onExit);
      current.postMessage({ schema, value });
    });
  }

  return {
    check(schema, value) {
      const result = last.then(() => checkNow(schema, value));
      last = result.catch(() => {});
      return result;
    },
    async close() {
      await last;
      await worker?.terminate();
      worker = undefined;
    },
  };
}
