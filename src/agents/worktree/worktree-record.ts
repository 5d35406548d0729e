/**
 * What is known of a worktree of ours, kept where git keeps its own: in the worktree's folder in the repository, out of
 * the agent's way, and gone with it. It is written before the agent starts, so a worktree without it never had one.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { writeFileAtomic } from '../../shared/atomic-file.js';
import { systemCode } from '../../shared/errors.js';

const FILE = 'wf-worktree.json';

const recordSchema = z.looseObject({
  version: z.literal(1),
  runId: z.string(),
  n: z.number().int(),
  label: z.string(),
  branch: z.string(),
  /** Commit at which it began. */
  base: z.string(),
  /** The process that made it, as `run.json` names owners. */
  owner: z.looseObject({}).nullable(),
  /** What already differed when it was made. */
  dirt: z.record(z.string(), z.string()),
  madeAt: z.string(),
});

export type WorktreeRecord = z.infer<typeof recordSchema>;

export function writeWorktreeRecord(gitDir: string, record: WorktreeRecord): void {
  writeFileAtomic(join(gitDir, FILE), `${JSON.stringify(record)}\n`, { fsync: false });
}

/** `undefined` where there is none. `unreadable`: damaged, hidden, or of another version, so an agent may have worked there. */
export function readWorktreeRecord(gitDir: string): WorktreeRecord | 'unreadable' | undefined {
  try {
    const parsed = recordSchema.safeParse(JSON.parse(readFileSync(join(gitDir, FILE), 'utf8')));
    return parsed.success ? parsed.data : 'unreadable';
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? undefined : 'unreadable';
  }
}
