/**
 * One call from dispatch to outcome: attempts, retries by error kind, schema guard, time limits.
 * Never throws: whatever happens is an outcome.
 */
import type { CallUsage, ErrorRecord } from '../shared/outcome.js';
import type { AgentBackend, AgentEvent, AgentRequest } from './backend.js';

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
  onRetry(kind: string, delayMs: number, attempt: number): void;
  onProcess(pid: number): void;
  onProcessEnd(pid: number): void;
  /** Waits without holding a real clock in tests. Rejects when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export type CallOutcome =
  /** `output` is the JSON text of the answer: a JSON string without a schema, any JSON value with one. */
  | { kind: 'ok'; output: string; usage: CallUsage | undefined; model?: string; session?: string; attempts: number }
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
  /** We stopped it: nothing that it printed is an answer. */
  | { kind: 'cancelled'; attempts: number };

export type ExecuteCall = (
  backend: AgentBackend,
  request: Omit<AgentRequest, 'attempt' | 'session'>,
  policy: CallPolicy,
  context: CallContext,
) => Promise<CallOutcome>;
