/** What is asked before a call starts, beside its place in the queue: ceilings, free memory, the pipe's backlog. */
import type { CallOutcome } from '../agents/execute-call.js';
import type { Clock } from '../shared/clock.js';
import { type Ceilings, createCeilings, type RecordedCosts, type SpendingLimits } from './ceilings.js';
import { createMemoryFloor } from './memory-floor.js';

export interface StartLimits extends SpendingLimits {
  concurrency: number;
  /** MB that must be free for a further call to start while others run. */
  minFreeMemMb?: number | null | undefined;
}

export interface StartGate extends Pick<Ceilings, 'start' | 'report' | 'end'> {
  check(running: number): 'start' | 'wait' | CallOutcome;
  close(): void;
}

export interface StartPorts {
  clock: Clock;
  recorded: RecordedCosts;
  mayDispatch(): boolean;
  /** Free memory of the machine or container. */
  freeBytes(): number;
  /** Answers on their way to the script are more than the memory should hold; calls back once that is over. */
  waitForBacklog(callback: () => void): boolean;
  /** To be asked again. */
  wake(): void;
  warn(code: string, message: string): void;
}

export function createStartGate(limits: StartLimits, ports: StartPorts): StartGate {
  const ceilings = createCeilings(limits, ports.recorded);
  const floor = limits.minFreeMemMb
    ? createMemoryFloor(limits.minFreeMemMb, { ...ports, warn: (message) => ports.warn('WF_LOW_MEMORY', message) })
    : undefined;
  return {
    check(running) {
      if (!ports.mayDispatch()) return 'wait';
      const verdict = ceilings.check();
      if (verdict !== 'start') return verdict;
      if (floor !== undefined && running > 0 && floor.isShort()) {
        floor.lookAgain(ports.wake);
        return 'wait';
      }
      return ports.waitForBacklog(ports.wake) ? 'wait' : 'start';
    },
    start: ceilings.start,
    report: ceilings.report,
    end: ceilings.end,
    close: () => floor?.close(),
  };
}
