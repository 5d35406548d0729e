/**
 * Run folders of another engine that lie where ours do: a journal of `{ key, seq, result: { kind } }` lines and a
 * `state.json` in snake_case, without `run.json`. They are shown with what they say; what they do not say stays unknown.
 * Nothing is ever written there, and nothing is taken from there for a run of ours.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { RunStatus } from '../shared/outcome.js';
import { readRecordFile } from './record-file.js';
import { JOURNAL_FILE, lookAt, RUN_FILE, STATE_FILE } from './runs-folder.js';

export interface ForeignCall {
  /** Its number in call order, from 0. */
  seq: number;
  key: string;
  status: 'ok' | 'failed' | 'skipped';
  phase: string | null;
  output?: unknown;
  outputTokens: number | null;
  model: string | null;
  /** Of a call without an answer: the reason that is recorded. */
  reason: string | null;
}

export interface ForeignRun {
  workflow: string | null;
  /** `interrupted` where no end is recorded. */
  status: RunStatus;
  startedAt: string | null;
  endedAt: string | null;
  error: string | null;
  result?: unknown;
  /** What that engine records apart from the status: `unknown` where it does not say. */
  verdicts: { execution: string; acceptance: string; postProcessing: string; delivery: string };
  /** In call order. */
  calls: ForeignCall[];
  unreadableLines: number;
}

const lineSchema = z.looseObject({
  key: z.string(),
  seq: z.number().int().nonnegative(),
  result: z.looseObject({ kind: z.enum(['ok', 'skipped', 'dead']) }),
});

const STATUS: Record<string, RunStatus> = { completed: 'completed', failed: 'failed', killed: 'cancelled' };
const HEAD_BYTES = 64 << 10;

/** True for a folder that another engine of this layout made. Reads no more than the beginnings of its files. */
export function isForeignRun(folder: string): boolean {
  if (lookAt(join(folder, RUN_FILE)) !== undefined) return false;
  const state = readState(folder);
  if (state !== undefined) return typeof state.run_id === 'string' && state.version === undefined;
  const head = readHead(join(folder, JOURNAL_FILE)).split('\n')[0] ?? '';
  if (parseLine(head) !== undefined) return true;
  // A first line longer than what was read: its beginning must do.
  return head.length >= HEAD_BYTES && /"seq":\d/.test(head) && !/"v":\d/.test(head);
}

/** Never throws for what stands in the folder. */
export function readForeignRun(folder: string): ForeignRun {
  const state = readState(folder) ?? {};
  const text = (name: string): string | null => (typeof state[name] === 'string' ? (state[name] as string) : null);
  const time = (name: string): string | null => toIso(state[name]);
  const { calls, unreadableLines } = readCalls(join(folder, JOURNAL_FILE));
  return {
    workflow: text('workflow_name'),
    status: STATUS[text('status') ?? ''] ?? 'interrupted',
    startedAt: time('started_at'),
    endedAt: time('finished_at'),
    error: text('error'),
    ...('return_value' in state ? { result: state.return_value } : {}),
    verdicts: {
      execution: text('execution_status') ?? 'unknown',
      acceptance: text('acceptance_status') ?? 'unknown',
      postProcessing: text('post_processing_status') ?? 'unknown',
      delivery: text('delivery_status') ?? 'unknown',
    },
    calls,
    unreadableLines,
  };
}

function readState(folder: string): Record<string, unknown> | undefined {
  const file = readRecordFile(join(folder, STATE_FILE));
  const isObject = file.kind === 'json' && typeof file.value === 'object' && file.value !== null;
  return isObject ? (file.value as Record<string, unknown>) : undefined;
}

function readCalls(file: string): { calls: ForeignCall[]; unreadableLines: number } {
  const calls: ForeignCall[] = [];
  let unreadableLines = 0;
  for (const line of readText(file).split('\n')) {
    if (line.trim() === '') continue;
    const call = parseLine(line);
    if (call === undefined) unreadableLines++;
    else calls.push(call);
  }
  return { calls: calls.sort((a, b) => a.seq - b.seq), unreadableLines };
}

function parseLine(line: string): ForeignCall | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const parsed = lineSchema.safeParse(value);
  // A line of ours has a version.
  if (!parsed.success || parsed.data.v !== undefined) return undefined;
  const { key, seq, result } = parsed.data;
  const text = (member: unknown): string | null => (typeof member === 'string' ? member : null);
  const usage = result.usage as { outputTokens?: unknown } | undefined;
  const tokens = usage?.outputTokens;
  return {
    seq,
    key,
    status: result.kind === 'dead' ? 'failed' : result.kind,
    phase: text(result.phase),
    ...('output' in result ? { output: result.output } : {}),
    outputTokens: typeof tokens === 'number' ? tokens : null,
    model: text(result.model),
    reason:
      result.kind === 'dead'
        ? [text(result.reason) ?? 'unknown', text(result.detail)].filter(Boolean).join(': ')
        : null,
  };
}

/** Text, or a number of seconds or milliseconds since the epoch. */
function toIso(value: unknown): string | null {
  const at = typeof value === 'number' ? (value < 1e11 ? value * 1000 : value) : Date.parse(String(value));
  return Number.isFinite(at) && Math.abs(at) < 8.64e15 ? new Date(at).toISOString() : null;
}

function readText(file: string): string {
  try {
    return lookAt(file)?.isFile() ? readFileSync(file, 'utf8') : '';
  } catch {
    return '';
  }
}

function readHead(file: string): string {
  try {
    if (!lookAt(file)?.isFile()) return '';
    const fd = openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(HEAD_BYTES);
      return bytes.toString('utf8', 0, readSync(fd, bytes, 0, HEAD_BYTES, 0));
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}
