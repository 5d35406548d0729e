/** What a run can be asked for, and where each value comes from. */
import type { AgentBackend, Permission } from '../agents/backend.js';
import type { PriceTable } from '../agents/price-usage.js';
import type { Config } from '../config/load-config.js';
import { resolveSettings, type SettingSource, type SettingValue } from '../config/resolve-settings.js';
import type { SettingOption } from '../config/settings.js';
import type { CallWorktree, EventListener } from '../engine/events.js';
import type { RunOptions, RunRecord } from '../runs/records.js';
import type { Clock } from '../shared/clock.js';
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
  /** Limit of a call without any sign of life, ms; default what its backend brings, and `null` takes that away too. */
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
  /** Write the answers of the run, when it has ended, as rules for `mock` into this file, which must not exist yet. */
  record?: string | undefined;
  /** Run folders that stay when old ones are pruned at the end; default 50. */
  keep?: number | undefined;
  /** `each` waits for the disk after each journal line. */
  fsync?: 'group' | 'each' | undefined;
  /** Calls without an answer do not make the exit code 3. */
  allowFailures?: boolean | undefined;
  /**
   * Asks before more than `above` calls are executed; once, and `false` cancels the run. The signal takes the question
   * back when the run ends before there is an answer.
   */
  confirm?: { above: number; ask(calls: number, signal: AbortSignal): Promise<boolean> } | undefined;
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
  /** Cancels the run when aborted. While a backend is still looked for there is none: it is rejected with `WF_CANCELLED`. */
  signal?: AbortSignal | undefined;
  /** Gives the start up when aborted before the run is there: `WF_CANCELLED`, and nothing is left of it. */
  startSignal?: AbortSignal | undefined;
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

/** The options of a run, and where each of the run-wide settings among them comes from. */
export interface ResolvedOptions {
  options: RunOptions;
  sources: Record<SettingOption, SettingSource>;
}

/**
 * Precedence: given, then the old run's record, then the environment, then the config, then the default.
 *
 * @throws WfError `WF_USAGE`, `WF_CONFIG` for a value that cannot be used
 */
export function resolveRunOptions(
  given: RunSettings,
  record: RunRecord | undefined,
  env: Readonly<Record<string, string | undefined>>,
  config: Config,
  cores: number,
): ResolvedOptions {
  const old = record?.options;
  const backend = typeof given.backend === 'object' ? given.backend.name : given.backend;
  // A program or a rules file is for one backend only, but does not forbid a call to name another.
  const implied = given.command !== undefined ? 'command' : given.mock !== undefined ? 'mock' : undefined;
  const found = resolveSettings({ given: { ...given, backend: backend ?? implied }, record: old, env, config });
  const take = <T>(option: SettingOption, otherwise: T): T => (found[option].value ?? otherwise) as T;
  const options: RunOptions = {
    backend: take('backend', ''),
    backendGiven: backend !== undefined || (implied === undefined && old?.backendGiven === true),
    permission: take('permission', 'edit'),
    concurrency: take('concurrency', Math.min(16, Math.max(4, 2 * cores))),
    maxAgents: take('maxAgents', 1000),
    budgetTokens: take('budgetTokens', null),
    budgetUsd: take('budgetUsd', null),
    minFreeMemMb: take('minFreeMemMb', null),
    timeoutMs: take('timeoutMs', null),
    idleTimeoutMs: idleLimit(found.idleTimeoutMs),
    retries: take('retries', null),
    turnTimeoutMs: take('turnTimeoutMs', 30_000),
    memoryMb: take('memoryMb', 256),
    match: given.match ?? old?.match ?? 'content',
  };
  // Settings of a backend are taken over only with that backend.
  const sameBackend = options.backend === old?.backend;
  const command = given.command ?? (sameBackend ? old?.command : undefined);
  if (command !== undefined) options.command = [...command];
  const mock = given.mock ?? (sameBackend ? old?.mock : undefined);
  if (mock !== undefined) options.mock = mock;
  const model = take<string | undefined>('model', undefined);
  if (model !== undefined) options.model = model;
  const effort = take<string | undefined>('effort', undefined);
  if (effort !== undefined) options.effort = effort;
  const sources = Object.fromEntries(Object.entries(found).map(([option, { source }]) => [option, source]));
  return { options, sources: sources as ResolvedOptions['sources'] };
}

/** `null` where nobody has given one, so that the backend's own holds; one that was taken away stands on record as 0. */
const idleLimit = ({ value, source }: SettingValue): number | null =>
  value === null && source.from !== 'record' ? 0 : ((value as number | null | undefined) ?? null);
