/** Damaged journals: which lines, what kind of damage, and what can still be reused. */
import { join } from 'node:path';
import { openFileSource } from '../../journal/file-store.js';
import { describeDamage, type JournalDamage, scanJournal } from '../../journal/read-journal.js';
import type { JournalSource } from '../../journal/store.js';
import { JOURNAL_FILE, lookAt } from '../../runs/runs-folder.js';
import { messageOf, systemCode, WfError } from '../../shared/errors.js';
import type { DoctorCheck, DoctorContext, DoctorRun, Finding } from './finding.js';
import { repairedCopyOf, writeRepairedCopy } from './repaired-copy.js';

const GOES_ON = 'A resume reuses what can be read and runs the rest.';

export const checkJournals: DoctorCheck = {
  name: 'journals',
  title: 'Journals',
  look(context) {
    // A run of another program is left alone; one whose record is damaged has a journal all the same.
    const runs = context.runs.filter(({ observed }) => observed.summary.unsupported === undefined);
    const findings = runs.flatMap((run) => lookAtJournal(run, context) ?? []);
    if (findings.length > 0) return findings;
    return runs.length === 0 ? [] : [{ status: 'ok', message: `No journal of ${runs.length} is damaged.` }];
  },
};

function lookAtJournal(run: DoctorRun, context: DoctorContext): Finding | undefined {
  const { runId, folder, observed } = run;
  const about = { runId, path: join(folder, JOURNAL_FILE) };
  const name = `The journal of run ${runId} (${observed.summary.workflow})`;
  let journal: JournalSource;
  try {
    journal = openFileSource(about.path);
  } catch (error) {
    const what = systemCode(error) === 'ENOENT' ? 'is missing' : `cannot be read (${messageOf(error)})`;
    return { status: 'warn', message: `${name} ${what}: no answer of it can be reused.`, ...about };
  }
  try {
    const { damage, reusable } = readThrough(journal);
    const lost = (observed.state?.journal.bytes ?? observed.record?.progress.journalBytes ?? 0) - journal.size;
    const words = describeDamage(damage);
    const faults = [
      ...(lost > 0 ? [`is ${lost} bytes shorter than its record says`] : []),
      ...(words === undefined ? [] : [`has ${words}`]),
    ].join(' and ');
    const answers = `${reusable} ${reusable === 1 ? 'answer' : 'answers'}`;
    if (observed.record === null) {
      const message = `${name} ${faults === '' ? 'is sound' : faults}: it holds ${answers}, and no resume can use them while run.json cannot be read.`;
      return { status: faults === '' ? 'note' : 'warn', message, ...about };
    }
    const still = `${answers} can be reused`;
    const isTorn = damage.tornTail && damage.bad.length === 1;
    if (words !== undefined && !isTorn) return tellDamage(run, context, `${name} ${faults}; ${still}.`);
    if (lost > 0) return { status: 'warn', message: `${name} ${faults}; ${still}.`, remedy: GOES_ON, ...about };
    // A line that is just being written looks the same.
    if (words === undefined || observed.summary.status === 'running') return undefined;
    return {
      status: 'note',
      message: `${name} ends in a cut line, as after a kill; ${still}.`,
      remedy: GOES_ON,
      ...about,
    };
  } catch (error) {
    if (!WfError.is(error)) throw error;
    return { status: 'note', message: `${name}: ${error.message}`, remedy: error.remedy ?? '', ...about };
  } finally {
    journal.close();
  }
}

function tellDamage(run: DoctorRun, { places }: DoctorContext, message: string): Finding {
  const about = { runId: run.runId, path: join(run.folder, JOURNAL_FILE) };
  const copy = repairedCopyOf(places.runsFolder, run.runId);
  if (lookAt(copy) !== undefined) {
    return { status: 'note', message: `${message} A copy without the bad lines is in ${copy}.`, ...about };
  }
  return {
    status: 'warn',
    message,
    remedy: `${GOES_ON} --fix writes a copy of the run without the bad lines; the journal itself stays as it is.`,
    ...about,
    // A live run would go on writing into the original.
    ...(run.observed.summary.status === 'running' ? {} : { fix: () => writeRepairedCopy(places.runsFolder, run) }),
  };
}

function readThrough(journal: JournalSource): { damage: JournalDamage; reusable: number } {
  const scan = scanJournal(journal, 'key');
  let reusable = 0;
  for (;;) {
    const next = scan.next();
    if (next.done) return { damage: next.value, reusable };
    if (next.value.type === 'result' && next.value.header.kind === 'ok') reusable++;
  }
}
