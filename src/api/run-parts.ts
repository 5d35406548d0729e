import type { Guard } from '../agents/guard/start-guard.js';
import type { AgentDefinition } from '../agents/agent-definitions.js';
import type { Engine } from '../engine/engine.js';
import type { CallWorktree, EventListener } from '../engine/events.js';
import type { SandboxLink } from '../engine/sandbox-link.js';
import type { JournalStore } from '../journal/store.js';
import type { HeldClaim } from '../runs/claims.js';
import type { LineageLock } from '../runs/lineage-lock.js';
import type { EventLog } from '../runs/event-log.js';
import type { Heartbeat } from '../runs/heartbeat.js';
import type { RunRecord } from '../runs/records.js';
import type { Clock } from '../shared/clock.js';
import type { PreparedRun } from './prepare-run.js';
import type { RunResult, RunWorkflowOptions } from './run-options.js';
import type { SourceJournal } from './source-run.js';
import type { RunBackend } from './run-backend.js';

/** A run in progress. */
export interface RunHandle {
  readonly runId: string;
  /** The run folder, absolute. */
  readonly folder: string;
  /** Resolves when everything is written and every agent is ended; never rejects for what happens in the run. */
  readonly done: Promise<RunResult>;
  /**
   * Ends the run at once; started calls are told to stop. `exitCode`: what the process will end with, for the records
   * (default 130). False, and without any effect, when the run is over and at most its end is still being written.
   */
  cancel(exitCode?: number): boolean;
  /** Starts nothing more; what runs may finish for `ms`, then it is ended. False when the run is over, as above. */
  drain(ms: number, exitCode?: number): boolean;
}

/** What belongs to one run and is closed with it. */
export interface RunParts {
  prepared: PreparedRun;
  given: RunWorkflowOptions;
  record: RunRecord;
  folder: string;
  engine: Engine;
  journal: JournalStore;
  claim: HeldClaim;
  lock: LineageLock;
  heartbeat: Heartbeat;
  events: EventLog;
  tell: EventListener;
  clock: Clock;
  backend: RunBackend;
  guard: Guard | undefined;
  sourceJournal: SourceJournal | undefined;
  notices: string[];
  worktrees: readonly CallWorktree[];
  startedAt: number;
  /** Of the process, where whoever ends the run has named one. */
  exitCode: number | undefined;
}

/** What a run begins with, once it has its folder and its claim. */
export interface Beginning
  extends Pick<
    RunParts,
    'given' | 'prepared' | 'record' | 'folder' | 'journal' | 'claim' | 'backend' | 'clock' | 'startedAt'
  > {
  sandbox: SandboxLink;
  definitions: Map<string, AgentDefinition>;
  sourceJournal: SourceJournal | undefined;
}
