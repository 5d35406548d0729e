/** The first thing that stands in the journal of a resumed run: what the source run had. */
import { type CarriedLines, carryLines } from '../journal/carry.js';
import type { JournalStore } from '../journal/store.js';
import { messageOf, systemCode, WfError } from '../shared/errors.js';
import type { SourceJournal } from './source-run.js';

/**
 * When it returns, the lines are on the disk.
 *
 * @throws WfError `WF_RUNS_DIR` when they cannot be written: nothing has been spent yet, so nothing is lost by stopping
 */
export function takeOver(source: SourceJournal | undefined, journal: JournalStore): CarriedLines | undefined {
  if (source === undefined) return undefined;
  const carried = carryLines(source.journal, source.runId, journal);
  const reason = journal.unwritten.lines > 0 ? journal.unwritten.reason : whyNotOnDisk(journal);
  if (reason === undefined) return carried;
  throw new WfError('WF_RUNS_DIR', `The journal of the new run cannot be written (${reason}); nothing was started.`, {
    remedy: 'Make room on the disk, or name another place with --runs-dir.',
  });
}

function whyNotOnDisk(journal: JournalStore): string | undefined {
  try {
    journal.syncNow();
    return undefined;
  } catch (error) {
    return systemCode(error) ?? messageOf(error);
  }
}
