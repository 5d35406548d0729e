/** Words for what happens in a run: the engine says what it does here, and listeners hear it with its time. */
import { AGENT_OPTIONS } from '../shared/agent-options.js';
import { nearestOrBegun } from '../shared/nearest-word.js';
import { type Clock, isoTime } from '../shared/clock.js';
import type { CallUsage, ErrorRecord, KeptWorktree } from '../shared/outcome.js';
import type { LiveCall } from './engine-options.js';
import type { EventListener, RunEvent } from './events.js';

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
export type UntimedEvent = DistributiveOmit<RunEvent, 't'>;

export interface RunVoice {
  tell(event: UntimedEvent): void;
  warn(code: string, message: string): void;
  tellQueued(n: number, label: string, phase: string | null, key: string): void;
  tellStarted(n: number, label: string, phase: string | null, attempt: number): void;
  tellFinished(call: LiveCall, end: FinishedCall): void;
  /** A call that was given a recorded answer. */
  tellReused(call: Told, answer: ReusedAnswer): void;
  /** A call that was never started: refused for its own text, or still in the queue when it was no longer wanted. */
  tellUnstarted(call: Told, end: { status: 'failed'; error: ErrorRecord } | { status: 'no-result' }): void;
}

type Told = Pick<LiveCall, 'n' | 'label' | 'phase'>;

/** `from`: the run that made the answer. */
export interface ReusedAnswer {
  from: string;
  worktrees?: KeptWorktree[] | undefined;
  lastTry?: true | undefined;
}

export interface FinishedCall {
  status: 'ok' | 'failed' | 'skipped' | 'no-result';
  error?: ErrorRecord | undefined;
  usage?: CallUsage | undefined;
  worktrees?: KeptWorktree[] | undefined;
  lastTry?: true | undefined;
  attempts: number;
}

export function createRunVoice(clock: Clock, listener: EventListener): RunVoice {
  const time = (): string => isoTime(clock.now());
  const tell = (event: UntimedEvent): void => listener({ t: time(), ...event } as RunEvent);
  return {
    tell,
    warn: (code, message) => tell({ type: 'warning', code, message }),
    // What is told of every call is put together in one piece: a copy of an object costs as much as all of its members.
    tellQueued: (n, label, phase, key) => listener({ t: time(), type: 'call.queued', n, label, phase, key }),
    tellStarted: (n, label, phase, attempt) => listener({ t: time(), type: 'call.started', n, label, phase, attempt }),
    tellUnstarted: ({ n, label, phase }, end) =>
      tell({
        ...{ type: 'call.finished', n, label, phase, ...end },
        ...{ reused: false, from: null, attempts: 0, durationMs: 0 },
      }),
    tellReused: ({ n, label, phase }, { from, worktrees, lastTry }) =>
      tell({
        ...{ type: 'call.finished', n, label, phase, status: 'ok', reused: true, from },
        ...(worktrees === undefined ? {} : { worktrees }),
        ...(lastTry === undefined ? {} : { lastTry }),
        ...{ attempts: 0, durationMs: 0 },
      }),
    tellFinished(call, end) {
      const { n, label, phase, startedAt } = call;
      const now = clock.now();
      const durationMs = startedAt === 0 ? 0 : now - startedAt;
      const { status, error, usage, worktrees, lastTry, attempts } = end;
      const t = isoTime(now);
      const type = 'call.finished';
      // Most calls have an answer, its cost, and nothing else to tell.
      if (error === undefined && usage !== undefined && worktrees === undefined && lastTry === undefined)
        return listener({ t, type, n, label, phase, status, reused: false, from: null, usage, attempts, durationMs });
      return listener({
        ...{ t, type, n, label, phase, status, reused: false, from: null },
        ...(error === undefined ? {} : { error }),
        ...(usage === undefined ? {} : { usage }),
        ...(worktrees === undefined ? {} : { worktrees }),
        ...(lastTry === undefined ? {} : { lastTry }),
        attempts,
        durationMs,
      });
    },
  };
}

/** What a warning of the sandbox means in words. */
export function wordScriptWarning(code: string, text: string): string {
  if (code !== 'WF_UNKNOWN_OPTION') return text;
  const meant = nearestOrBegun(text, AGENT_OPTIONS);
  const hint = meant === undefined ? '' : ` Did you mean ${JSON.stringify(meant)}?`;
  return `agent(): unknown option ${JSON.stringify(text)} is ignored.${hint}`;
}

export const wordJournalFailure = (reason: string): string =>
  `The journal cannot be written (${reason}); the run goes on, lines are kept in memory and tried again. ` +
  'Until that works, a resume would run these calls again.';
