/** Words for what happens in a run: the engine says what it does here, and listeners hear it with its time. */
import { AGENT_OPTIONS } from '../shared/agent-options.js';
import { nearestWord } from '../shared/nearest-word.js';
import { type Clock, isoTime } from '../shared/clock.js';
import type { CallUsage, ErrorRecord, KeptWorktree } from '../shared/outcome.js';
import type { LiveCall } from './engine-options.js';
import type { EventListener, RunEvent } from './events.js';

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
export type UntimedEvent = DistributiveOmit<RunEvent, 't'>;

export interface RunVoice {
  tell(event: UntimedEvent): void;
  warn(code: string, message: string): void;
  tellFinished(call: LiveCall, end: FinishedCall): void;
  /** A call that was never started: refused for its own text, or still in the queue when it was no longer wanted. */
  tellUnstarted(
    call: { n: number; label: string; phase: string | null },
    end: { status: 'failed'; error: ErrorRecord } | { status: 'no-result' },
  ): void;
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
  const tell = (event: UntimedEvent): void => listener({ t: isoTime(clock.now()), ...event } as RunEvent);
  return {
    tell,
    warn: (code, message) => tell({ type: 'warning', code, message }),
    tellUnstarted: ({ n, label, phase }, end) =>
      tell({
        ...{ type: 'call.finished', n, label, phase, ...end },
        ...{ reused: false, from: null, attempts: 0, durationMs: 0 },
      }),
    tellFinished: (call, { status, error, usage, worktrees, lastTry, attempts }) =>
      tell({
        type: 'call.finished',
        n: call.n,
        label: call.label,
        phase: call.phase,
        status,
        reused: false,
        from: null,
        ...(error === undefined ? {} : { error }),
        ...(usage === undefined ? {} : { usage }),
        ...(worktrees === undefined ? {} : { worktrees }),
        ...(lastTry === undefined ? {} : { lastTry }),
        attempts,
        durationMs: call.startedAt === 0 ? 0 : clock.now() - call.startedAt,
      }),
  };
}

/** What a warning of the sandbox means in words. */
export function wordScriptWarning(code: string, text: string): string {
  if (code !== 'WF_UNKNOWN_OPTION') return text;
  const meant = nearestWord(text, AGENT_OPTIONS);
  const hint = meant === undefined ? '' : ` Did you mean ${JSON.stringify(meant)}?`;
  return `agent(): unknown option ${JSON.stringify(text)} is ignored.${hint}`;
}

export const wordJournalFailure = (reason: string): string =>
  `The journal cannot be written (${reason}); the run goes on, lines are kept in memory and tried again. ` +
  'Until that works, a resume would run these calls again.';
