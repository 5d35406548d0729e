/** What a run can be asked for, and where each value comes from. */
import type { AgentBackend, Permission } from '../agents/backend.js';
import type { PriceTable } from '../agents/price-usage.js';
import type { CallWorktree, EventListener } from '../engine/events.js';
import type { RunOptions, RunRecord } from '../runs/records.js';
import type { Clock } from '../shared/clock.js';
import { WfError } from '../shared/errors.js';
import type { Counts, ErrorRecord, RunStatus, Usage } from '../shared/outcome.js';

/** Everything that decides what a run does. On a resume each value that is left out comes from the old run's record. */
export interface RunSettings {
  /** Name of a backend, or one of your own. */
  backend?: string | AgentBackend | undefined;
  /** Program and arguments of the `command` backend. */
  command?: readonly string[] | undefined;
  /** Rules file of the `mock` backend. */
  mock?: string | undefined;
  model?: string | undefined;
  effort?: string | undefined;
  permission?: Permission | undefined;
  /** Calls at once; default min(16, max(4, 2 × cores)). */
  concurrency?: number | undefined;
  /** Calls that may be executed in this run; default 1000. Reused answers do not count. */
  maxAgents?: number | undefined;
  /** Output tokens that this run itself may spend; default no ceiling. */
  budgetTokens?: number | null | undefined;
  /** US dollars that this run itself may spend; default no ceiling. Needs a backend that reports money, or `prices`. */
  budgetUsd?: number | null | undefined;
  /** MB of memory that must be free for a further call to start while others run; default no floor. */
  minFreeMemMb?: number | null | undefined;
  /** Limit of one call with all its attempts, ms. */
  timeoutMs?: number | null | undefined;
  /** Limit of a call without any sign of life, ms. */
  idleTimeoutMs?: number | null | undefined;
  retries?: number | null | undefined;
  /** Limit of one stretch of script code without an await, ms; default 30,000. */
  turnTimeoutMs?: number | undefined;
  /** Memory of the script's isolate, MB; default 256. */
  memoryMb?: number | undefined;
  match?: 'content' | 'prefix' | undefined;
}

export interface RunWorkflowOptions extends RunSettings {
  /** Path of a script, or name of a saved workflow. Optional on a resume. */
  script?: string | undefined;
  /** A script as text, instead of `script`. */
  source?: { text: string; filename: string } | undefined;
  /** The workflow's `args`: any JSON value. `hasArgs` tells `undefined` from "not given". */
  args?: unknown;
  hasArgs?: boolean | undefined;
  /** Whole UUID of the run to go on from. */
  resumeFrom?: string | undefined;
  /** Refuse a damaged source journal (`WF_STRICT`) instead of running again what it lost. */
  strict?: boolean | undefined;
  /** Start a new lineage: neither a live owner nor another resume of the old one is in the way. */
  fork?: boolean | undefined;
  runId?: string | undefined;
  runsDir?: string | undefined;
  /** Run folders that stay when old ones are pruned at the end; default 50. */
  keep?: number | undefined;
  /** `each` waits for the disk after each journal line. */
  fsync?: 'group' | 'each' | undefined;
  /** Calls without an answer do not make the exit code 3. */
  allowFailures?: boolean | undefined;
  /** Prices of models whose cost the backend does not report, US dollars for a million tokens. */
  prices?: PriceTable | undefined;
  /** Default: the process's own. */
  cwd?: string | undefined;
  home?: string | undefined;
  env?: Readonly<Record<string, string | undefined>> | undefined;
  onEvent?: EventListener | undefined;
  /** How long started calls may finish when `wf stop --drain` names no time, ms; default 300,000. */
  drainMs?: number | undefined;
  clock?: Clock | undefined;
  /** Cancels the run when aborted. */
  signal?: AbortSignal | undefined;
}

/** How a run ended. */
export interface RunResult {
  runId: string;
  /** The run folder, absolute. */
  folder: string;
  status: RunStatus;
  /** Exit code of `wf run` for this end. */
  exitCode: number;
  /** Absent when the script returned nothing or did not come to its end. */
  result?: unknown;
  error?: ErrorRecord;
  counts: Counts;
  usage: Usage;
  /** False while lines of the journal could not be written. */
  journalComplete: boolean;
  /** Those that calls left behind, and those that reused answers name; absent when there are none. */
  worktrees?: CallWorktree[];
  notices: string[];
}

