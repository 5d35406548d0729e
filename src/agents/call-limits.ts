/** The time limits of one call. Made only for calls that have one, as timers and controllers cost more than a mocked call. */
import type { AgentEvent } from './backend.js';
import { type AwakeTimer, startAwakeTimer, watchStandstill } from './standstill.js';

export interface CallLimits {
  /** Of the current attempt and of the wait after it; aborted by a limit and by the outer signal. */
  readonly signal: AbortSignal;
  /** The limit of the whole call has passed. */
  readonly timedOut: boolean;
  /** The last attempt gave no sign of life for too long. */
  readonly stalled: boolean;
  startAttempt(): void;
  /** Any event is a sign of life, and while a tool runs silence is none. */
  noteEvent(event: AgentEvent): void;
  endAttempt(): void;
  /** Ends all timers; to be called in any case. */
  close(): void;
}

export interface LimitTimes {
  timeoutMs: number | undefined;
  idleTimeoutMs: number | undefined;
}

/** Longer delays are cut to 1 ms by `setTimeout`. */
const LONGEST_MS = 2_147_483_647;

/** @param onGap told when the limits wait longer because this process stood still for so many ms */
export function createCallLimits(
  { timeoutMs, idleTimeoutMs }: LimitTimes,
  outer: AbortSignal,
  onGap: (ms: number) => void,
): CallLimits {
  let controller = new AbortController();
  let timedOut = false;
  let stalled = false;
  let tools = 0;
  let idle: AwakeTimer | undefined;
  const standstill = watchStandstill();
  const startTimer = (ms: number | undefined, act: () => void): AwakeTimer | undefined =>
    ms === undefined || ms <= 0 ? undefined : startAwakeTimer(Math.min(ms, LONGEST_MS), standstill, act, onGap);

  const onOuterAbort = (): void => controller.abort(outer.reason);
  if (outer.aborted) onOuterAbort();
  outer.addEventListener('abort', onOuterAbort, { once: true });
  const total = startTimer(timeoutMs, () => {
    timedOut = true;
    controller.abort();
  });
  const stopIdle = (): void => {
    idle?.stop();
    idle = undefined;
  };
  const startIdle = (): void => {
    idle = startTimer(idleTimeoutMs, () => {
      stalled = true;
      controller.abort();
    });
  };

  return {
    get signal() {
      return controller.signal;
    },
    get timedOut() {
      return timedOut;
    },
    get stalled() {
      return stalled;
    },
    startAttempt() {
      stalled = false;
      tools = 0;
      startIdle();
    },
    noteEvent(event) {
      if (event.type === 'tool') tools = Math.max(0, tools + (event.state === 'start' ? 1 : -1));
      if (tools > 0) stopIdle();
      else if (idle) idle.refresh();
      else if (!stalled) startIdle();
    },
    endAttempt() {
      stopIdle();
      // What ended this attempt alone must not end the wait for the next.
      if (stalled && !timedOut && !outer.aborted) controller = new AbortController();
    },
    close() {
      stopIdle();
      total?.stop();
      standstill.close();
      outer.removeEventListener('abort', onOuterAbort);
    },
  };
}
