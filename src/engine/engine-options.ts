/** What a run needs from outside, and how it can end. */
import type { AgentDefinition } from '../agents/agent-definitions.js';
import type { AgentBackend, AgentRunContext, Permission } from '../agents/backend.js';
import type { CallPolicy } from '../agents/execute-call.js';
import type { Mask } from '../agents/mask-secrets.js';
import type { PriceTable } from '../agents/price-usage.js';
import type { WorktreePlace } from '../agents/worktree/run-worktrees.js';
import type { CarriedLines } from '../journal/carry.js';
import type { JournalStore } from '../journal/store.js';
import type { CheckedScript } from '../script/checked-script.js';
import type { Clock } from '../shared/clock.js';
import type { ErrorRecord } from '../shared/outcome.js';
import type { Confirm } from './confirmation.js';
import type { EventListener } from './events.js';
import type { CallOptions } from './sandbox/call-options.js';
import type { SandboxLink } from './sandbox-link.js';
import type { StartLimits } from './start-limits.js';

export interface EngineOptions {
  runId: string;
  /** First run of the lineage. */
  root: string;
  script: CheckedScript;
  /** JSON text, or undefined when the run has no args. */
  argsJson: string | undefined;
  backend: { name: string; madeUp: boolean };
  /** The backend of the run, made when the first call needs it. Rejects with what keeps it from being made. */
  openBackend(): AgentBackend | Promise<AgentBackend>;
  /** The backend was chosen for this run and not by default: it beats the one that a call names. */
  backendGiven: boolean;
  /** Another backend that a call names; a text says why there is none. */
  backendNamed(name: string): Promise<AgentBackend | string>;
  definitions: ReadonlyMap<string, AgentDefinition>;
  builtInTypes: readonly string[];
  /** Every agentType is accepted. */
  anyAgentType: boolean;
  limits: StartLimits & { turnTimeoutMs: number; memoryMb: number };
  /** Prices of models whose cost the backend does not report. */
  prices?: PriceTable | undefined;
  /** Free memory of the machine or container, for `minFreeMemMb`. */
  freeBytes?: () => number;
  /** Asks before many calls are executed. */
  confirm?: Confirm | undefined;
  policy: CallPolicy;
  match: 'content' | 'prefix';
  model: string | undefined;
  /** The model that a name, which may be an alias, means for a backend; undefined when the alias names none for it. */
  resolveModel(name: string, backend: AgentBackend): string | undefined;
  /** Applied to everything that a backend hands over. */
  mask: Mask | undefined;
  effort: string | undefined;
  permission: Permission;
  /** Absolute start folder, and the project root. */
  startFolder: string;
  projectRoot: string;
  /** Where isolated calls get their worktrees; asked once, and only if there is such a call. */
  worktrees(): WorktreePlace;
  journal: JournalStore;
  carried: CarriedLines | undefined;
  sandbox: SandboxLink;
  openWorkflow: OpenWorkflow;
  hashDeps: HashDeps;
  clock: Clock;
  onEvent: EventListener;
  /** Told of each call that no record answers, before it is dispatched. */
  onLive?: (call: LiveCall) => void;
  /** Told of each recorded answer that a call is given, by its ordinal. */
  onHit?: (kept: number) => void;
  /** Told each time that the script waits for what it was not given yet. */
  onRest?: () => void;
  /** False once another process owns the lineage. */
  isOwner(): boolean;
  /** The time of a drain is over and calls still run: told before they are stopped. */
  onDrainExpired(): void;
  /** @param call for messages: whose process it is */
  onProcess(pid: number, call?: string): void;
  onProcessEnd: AgentRunContext['onProcessEnd'];
}

/** Digest of the files that a call's `deps` name, now. `files` is there when they are few. */
export type HashDeps = (
  patterns: readonly string[],
  cwd: string | null,
) => Promise<{ digest: string; files?: Record<string, string> } | { digest: null; message: string }>;

export type OpenWorkflow = (
  reference: { name: string } | { scriptPath: string },
  recorded: ReadonlyMap<string, { source: string; path: string | null }>,
) => Promise<
  | { ok: true; script: CheckedScript; id: string; path: string | null }
  | { ok: false; name: string; code: string; message: string; line?: number; column?: number }
>;

export type EngineEnd =
  | { how: 'done'; hasResult: boolean; result: unknown }
  | { how: 'failed'; error: ErrorRecord }
  | { how: 'shared-failure'; error: ErrorRecord }
  | { how: 'cancelled' }
  | { how: 'drained' }
  | { how: 'owner-lost' };

export interface LiveCall {
  n: number;
  key: string;
  path: string;
  nth: number;
  label: string;
  phase: string | null;
  prompt: string;
  options: CallOptions | undefined;
  /** What executes it, once that is known. */
  backend: { name: string; madeUp: boolean } | undefined;
  /** ms since 1970; 0 while it waits. */
  startedAt: number;
}
