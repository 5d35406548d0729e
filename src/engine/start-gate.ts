/** What is asked before a call starts, beside its place in the queue: ceilings, free memory, the pipe's backlog. */
import type { CallOutcome } from '../agents/execute-call.js';
import { createBacklog } from './backlog.js';
import { type Ceilings, createCeilings } from './ceilings.js';
import { createConfirmation } from './confirmation.js';
import type { EngineOptions } from './engine-options.js';
import { createMemoryFloor } from './memory-floor.js';

export interface StartGate extends Pick<Ceilings, 'start' | 'report' | 'end'> {
  check(running: number): 'start' | 'wait' | CallOutcome;
  /** The script waits; so many calls are in the queue. */
  onRest(queued: number): void;
  close(): void;
}

export interface StartPorts {
  mayDispatch(): boolean;
  /** Of outcomes that were not even sent to the script yet. */
  pendingBytes(): number;
  /** To be asked again. */
  wake(): void;
  warn(code: string, message: string): void;
  /** A person does not want the run to go on. */
  cancel(): void;
}

type StartOptions = Pick<EngineOptions, 'limits' | 'clock' | 'carried' | 'sandbox' | 'freeBytes' | 'confirm'>;

export function createStartGate(options: StartOptions, ports: StartPorts): StartGate {
  const { limits, clock, carried, sandbox, freeBytes } = options;
  const ceilings = createCeilings(limits, () => carried?.lines.filter((line) => line.type === 'result') ?? []);
  const waitForBacklog = createBacklog({
    bytes: () => ports.pendingBytes() + sandbox.waitingBytes,
    afterDrain: (callback) => sandbox.afterDrain(callback),
  });
  const floor =
    limits.minFreeMemMb && freeBytes !== undefined
      ? createMemoryFloor(limits.minFreeMemMb, {
          clock,
          freeBytes,
          warn: (message) => ports.warn('WF_LOW_MEMORY', message),
        })
      : undefined;
  let toldUncounted = false;
  const confirmation = options.confirm && createConfirmation(options.confirm, ports);
  return {
    check(running) {
      if (!ports.mayDispatch()) return 'wait';
      const verdict = ceilings.check();
      if (verdict !== 'start') return verdict;
      if (confirmation?.isHeld()) return 'wait';
      if (floor !== undefined && running > 0 && floor.isShort()) {
        floor.lookAgain(ports.wake);
        return 'wait';
      }
      return waitForBacklog(ports.wake) ? 'wait' : 'start';
    },
    start(n) {
      ceilings.start(n);
      confirmation?.started();
    },
    onRest: (queued) => confirmation?.onRest(queued),
    report: ceilings.report,
    end(n, usage, free, outputUntold) {
      ceilings.end(n, usage, free, outputUntold);
      const isCounted = (usage !== undefined && !outputUntold) || free;
      if (isCounted || toldUncounted || limits.budgetTokens === null || !ports.mayDispatch()) return;
      toldUncounted = true;
      ports.warn(
        'WF_NOT_ENFORCED',
        `Call #${n} told no ${usage === undefined ? '' : 'output '}tokens, so the budget of ${limits.budgetTokens} output tokens cannot count it.`,
      );
    },
    close() {
      floor?.close();
      confirmation?.close();
    },
  };
}