const DEFAULTS = { maxAgents: 1000, turnTimeoutMs: 30_000, memoryMb: 256 } as const;

/**
 * Precedence: given, then the old run's record, then the environment, then the default.
 *
 * @throws WfError `WF_USAGE` for a value that is out of range
 */
export function resolveRunOptions(
  given: RunSettings,
  record: RunRecord | undefined,
  env: Readonly<Record<string, string | undefined>>,
  cores: number,
): RunOptions {
  const old = record?.options;
  const backend = typeof given.backend === 'object' ? given.backend.name : given.backend;
  // A program or a rules file is for one backend only, but does not forbid a call to name another.
  const implied = given.command !== undefined ? 'command' : given.mock !== undefined ? 'mock' : undefined;
  const options: RunOptions = {
    backend: backend ?? implied ?? old?.backend ?? env.WF_BACKEND ?? '',
    backendGiven: backend !== undefined || (implied === undefined && old?.backendGiven === true),
    permission: given.permission ?? old?.permission ?? 'edit',
    concurrency:
      given.concurrency ??
      old?.concurrency ??
      readNumber(env, 'WF_CONCURRENCY') ??
      Math.min(16, Math.max(4, 2 * cores)),
    maxAgents: given.maxAgents ?? old?.maxAgents ?? readNumber(env, 'WF_MAX_AGENTS') ?? DEFAULTS.maxAgents,
    budgetTokens: pick(given.budgetTokens, old?.budgetTokens),
    budgetUsd: pick(given.budgetUsd, old?.budgetUsd),
    minFreeMemMb: pick(given.minFreeMemMb, old?.minFreeMemMb),
    timeoutMs: pick(given.timeoutMs, old?.timeoutMs),
    idleTimeoutMs: pick(given.idleTimeoutMs, old?.idleTimeoutMs),
    retries: pick(given.retries, old?.retries),
    turnTimeoutMs: given.turnTimeoutMs ?? old?.turnTimeoutMs ?? DEFAULTS.turnTimeoutMs,
    memoryMb: given.memoryMb ?? old?.memoryMb ?? DEFAULTS.memoryMb,
    match: given.match ?? old?.match ?? 'content',
  };
  // Settings of a backend are taken over only with that backend.
  const sameBackend = options.backend === old?.backend;
  const command = given.command ?? (sameBackend ? old?.command : undefined);
  if (command !== undefined) options.command = [...command];
  const mock = given.mock ?? (sameBackend ? old?.mock : undefined);
  if (mock !== undefined) options.mock = mock;
  const model = given.model ?? old?.model ?? env.WF_MODEL;
  if (model !== undefined) options.model = model;
  const effort = given.effort ?? old?.effort;
  if (effort !== undefined) options.effort = effort;
  checkRanges(options);
  return options;
}

function pick(given: number | null | undefined, old: number | null | undefined): number | null {
  return given !== undefined ? given : (old ?? null);
}

function readNumber(env: Readonly<Record<string, string | undefined>>, name: string): number | undefined {
  const text = env[name];
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  throw new WfError('WF_USAGE', `${name} is not a number: ${JSON.stringify(text)}.`, {
    remedy: `Unset ${name} or give it a number.`,
  });
}

const RANGES: [name: keyof RunOptions, flag: string, min: number, max: number][] = [
  ['concurrency', '--concurrency', 1, 100_000],
  ['maxAgents', '--max-agents', 0, 10_000_000],
  ['turnTimeoutMs', '--turn-timeout', 1, 3_600_000],
  ['memoryMb', '--memory', 8, 65_536],
];

function checkRanges(options: RunOptions): void {
  for (const [name, flag, min, max] of RANGES) {
    const value = options[name] as number;
    if (Number.isInteger(value) && value >= min && value <= max) continue;
    throw new WfError('WF_USAGE', `${flag} must be a whole number from ${min} to ${max}; got ${String(value)}.`);
  }
}
