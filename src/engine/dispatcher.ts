/**
 * The one gate where a backend call starts: concurrency, ceilings, memory, the pipe's backlog, and the stop of all
 * dispatch are asked here and nowhere else. First come, first served.
 */
import type { CallOutcome } from '../agents/execute-call.js';
import { createPacer } from './pacer.js';

/**
 * So many of the calls that waited start in one go. Backends that answer at once would otherwise give all their answers
 * before the first of them is written and sent: they would all be held, and the script would wait for the last.
 */
const AT_ONCE = 64;

export interface QueuedCall {
  n: number;
  /** Runs the call; never rejects. */
  execute(): Promise<CallOutcome>;
  settle(outcome: CallOutcome): void;
}

export interface Dispatcher {
  add(call: QueuedCall): void;
  /** Takes a call that has not started out of the queue; its outcome is then the caller's to settle. */
  drop(n: number): QueuedCall | undefined;
  /** Whatever kept calls waiting may be over. */
  wake(): void;
  /** Nothing starts any more. */
  stop(): void;
  readonly running: number;
  readonly queued: number;
  /** Resolves when nothing runs. */
  idle(): Promise<void>;
}

export interface DispatchPorts {
  concurrency: number;
  /**
   * Asked before each start. `wait` holds back this call and all behind it until the next call ends or `wake()`; whoever
   * says it while nothing runs must wake. An outcome refuses the call.
   */
  check(running: number): 'start' | 'wait' | CallOutcome;
  started(n: number): void;
}

export function createDispatcher({ concurrency, check, started }: DispatchPorts): Dispatcher {
  let queue: (QueuedCall | undefined)[] = [];
  let head = 0;
  let running = 0;
  let stopped = false;
  const dropped = new Set<number>();
  const waiting: (() => void)[] = [];

  const takeHead = (): QueuedCall => {
    const call = queue[head] as QueuedCall;
    // Prompt and answer of a call that has ended must not live on here.
    queue[head++] = undefined;
    if (head > 1024 && head * 2 > queue.length) {
      queue = queue.slice(head);
      head = 0;
    }
    return call;
  };

  let paused = false;
  const pause = (): void => {
    paused = true;
    setImmediate(() => {
      paused = false;
      startNext();
    });
  };

  const startNext = (): void => {
    if (paused) return;
    let left = AT_ONCE;
    while (!stopped && running < concurrency && head < queue.length) {
      if (dropped.size > 0 && dropped.delete((queue[head] as QueuedCall).n)) {
        takeHead();
        continue;
      }
      if (left-- === 0) return pause();
      const verdict = check(running);
      // The check may have ended the run.
      if (stopped || verdict === 'wait') return;
      const call = takeHead();
      if (verdict !== 'start') {
        call.settle(verdict);
        continue;
      }
      running++;
      started(call.n);
      void run(call);
    }
  };

  const pace = createPacer();
  const run = async (call: QueuedCall): Promise<void> => {
    const outcome = await call.execute();
    const turn = outcome.kind === 'ok' ? pace(outcome.output.length) : undefined;
    if (turn !== undefined) await turn;
    running--;
    call.settle(outcome);
    startNext();
    if (running === 0) for (const resolve of waiting.splice(0)) resolve();
  };

  return {
    add(call) {
      queue.push(call);
      startNext();
    },
    drop(n) {
      for (let i = head; i < queue.length; i++) {
        const call = queue[i] as QueuedCall;
        if (call.n !== n || dropped.has(n)) continue;
        dropped.add(n);
        return call;
      }
      return undefined;
    },
    wake: startNext,
    stop() {
      stopped = true;
    },
    get running() {
      return running;
    },
    get queued() {
      return queue.length - head - dropped.size;
    },
    idle: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
