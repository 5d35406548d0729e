/**
 * The one gate where a backend call starts: concurrency, the agent cap, the budget, and the stop of all dispatch are
 * checked here and nowhere else. First come, first served.
 */
import type { CallOutcome } from '../agents/execute-call.js';

export interface DispatchLimits {
  concurrency: number;
  maxAgents: number;
  /** Output tokens that this run itself may spend; null: no ceiling. */
  budgetTokens: number | null;
}

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
  /** Nothing starts any more. */
  stop(): void;
  readonly running: number;
  readonly queued: number;
  /** Resolves when nothing runs. */
  idle(): Promise<void>;
}

export function createDispatcher(
  limits: DispatchLimits,
  ports: { spentTokens(): number; mayDispatch(): boolean },
): Dispatcher {
  let queue: QueuedCall[] = [];
  let head = 0;
  let running = 0;
  let started = 0;
  let stopped = false;
  const dropped = new Set<number>();
  const waiting: (() => void)[] = [];

  /** A ceiling that this call would pass. */
  const refusal = (): CallOutcome | undefined => {
    if (started >= limits.maxAgents) {
      return refuse(
        'WorkflowAgentCapError',
        'WF_AGENT_CAP',
        `The run has started ${limits.maxAgents} agents, its limit. Raise it with --max-agents, also on a resume; check loops that never end.`,
      );
    }
    if (limits.budgetTokens !== null && ports.spentTokens() >= limits.budgetTokens) {
      return refuse(
        'WorkflowBudgetExceededError',
        'WF_BUDGET',
        `The run has spent its budget of ${limits.budgetTokens} output tokens. Raise it with --budget, also on a resume.`,
      );
    }
    return undefined;
  };

  const startNext = (): void => {
    while (!stopped && running < limits.concurrency && head < queue.length) {
      const call = queue[head++] as QueuedCall;
      if (head > 1024 && head * 2 > queue.length) {
        queue = queue.slice(head);
        head = 0;
      }
      if (dropped.delete(call.n)) continue;
      if (!ports.mayDispatch()) return;
      const refused = refusal();
      if (refused !== undefined) {
        call.settle(refused);
        continue;
      }
      started++;
      running++;
      void run(call);
    }
  };

  const run = async (call: QueuedCall): Promise<void> => {
    const outcome = await call.execute();
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

function refuse(name: string, code: string, message: string): CallOutcome {
  return {
    kind: 'failed',
    error: { name, code, message },
    tell: 'throw',
    shared: false,
    usage: undefined,
    attempts: 0,
  };
}
