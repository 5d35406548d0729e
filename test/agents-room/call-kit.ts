/** What a test needs to execute a call: a request, a policy, and a context that notes everything and waits for nothing. */
import { randomUUID } from 'node:crypto';
import {
  type AgentAnswer,
  type AgentBackend,
  type AgentEvent,
  type AgentRequest,
  BackendError,
  type BackendErrorKind,
  defineBackend,
} from '../../src/agents/backend.js';
import type { CallContext, CallPolicy, ExecuteCall } from '../../src/agents/execute-call.js';

export const KEY = '3f'.repeat(32);

/** Of this test file alone: what is left of a call is known by it, and must not be what another has started. */
const RUN_ID = randomUUID();

export function makeRequest(changes: Partial<AgentRequest> = {}): Parameters<ExecuteCall>[1] {
  return {
    runId: RUN_ID,
    callKey: 'c0'.repeat(32),
    key: KEY,
    n: 1,
    nth: 0,
    label: 'review',
    phase: undefined,
    prompt: 'Say hello.',
    schema: undefined,
    model: undefined,
    effort: undefined,
    agent: undefined,
    agentType: undefined,
    cwd: process.cwd(),
    permission: 'edit',
    tools: undefined,
    disallowedTools: undefined,
    attempt: 1,
    session: undefined,
    ...changes,
  };
}

export function makePolicy(changes: Partial<CallPolicy> = {}): CallPolicy {
  return {
    retries: undefined,
    timeoutMs: undefined,
    idleTimeoutMs: undefined,
    graceMs: 2_000,
    maxAnswerBytes: 16 * 1024 * 1024,
    ...changes,
  };
}

export interface NotedContext extends CallContext {
  controller: AbortController;
  events: AgentEvent[];
  attempts: number[];
  retries: { kind: string; delayMs: number; attempt: number }[];
  sleeps: number[];
  started: number[];
  ended: number[];
}

export function makeContext(changes: Partial<CallContext> = {}): NotedContext {
  const controller = new AbortController();
  const noted: NotedContext = {
    controller,
    events: [],
    attempts: [],
    retries: [],
    sleeps: [],
    started: [],
    ended: [],
    signal: controller.signal,
    onEvent: (event) => void noted.events.push(event),
    onAttempt: (attempt) => void noted.attempts.push(attempt),
    onRetry: (kind, delayMs, attempt) => void noted.retries.push({ kind, delayMs, attempt }),
    onProcess: (pid) => void noted.started.push(pid),
    onProcessEnd: (pid) => void noted.ended.push(pid),
    sleep: async (ms, signal) => {
      signal.throwIfAborted();
      noted.sleeps.push(ms);
    },
    ...changes,
  };
  return noted;
}

/** A backend that does this with each attempt. */
export const backendOf = (run: AgentBackend['run'], parts: Partial<AgentBackend> = {}): AgentBackend =>
  defineBackend({ name: 'test', run, ...parts });

export const failing = (kind: BackendErrorKind): AgentBackend =>
  backendOf(async () => {
    throw new BackendError(kind, 'because', { usage: { inputTokens: 1, outputTokens: 2 } });
  });

export const never = (): Promise<AgentAnswer> => new Promise(() => {});
