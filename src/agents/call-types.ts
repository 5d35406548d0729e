/** What a call is carried out with, and what it can come to. */
import type { CallUsage, ErrorRecord, KeptWorktree } from '../shared/outcome.js';
import type { AgentBackend, AgentEvent, AgentRequest, AgentRunContext } from './backend.js';
import type { Mask } from './mask-secrets.js';
import type { RateGate } from './rate-gate.js';

export interface CallPolicy {
  /** Tries after the first for errors that are worth it (default by kind). */
  retries: number | undefined;
  /** Limit of one call with all its attempts, ms. */
  timeoutMs: number | undefined;
  /** Limit without any event, ms. */
  idleTimeoutMs: number | undefined;
  /** Between SIGTERM and SIGKILL, ms. */
  graceMs: number;
  /** Longest answer, bytes of UTF-8. */
  maxAnswerBytes: number;
}

export interface CallContext {
  signal: AbortSignal;
  onEvent(event: AgentEvent): void;
  onAttempt(attempt: number): void;
  /** `attempt`: number of the attempt that will follow. */
  onRetry(kind: string, delayMs: number, attempt: number): void;
  /** The outcome is decided, and what the backend keeps open for the call is being ended. */
  onEnding?(): void;
  onProcess(pid: number): void;
  onProcessEnd: AgentRunContext['onProcessEnd'];
  /** Waits without holding a real clock in tests. Rejects when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Shared by all calls of the backend: holds them while it asks for fewer requests. */
  gate?: RateGate;
  /** Aborted when no further attempt may start, while those under way may finish. */
  noMoreAttempts?: AbortSignal;
  /** Applied to everything that the backend hands over. */
  mask?: Mask;
}

/** `worktrees`: those that the call left behind, in the order of its attempts; absent when there are none. */
export type CallOutcome = {
  worktrees?: KeptWorktree[];
} /** `output` is the JSON text of the answer: a JSON string without a schema, any JSON value with one. */ & (
  | {
      kind: 'ok';
      output: string;
      usage: CallUsage | undefined;
      /** `usage` says nothing of output tokens. */
      outputUntold?: true;
      model?: string;
      session?: string;
      attempts: number;
      /** It is the first that fitted the schema, and no further one would have been asked for. */
      lastTry?: true;
    }
  | {
      kind: 'failed';
      error: ErrorRecord;
      /** How the script learns of it: `null`, or a thrown error of this name. */
      tell: 'null' | 'throw';
      /** The failure concerns all calls: stop dispatching. */
      shared: boolean;
      usage: CallUsage | undefined;
      attempts: number;
      session?: string;
    }
  /** We stopped it: nothing that it printed is an answer, but what it had spent by then is told. */
  | { kind: 'cancelled'; usage: CallUsage | undefined; attempts: number }
);

/** What a call has behind it when it is started anew at a person's request. */
export type EarlierAttempts = Pick<CallOutcome, 'attempts' | 'usage'>;

export type ExecuteCall = (
  backend: AgentBackend,
  /** As the first attempt is asked. */
  request: AgentRequest,
  policy: CallPolicy,
  context: CallContext,
  earlier?: EarlierAttempts,
) => Promise<CallOutcome>;
