/**
 * Runs that went on from a run. A resume knows only what its source has: what they have besides, it would pay for again,
 * and nobody should do so for having typed the older id.
 */
import { join } from 'node:path';
import { openFileSource } from '../journal/file-store.js';
import { scanJournal } from '../journal/read-journal.js';
import type { JournalSource } from '../journal/store.js';
import type { RunRecord } from './records.js';
import { inspectRunRecord } from './run-records.js';
import { JOURNAL_FILE, listRunFolders, lookAt } from './runs-folder.js';

export interface FurtherRun {
  runId: string;
  folder: string;
  /** Answers that it has and the run from which it went on has not. */
  answers: number;
}

interface Resume {
  runId: string;
  folder: string;
  from: string;
  startedAt: string;
  progress: RunRecord['progress'];
}

/** Of the runs that went on from a run the one that got furthest, of equal ones the newest; made-up answers do not count. */
export function findFurtherRun(
  source: { runId: string; folder: string; startedAt: string },
  runsFolders: readonly string[],
): FurtherRun | undefined {
  const resumes = listResumes(Date.parse(source.startedAt), runsFolders);
  let furthest: (FurtherRun & { startedAt: string }) | undefined;
  const seen = new Set([source.runId]);
  const visit = (runId: string, before: number): void => {
    for (const resume of resumes) {
      if (resume.from !== runId || seen.has(resume.runId)) continue;
      seen.add(resume.runId);
      const answers = before + countOwnAnswers(resume);
      const best = furthest?.answers ?? 0;
      if (answers > best || (answers === best && furthest !== undefined && resume.startedAt > furthest.startedAt))
        furthest = { runId: resume.runId, folder: resume.folder, answers, startedAt: resume.startedAt };
      visit(resume.runId, answers);
    }
  };
  visit(source.runId, 0);
  return furthest && { runId: furthest.runId, folder: furthest.folder, answers: furthest.answers };
}

/** What was written to before `since` cannot have gone on from a run that started then. */
function listResumes(since: number, runsFolders: readonly string[]): Resume[] {
  const resumes = new Map<string, Resume>();
  for (const runsFolder of runsFolders) {
    try {
      for (const { runId, folder } of listRunFolders(runsFolder)) {
        if (resumes.has(runId) || (lookAt(folder)?.mtimeMs ?? 0) < since) continue;
        const run = inspectRunRecord(folder);
        if (run.kind !== 'ok' || run.record.madeUp) continue;
        const { startedAt, lineage, progress } = run.record;
        if (lineage.resumedFrom === null) continue;
        resumes.set(runId, { runId, folder, from: lineage.resumedFrom, startedAt, progress });
      }
    } catch {
      // What cannot be looked at is no reason not to start.
    }
  }
  return [...resumes.values()];
}

/**
 * Answers that the run was given itself, as of its record; of a run that was killed or is in progress those in the part of
 * its journal that came after are added. The whole of a journal is not read: that may be large, and there may be many.
 */
function countOwnAnswers({ folder, progress }: Resume): number {
  const told = progress.counts.ok - progress.counts.reused;
  const path = join(folder, JOURNAL_FILE);
  try {
    if ((lookAt(path)?.size ?? 0) <= progress.journalBytes) return told;
    const journal = openFileSource(path);
    try {
      return told + countAnswers(endOf(journal, progress.journalBytes));
    } finally {
      journal.close();
    }
  } catch {
    // Pruned meanwhile, or not to be read.
    return told;
  }
}

function countAnswers(journal: JournalSource): number {
  let count = 0;
  for (const { type, header } of scanJournal(journal))
    if (type === 'result' && header.kind === 'ok' && header.kept === undefined) count++;
  return count;
}

const PIECE_BYTES = 1 << 20;

/** The lines of a journal from a place on. */
const endOf = (journal: JournalSource, from: number): JournalSource => ({
  size: journal.size - from,
  *pieces() {
    for (let at = from; at < journal.size; at += PIECE_BYTES)
      yield journal.readAt(at, Math.min(PIECE_BYTES, journal.size - at));
  },
  readAt: (offset, length) => journal.readAt(from + offset, length),
  close: () => journal.close(),
});
