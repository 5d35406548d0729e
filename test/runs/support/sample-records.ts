import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { describeOwner } from '../../../src/runs/owner.js';
import type { OwnerRecord, RunRecord, StateRecord } from '../../../src/runs/records.js';
import { newRunId } from '../../../src/shared/ids.js';
import { emptyCounts, emptyUsage } from '../../../src/shared/outcome.js';

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A fresh folder that is removed after the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'wf-runs-'));
  made.push(folder);
  return folder;
}

export function sampleRecord(change: Partial<RunRecord> = {}): RunRecord {
  const runId = change.runId ?? newRunId();
  return {
    version: 1,
    engine: 'wf-engine',
    runId,
    workflow: 'review',
    description: 'Review every changed file',
    script: { sha256: 'a'.repeat(64), bytes: 10, path: 'review.js', language: 'js' },
    startFolder: '.',
    options: {
      backend: 'mock',
      permission: 'edit',
      concurrency: 4,
      maxAgents: 1000,
      budgetTokens: null,
      timeoutMs: null,
      idleTimeoutMs: null,
      retries: null,
      turnTimeoutMs: 30_000,
      memoryMb: 256,
      match: 'content',
    },
    versions: { wf: '0.1.0', node: '24.0.0' },
    startedAt: '2026-01-02T03:04:05.000Z',
    endedAt: null,
    status: 'running',
    owner: null,
    lineage: { resumedFrom: null, root: runId, claim: 1 },
    copied: true,
    progress: { counts: { ...emptyCounts() }, phase: null, journalBytes: 0 },
    startedBy: null,
    madeUp: false,
    ...change,
  };
}

export function sampleState(runId: string, change: Partial<StateRecord> = {}): StateRecord {
  return {
    version: 1,
    runId,
    workflow: 'review',
    status: 'completed',
    cause: 'done',
    exitCode: 0,
    startedAt: '2026-01-02T03:04:05.000Z',
    endedAt: '2026-01-02T03:05:05.000Z',
    backend: 'mock',
    madeUp: false,
    resumedFrom: null,
    counts: { ...emptyCounts(), calls: 3, ok: 3, executed: 3 },
    usage: { ...emptyUsage(), outputTokens: 42 },
    phases: [],
    failures: [],
    journal: { complete: true, bytes: 0, unwritten: 0 },
    notices: [],
    ...change,
  };
}

/** Writes a run folder by hand, whatever is in it; `null` leaves a file out. */
export function plantRun(
  runsFolder: string,
  run: { record?: RunRecord | string | null; state?: StateRecord | string; mtime?: Date; runId?: string } = {},
): string {
  const record =
    run.record === undefined ? sampleRecord(run.runId === undefined ? {} : { runId: run.runId }) : run.record;
  const runId = run.runId ?? (record !== null && typeof record === 'object' ? record.runId : newRunId());
  const folder = join(runsFolder, runId);
  mkdirSync(folder, { recursive: true });
  if (record !== null) writeFileSync(join(folder, 'run.json'), asText(record));
  if (run.state !== undefined) writeFileSync(join(folder, 'state.json'), asText(run.state));
  writeFileSync(join(folder, 'script.js'), 'return 1\n');
  writeFileSync(join(folder, 'journal.jsonl'), '');
  if (run.mtime !== undefined) utimesSync(folder, run.mtime, run.mtime);
  return folder;
}

const asText = (value: object | string): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Owner record of a process of this machine that has ended. */
export function deadOwner(): OwnerRecord {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  return { ...describeOwner(), pid, startTime: '1' };
}

/** Owner record of another machine whose last heartbeat is `age` ms old. */
export function foreignOwner(age: number, now: number = Date.now()): OwnerRecord {
  return { ...describeOwner(), host: 'elsewhere', bootId: 'other', heartbeat: new Date(now - age).toISOString() };
}

/** Does something without the rights of root, where the tests have them: chmod stops nobody else. */
export async function asOrdinaryUser<T>(work: () => T | Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
