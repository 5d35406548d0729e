/**
 * The seam between the engine and whatever executes a call. A backend only maps a request, maps events and
 * classifies errors; retries, limits, schema checks and masking are done around it, once for all (`execute-call.ts`).
 */
import type { CallUsage } from '../shared/outcome.js';
import type { AgentDefinition } from './agent-definitions.js';

export type Permission = 'read' | 'edit' | 'full';

/** What went wrong, by what has to happen next. */
export type BackendErrorKind =
  // Concern all calls: the run stops.
  | 'auth'
  | 'billing'
  | 'usage_limit'
  | 'config'
  | 'backend_missing'
  // Worth another try.
  | 'rate_limit'
  | 'overloaded'
  | 'server'
  | 'network'
  | 'protocol'
  | 'empty'
  // Concern this call alone.
  | 'isolation'
  | 'timeout'
  | 'stalled'
  | 'refused'
  | 'schema'
  | 'invalid_request'
  | 'failed'
  | 'too_large'
  // Ours.
  | 'cancelled';

/** The only error that a backend throws. */
export class BackendError extends Error {
  readonly kind: BackendErrorKind;
  readonly retryAfterMs: number | undefined;
  /** When a shared limit is lifted, ISO 8601 UTC. */
  readonly resetsAt: string | undefined;
  readonly usage: CallUsage | undefined;
  readonly remedy: string | undefined;
  /** This machine had no room for the agent: the calls of this backend wait until some of those under way have ended. */
  readonly noRoom: boolean;

  constructor(
    kind: BackendErrorKind,
    message: string,
    details: {
      retryAfterMs?: number;
      resetsAt?: string;
      usage?: CallUsage;
      remedy?: string;
      noRoom?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'BackendError';
    this.kind = kind;
    this.retryAfterMs = details.retryAfterMs;
    this.resetsAt = details.resetsAt;
    this.usage = details.usage;
    this.remedy = details.remedy;
    this.noRoom = details.noRoom === true;
  }
}

export interface BackendCapabilities {
  /** `enforced`: the backend itself makes the answer fit; `requested`: it is told the schema; the answer is checked here in every case. */
  schema: 'enforced' | 'requested' | 'none';
  /** Can allow or deny single tools. */
  tools: boolean;
  /** Can go on in the same session (re-asks after an answer that does not fit). */
  sessions: boolean;
  /** Reports money. */
  usd: boolean;
  permissions: readonly Permission[];
  /** Milliseconds without a sign of life after which a call has stalled, where no other limit is set: for agents that may wait for ever. */
  idleTimeoutMs?: number;
  /** Agent types that the backend itself knows, without a definition. */
  agentTypes?: ReadonlySet<string>;
  /** Answers are made up: they are marked everywhere and fit only a run on the same backend. */
  madeUp?: boolean;
}

export type ProbeResult = { ok: true; version: string } | { ok: false; reason: string; fix: string };

/** One attempt of one call. All strings are UTF-8 text of any length; times are milliseconds. */
export interface AgentRequest {
  runId: string;
  /** Stable over resumes and retries of a call without a result (`WF_CALL_KEY`). */
  callKey: string;
  /** The call's content key. */
  key: string;
  /** Number of the call in this run, from 1. */
  n: number;
  /** Counts equal calls, from 0. */
  nth: number;
  label: string;
  phase: string | undefined;
  prompt: string;
  /** JSON Schema that the answer must fit. */
  schema: object | undefined;
  model: string | undefined;
  effort: string | undefined;
  agent: AgentDefinition | undefined;
  agentType: string | undefined;
  /** Absolute folder in which the agent works. */
  cwd: string;
  permission: Permission;
  tools: readonly string[] | undefined;
  disallowedTools: readonly string[] | undefined;
  /** From 1. */
  attempt: number;
  /** Session of the attempt before, for a re-ask. */
  session: string | undefined;
  /** For a re-ask: the whole question with the answer that did not fit, for where that session is gone. */
  anew?: string | undefined;
}

export type AgentEvent =
  | { type: 'progress'; text: string }
  | { type: 'tool'; name: string; state: 'start' | 'end' }
  /** What the attempt has cost so far; the last one counts when the attempt ends without a usage of its own. */
  | { type: 'usage'; usage: CallUsage }
  | { type: 'model'; model: string }
  /** What the agent could not be held to, or did not do as asked; each text is told once a run. */
  | { type: 'warning'; text: string };

/** A process that could not be ended. `startTime`: the kernel's own mark, which tells it from a later one of the same pid. */
export interface LeftProcess {
  pid: number;
  startTime: string;
}

export interface AgentRunContext {
  /** Aborted when the call must stop; the backend ends everything that it started and rejects with kind `cancelled`. */
  readonly signal: AbortSignal;
  /** Milliseconds between the polite and the hard end; read it when the signal aborts, as a cancel shortens it. */
  readonly graceMs: number;
  /** Longest answer, bytes of UTF-8: what goes beyond it need not be kept, the call fails with kind `too_large`. */
  readonly maxAnswerBytes: number;
  onEvent(event: AgentEvent): void;
  /** Names each process that the backend starts, so that the guard can end it when the engine is gone. */
  onProcess(pid: number): void;
  /** @param left what of its tree is still there although all was done to end it */
  onProcessEnd(pid: number, left?: readonly LeftProcess[]): void;
  /**
   * Ends what the backend keeps open between the attempts of this call: called once when the call is over, whatever its
   * outcome, and awaited before the outcome is told.
   */
  onCallEnd(end: () => Promise<void>): void;
}

/** What an attempt gave. */
export interface AgentAnswer {
  /** The answer as text; for a schema call the text that holds the JSON. */
  text: string;
  /** The parsed answer where the backend has it apart from the text. */
  structured?: unknown;
  usage?: CallUsage;
  /** `usage` says nothing of output tokens: its 0 does not mean that nothing was said. */
  outputUntold?: true;
  model?: string;
  session?: string;
}

/**
 * Executes calls.
 *
 * @example
 * const shout = defineBackend({ name: 'shout', run: async (request) => ({ text: request.prompt.toUpperCase() }) })
 */
export interface AgentBackend {
  readonly name: string;
  readonly capabilities: BackendCapabilities;
  /**
   * Tells whether the backend can work here, without spending anything. When `signal` aborts it ends what it has started
   * for that; its answer is then of no use.
   */
  probe(signal?: AbortSignal): Promise<ProbeResult>;
  /** @throws BackendError only */
  run(request: AgentRequest, context: AgentRunContext): Promise<AgentAnswer>;
  close?(): Promise<void>;
}

/** A backend from its name and its `run`; everything else has a plain default. */
export function defineBackend(parts: Pick<AgentBackend, 'name' | 'run'> & Partial<AgentBackend>): AgentBackend {
  return {
    capabilities: {
      schema: 'requested',
      tools: false,
      sessions: false,
      usd: false,
      permissions: ['read', 'edit', 'full'],
    },
    probe: async () => ({ ok: true, version: '0' }),
    ...parts,
  };
}
