/**
 * The lines of `journal.jsonl`: what the script was given, in order. The journal is the truth; a line is written before
 * its value is handed to the script or shown to anybody.
 */
import * as z from 'zod';

export const JOURNAL_VERSION = 1;

const place = {
  v: z.literal(JOURNAL_VERSION),
  /**
   * Place in delivery order; absent on kept lines. A whole number, except where a kept answer was delivered between two
   * answers that were already written: then it lies between theirs.
   */
  seq: z.number().optional(),
};

const identity = {
  /** Number of the call in its run, from 1, in call order. */
  n: z.number().int(),
  key: z.string().regex(/^[0-9a-f]{64}$/),
  path: z.string(),
  /** Counts calls of equal key and path, from 0. */
  nth: z.number().int(),
};

const carried = {
  /** Run that made this result, when it was not this one. */
  from: z.string().optional(),
  /** Ordinal among the lines kept from the source run, from 1. */
  kept: z.number().int().optional(),
};

const kept = {
  ...carried,
  /** A run of the chain made outcomes of its own and never came to ask for this one: `--match prefix` reuses none such. */
  passed: z.literal(true).optional(),
};

const callUsageSchema = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number().optional(),
  usd: z.number().nullable().optional(),
  usdSource: z.enum(['reported', 'priced', 'unknown']).optional(),
  usdPartial: z.literal(true).optional(),
});

/** A worktree that the call left behind, as it was then. */
export const worktreeSchema = z.looseObject({
  path: z.string(),
  branch: z.string(),
  base: z.string(),
  files: z.array(z.string()),
  fileCount: z.number(),
  commits: z.number(),
  doubt: z.string().optional(),
});

export const resultEntrySchema = z.object({
  ...place,
  type: z.literal('result'),
  ...identity,
  ...kept,
  kind: z.enum(['ok', 'failed', 'skipped']),
  /** Bytes of the JSON text of `output` as it stands in the line. */
  size: z.number().int().optional(),
  output: z.unknown().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  label: z.string().optional(),
  phase: z.string().nullable().optional(),
  prompt: z.string().optional(),
  opts: z.record(z.string(), z.unknown()).optional(),
  usage: callUsageSchema.optional(),
  worktrees: z.array(worktreeSchema).optional(),
  /** The answer fitted its schema only at the last try. */
  lastTry: z.boolean().optional(),
  model: z.string().optional(),
  backend: z.string().optional(),
  /** The answer was made up (`mock`). */
  madeUp: z.boolean().optional(),
  sessionId: z.string().optional(),
  attempts: z.number().int().optional(),
  startedAt: z.string().optional(),
  endedAt: z.string().optional(),
});

export const hitEntrySchema = z.object({
  ...place,
  type: z.literal('hit'),
  ...identity,
  label: z.string().optional(),
  phase: z.string().nullable().optional(),
  /** The kept line that was delivered (its `kept`). */
  of: z.number().int(),
});

export const timerEntrySchema = z.object({
  ...place,
  type: z.literal('timer'),
  ...carried,
  /** Timers made before it in this workflow. */
  n: z.number().int(),
  ms: z.number(),
  /** Path of the workflow instance that made it; empty for the run's own script. */
  path: z.string().optional(),
});

export const scriptEntrySchema = z.object({
  ...place,
  type: z.literal('script'),
  ...carried,
  name: z.string(),
  path: z.string().nullable(),
  sha256: z.string(),
  source: z.string(),
});

export const entrySchema = z.discriminatedUnion('type', [
  resultEntrySchema,
  hitEntrySchema,
  timerEntrySchema,
  scriptEntrySchema,
]);

export type ResultEntry = z.infer<typeof resultEntrySchema>;
/**
 * No agent did anything for it: a ceiling refused the call, a person skipped it in the queue, its first attempt got no
 * worktree, or `mock` made its outcome up.
 */
export function hasAskedNobody({
  kind,
  attempts,
  error,
  madeUp,
}: Pick<ResultEntry, 'kind' | 'attempts' | 'error' | 'madeUp'>): boolean {
  if (madeUp === true) return true;
  return kind !== 'ok' && (attempts === 0 || (attempts === 1 && error?.code === 'WF_WORKTREE'));
}

export type HitEntry = z.infer<typeof hitEntrySchema>;
export type TimerEntry = z.infer<typeof timerEntrySchema>;
export type ScriptEntry = z.infer<typeof scriptEntrySchema>;
