/**
 * One tree of errors, one table: code → exit code. The anchor in `docs/errors.md` is the code itself.
 * The table is the only place that decides what a failure means for the process.
 */
import type { ErrorRecord } from './outcome.js';

/** Exit codes of `wf` (`spec` in docs/cli.md). */
export const EXIT = {
  ok: 0,
  runFailed: 1,
  notStarted: 2,
  callsFailed: 3,
  personDecides: 4,
  busy: 5,
  sharedFailure: 6,
  hangup: 129,
  cancelled: 130,
  drained: 143,
} as const;

export const ERROR_CODES = {
  // Nothing was started.
  WF_USAGE: EXIT.notStarted,
  WF_NODE_VERSION: EXIT.notStarted,
  WF_PLATFORM: EXIT.notStarted,
  WF_ISOLATE_MISSING: EXIT.notStarted,
  WF_SCRIPT_NOT_FOUND: EXIT.notStarted,
  WF_SCRIPT_AMBIGUOUS: EXIT.notStarted,
  WF_SCRIPT_SIZE: EXIT.notStarted,
  WF_SCRIPT_SYNTAX: EXIT.notStarted,
  WF_SCRIPT_META: EXIT.notStarted,
  WF_SCRIPT_MODULE: EXIT.notStarted,
  WF_SCRIPT_DETERMINISM: EXIT.notStarted,
  WF_CONFIG: EXIT.notStarted,
  WF_ARGS: EXIT.notStarted,
  WF_RUN_ID: EXIT.notStarted,
  WF_RUN_UNKNOWN: EXIT.notStarted,
  WF_RUN_FOREIGN: EXIT.notStarted,
  WF_RUN_DAMAGED: EXIT.notStarted,
  WF_VERSION_NEWER: EXIT.notStarted,
  WF_RUNS_DIR: EXIT.notStarted,
  WF_FOLDER_MISSING: EXIT.notStarted,
  WF_BACKEND_UNKNOWN: EXIT.notStarted,
  WF_BACKEND_CONFIG: EXIT.notStarted,
  WF_MOCK_FILE: EXIT.notStarted,
  WF_TEST_FILE: EXIT.notStarted,
  WF_AGENT_DEFINITION: EXIT.notStarted,
  WF_NESTED_TOO_DEEP: EXIT.notStarted,
  WF_RUN_NOT_LIVE: EXIT.notStarted,
  WF_CONTROL: EXIT.notStarted,
  WF_CALL_STATE: EXIT.notStarted,
  WF_RUN_BUSY: EXIT.busy,
  WF_STRICT: EXIT.personDecides,
  // The run ended.
  WF_SCRIPT_THREW: EXIT.runFailed,
  WF_DEADLOCK: EXIT.runFailed,
  WF_TURN_TIMEOUT: EXIT.runFailed,
  WF_SCRIPT_MEMORY: EXIT.runFailed,
  WF_SANDBOX_DIED: EXIT.runFailed,
  WF_SANDBOX_PERMISSION: EXIT.runFailed,
  WF_RESULT_NOT_JSON: EXIT.runFailed,
  WF_OWNER_LOST: EXIT.runFailed,
  WF_OUTPUT: EXIT.runFailed,
  WF_INTERNAL: EXIT.runFailed,
  WF_CANCELLED: EXIT.cancelled,
  WF_DRAINED: EXIT.drained,
  // A failure that concerns all calls.
  WF_AUTH: EXIT.sharedFailure,
  WF_BILLING: EXIT.sharedFailure,
  WF_USAGE_LIMIT: EXIT.sharedFailure,
  WF_BACKEND_MISSING: EXIT.sharedFailure,
  WF_BACKEND_SETUP: EXIT.sharedFailure,
  WF_COST_UNKNOWN: EXIT.sharedFailure,
  // One call.
  WF_AGENT_FAILED: EXIT.callsFailed,
  WF_AGENT_TIMEOUT: EXIT.callsFailed,
  WF_AGENT_STALLED: EXIT.callsFailed,
  WF_AGENT_EMPTY: EXIT.callsFailed,
  WF_AGENT_REFUSED: EXIT.callsFailed,
  WF_AGENT_UNREACHABLE: EXIT.callsFailed,
  WF_SKIPPED: EXIT.callsFailed,
  WF_WORKTREE: EXIT.callsFailed,
  WF_ANSWER_SIZE: EXIT.callsFailed,
  WF_SCHEMA_UNMET: EXIT.callsFailed,
  WF_SCHEMA_INVALID: EXIT.callsFailed,
  WF_AGENT_OPTIONS: EXIT.callsFailed,
  WF_AGENT_TYPE: EXIT.callsFailed,
  WF_AGENT_CAP: EXIT.callsFailed,
  WF_BUDGET: EXIT.callsFailed,
  WF_MISUSE: EXIT.callsFailed,
  WF_NESTING: EXIT.callsFailed,
  WF_WORKFLOW_UNKNOWN: EXIT.callsFailed,
  WF_WORKFLOW_FAILED: EXIT.callsFailed,
  // A warning; it decides no end.
  WF_AGENT_LEFT: EXIT.ok,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Where in a user's file a fault lies. Lines and columns count from 1. */
export interface SourcePlace {
  file?: string;
  line?: number;
  column?: number;
  frame?: string;
}

const BRAND = Symbol.for('wf-engine.error');

/**
 * Thrown for everything that `wf` can explain: `message` says what happened, `remedy` what to do about it.
 *
 * @example
 * try { await runWorkflow({ script: 'review.js' }) } catch (error) {
 *   if (WfError.is(error) && error.code === 'WF_RUN_BUSY') …
 * }
 */
export class WfError extends Error {
  readonly [BRAND] = true;
  readonly code: ErrorCode;
  readonly remedy: string | undefined;
  readonly place: SourcePlace | undefined;
  /** Further faults of the same kind, when one report names several. */
  readonly others: readonly WfError[];

  constructor(
    code: ErrorCode,
    message: string,
    details: { remedy?: string; place?: SourcePlace; cause?: unknown; others?: readonly WfError[] } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'WfError';
    this.code = code;
    this.remedy = details.remedy;
    this.place = details.place;
    this.others = details.others ?? [];
  }

  get exitCode(): number {
    return ERROR_CODES[this.code];
  }

  /** Tells a `WfError` also across two copies of this package. */
  static is(value: unknown): value is WfError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }

  toRecord(): ErrorRecord {
    return { code: this.code, message: this.message, ...this.place };
  }
}

/** The message of anything thrown, without running code of the thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a system error (`ENOENT`, …), if it has one. */
export function systemCode(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === 'string' ? code : undefined;
}
