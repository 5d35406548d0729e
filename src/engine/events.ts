/**
 * What happens in a run, for people and reporters. Events are never needed to resume:
 * the journal is the truth, and an event is told only after the journal line that it speaks of.
 */
import type {
  CallStatus,
  CallUsage,
  Counts,
  ErrorRecord,
  KeptWorktree,
  RunStatus,
  ScriptErrors,
  Usage,
} from '../shared/outcome.js';

/** `t` is ISO 8601 UTC. `n` numbers the calls of a run in call order, from 1. */
export type RunEvent = { t: string } & (
  | {
      type: 'run.started';
      runId: string;
      /** The run folder, absolute. */
      folder: string;
      workflow: string;
      description: string;
      backend: string;
      /** How it was found, where nobody had chosen one. */
      backendWhy?: string;
      madeUp: boolean;
      concurrency: number;
      resumedFrom: string | null;
      /** Results that this run starts with. */
      kept: number;
      phases: string[];
    }
  | { type: 'call.queued'; n: number; label: string; phase: string | null; key?: string }
  | { type: 'call.started'; n: number; label: string; phase: string | null; attempt: number }
  | { type: 'call.progress'; n: number; label: string; text: string }
  | { type: 'call.retry'; n: number; label: string; kind: string; delayMs: number; attempt: number }
  /** Of a call with isolation `worktree`; `kept` where it stays, with what is in it. */
  | {
      type: 'call.worktree';
      n: number;
      label: string;
      state: 'made' | 'kept' | 'removed';
      path: string;
      branch: string;
      /** Commit at which it began. */
      base: string;
      kept?: KeptWorktree;
    }
  | {
      type: 'call.finished';
      n: number;
      label: string;
      phase: string | null;
      status: CallStatus;
      reused: boolean;
      /** Run that made a reused answer. */
      from: string | null;
      error?: ErrorRecord;
      usage?: CallUsage;
      /** Worktrees that it left behind, a reused one when its answer was made; absent when there are none. */
      worktrees?: KeptWorktree[];
      /** Its answer fitted the schema only at the last try. */
      lastTry?: true;
      attempts: number;
      /** ms from dispatch to outcome; 0 for a reused one. */
      durationMs: number;
    }
  | { type: 'phase'; title: string }
  /** `error` where the line tells of an error of the script that became null in its slot. */
  | { type: 'log'; level: 'log' | 'info' | 'debug' | 'warn' | 'error'; message: string; error?: ErrorRecord }
  | { type: 'warning'; code: string; message: string; error?: ErrorRecord }
  | {
      type: 'run.finished';
      runId: string;
      folder: string;
      status: RunStatus;
      exitCode: number;
      counts: Counts;
      usage: Usage;
      phases: PhaseCounts[];
      failures: Failure[];
      /** Calls, reused ones too, whose answer fitted the schema only at the last try; absent when there are none. */
      lastTries?: { n: number; label: string }[];
      /** Those that calls of this run left behind, and those that reused answers name; absent when there are none. */
      worktrees?: CallWorktree[];
      /** Absent when there were none. */
      scriptErrors?: ScriptErrors;
      error?: ErrorRecord;
      /** Of the calls without a result, those that were never started. */
      notStarted?: number;
      journalComplete: boolean;
      /** False where the outcome could not be written into the run folder; absent otherwise. */
      stateWritten?: false;
      /** False when a completed script returned nothing; absent when it is not known. */
      hasResult?: boolean;
      durationMs: number;
      /** The exact command that goes on, when the run is not complete. */
      resumeCommand?: string;
    }
);

export interface PhaseCounts {
  title: string | null;
  counts: Counts;
}

export interface Failure {
  n: number;
  label: string;
  phase: string | null;
  status: CallStatus;
  code: string;
  message: string;
  recovered: boolean;
}

export type CallWorktree = KeptWorktree & {
  n: number;
  label: string;
  /** The run whose call left it, where that is not this one. */
  from?: string;
};

export type EventListener = (event: RunEvent) => void;

/** Listens to a run; never decides anything. Both hooks may be slow only in `close`. */
export interface Reporter {
  event(event: RunEvent): void;
  close?(): Promise<void> | void;
}
