/**
 * The two JSON records of a run folder. `run.json` is authoritative for inputs, owner and lineage; `state.json` is the
 * outcome, written once. Unknown fields are kept readable by older versions; a larger `version` is refused by name.
 */
import * as z from 'zod';
import { worktreeSchema } from '../journal/entry.js';

export const RUN_RECORD_VERSION = 1;
export const STATE_RECORD_VERSION = 1;

export const runStatusSchema = z.enum(['running', 'completed', 'failed', 'cancelled', 'interrupted']);

export const countsSchema = z.looseObject({
  calls: z.number(),
  ok: z.number(),
  failed: z.number(),
  recovered: z.number(),
  skipped: z.number(),
  abandoned: z.number(),
  noResult: z.number(),
  reused: z.number(),
  executed: z.number(),
});

export const usageSchema = z.looseObject({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  usd: z.number().nullable(),
  usdUnknownCalls: z.number().optional(),
  savedOutputTokens: z.number(),
  savedUsd: z.number().nullable(),
});

const errorRecordSchema = z.looseObject({
  code: z.string(),
  message: z.string(),
  name: z.string().optional(),
  file: z.string().optional(),
  line: z.number().optional(),
  column: z.number().optional(),
  frame: z.string().optional(),
  stack: z.string().optional(),
  resetsAt: z.string().nullable().optional(),
});

/** The process that holds a run. `startTime` is the kernel's own mark of the process, so that a reused pid is told apart. */
export const ownerSchema = z.looseObject({
  host: z.string(),
  bootId: z.string().nullable(),
  pidNamespace: z.string().nullable(),
  pid: z.number().int(),
  startTime: z.string().nullable(),
  /** ISO 8601 UTC; rewritten every 5 s. */
  heartbeat: z.string(),
  token: z.string(),
});

/** Everything that decides what a run does; a resume takes each from here unless it is given again. */
export const runOptionsSchema = z.looseObject({
  backend: z.string(),
  /** It was asked for by name, and not taken from the environment or by default. */
  backendGiven: z.boolean().optional(),
  command: z.array(z.string()).optional(),
  mock: z.string().optional(),
  model: z.string().optional(),
  effort: z.string().optional(),
  permission: z.enum(['read', 'edit', 'full']),
  concurrency: z.number().int(),
  maxAgents: z.number().int(),
  budgetTokens: z.number().nullable(),
  budgetUsd: z.number().nullable().optional(),
  minFreeMemMb: z.number().nullable().optional(),
  timeoutMs: z.number().nullable(),
  /** `null`: not given, the backend's own limit holds. 0: none. */
  idleTimeoutMs: z.number().nullable(),
  retries: z.number().int().nullable(),
  turnTimeoutMs: z.number(),
  memoryMb: z.number(),
  match: z.enum(['content', 'prefix']),
  /** What the aliases of models meant: alias → backend → model. */
  models: z.record(z.string(), z.record(z.string(), z.string())).optional(),
  /** Digests of what the config said of backends, by their names. */
  backendSettings: z.record(z.string(), z.string()).optional(),
});

export const runRecordSchema = z.looseObject({
  version: z.literal(RUN_RECORD_VERSION),
  engine: z.literal('wf-engine'),
  runId: z.string(),
  workflow: z.string(),
  description: z.string(),
  script: z.looseObject({
    sha256: z.string(),
    bytes: z.number(),
    /** Relative to the project root, forward slashes; `null` for stdin and library text. */
    path: z.string().nullable(),
    language: z.enum(['js', 'ts']),
  }),
  /** Absent when the run was given no args. */
  args: z.unknown().optional(),
  /** Start folder relative to the project root, forward slashes. */
  startFolder: z.string(),
  options: runOptionsSchema,
  /** Where each run-wide setting came from: `from` in one word, and the flag, variable or file. */
  settingSources: z.record(z.string(), z.looseObject({ from: z.string(), place: z.string().optional() })).optional(),
  versions: z.looseObject({ wf: z.string(), node: z.string() }),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  status: runStatusSchema,
  /** `null` once the run has ended and nobody holds it. */
  owner: ownerSchema.nullable(),
  lineage: z.looseObject({
    resumedFrom: z.string().nullable(),
    /** First run of the chain: its id names the claims. */
    root: z.string(),
    /** Number of this run's claim. */
    claim: z.number().int(),
  }),
  /** True once every usable line of the source run stands in this run's journal; true from the start without a source. */
  copied: z.boolean(),
  /** Counts as of the last heartbeat. */
  progress: z.looseObject({
    counts: countsSchema,
    usage: usageSchema.optional(),
    phase: z.string().nullable(),
    journalBytes: z.number(),
  }),
  /** Run id and depth of the run whose agent started this one. */
  startedBy: z.looseObject({ runId: z.string(), depth: z.number() }).nullable(),
  madeUp: z.boolean(),
  /** This folder is a copy that `wf doctor --fix` made of a damaged run; it goes when that run goes. */
  repairedCopy: z.boolean().optional(),
  /** Where the owner listens for `wf stop`, `wf skip` and `wf retry`; `null` where nobody listens. */
  control: z.looseObject({ address: z.string(), token: z.string() }).nullable().optional(),
  /** The process that ends the agents when the owner is gone. */
  guard: z.looseObject({ pid: z.number().int(), startTime: z.string().nullable() }).nullable().optional(),
});

export const stateRecordSchema = z.looseObject({
  version: z.literal(STATE_RECORD_VERSION),
  runId: z.string(),
  workflow: z.string(),
  status: runStatusSchema,
  /** Why it ended so, in one word for programs: `done`, an error code, `drained`. */
  cause: z.string(),
  exitCode: z.number().int(),
  startedAt: z.string(),
  endedAt: z.string(),
  backend: z.string(),
  madeUp: z.boolean(),
  resumedFrom: z.string().nullable(),
  /** Absent when the script returned nothing. */
  result: z.unknown().optional(),
  error: errorRecordSchema.optional(),
  counts: countsSchema,
  usage: usageSchema,
  phases: z.array(z.looseObject({ title: z.string().nullable(), counts: countsSchema })),
  failures: z.array(
    z.looseObject({
      n: z.number(),
      label: z.string(),
      phase: z.string().nullable(),
      status: z.string(),
      code: z.string(),
      message: z.string(),
      recovered: z.boolean(),
    }),
  ),
  /** Those that calls left behind, or that reused answers name. */
  worktrees: z.array(z.looseObject({ n: z.number(), label: z.string(), ...worktreeSchema.shape })).optional(),
  journal: z.looseObject({ complete: z.boolean(), bytes: z.number(), unwritten: z.number() }),
  notices: z.array(z.string()),
});

export type RunOptions = z.infer<typeof runOptionsSchema>;
export type OwnerRecord = z.infer<typeof ownerSchema>;
export type RunRecord = z.infer<typeof runRecordSchema>;
export type StateRecord = z.infer<typeof stateRecordSchema>;
