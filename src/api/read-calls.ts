/** The calls of a run as its journal and its events tell them. Nothing is written, nothing is locked. */
import { join } from 'node:path';
import { openFileSource } from '../journal/file-store.js';
import type { ResultEntry } from '../journal/entry.js';
import {
  describeDamage,
  readResultAt,
  readWholeResult,
  type ScannedLine,
  scanJournal,
} from '../journal/read-journal.js';
import { JOURNAL_FILE } from '../runs/runs-folder.js';
import { messageOf, systemCode, WfError } from '../shared/errors.js';
import type { CallDetail } from './call-view.js';
import { readCallEvents } from './read-call-events.js';

export interface ReadCalls {
  /** In call order, without texts: a journal may be larger than the memory. */
  calls: CallDetail[];
  /** By number of a call whose end was told of: the highest number of a call that had been told of by then. */
  askedByEnd: ReadonlyMap<number, number>;
  notices: string[];
  /** One call with its texts. */
  readDetail(n: number): CallDetail | undefined;
}

type Place = Pick<ScannedLine, 'offset' | 'length'>;

/** @param running the run's owner was seen to live, so an open call may be running */
export function readCalls(folder: string, running: boolean): ReadCalls {
  const notices: string[] = [];
  const calls = new Map<number, CallDetail>();
  const places = new Map<number, Place>();
  const askedByEnd = readCallEvents(folder, running, calls, notices);
  readJournalCalls(folder, calls, places, notices);
  return {
    calls: [...calls.values()].sort((a, b) => a.n - b.n),
    askedByEnd,
    notices,
    readDetail(n) {
      const call = calls.get(n);
      const place = places.get(n);
      return call === undefined || place === undefined ? call : { ...call, ...readTexts(folder, place) };
    },
  };
}

function readTexts(folder: string, { offset, length }: Place): Pick<CallDetail, 'prompt' | 'options' | 'output'> {
  const source = openFileSource(join(folder, JOURNAL_FILE));
  try {
    const entry = readResultAt(source, offset, length);
    return {
      ...(entry.prompt === undefined ? {} : { prompt: entry.prompt }),
      ...(entry.opts === undefined ? {} : { options: entry.opts }),
      ...('output' in entry ? { output: entry.output } : {}),
    };
  } finally {
    source.close();
  }
}

function readJournalCalls(
  folder: string,
  calls: Map<number, CallDetail>,
  places: Map<number, Place>,
  notices: string[],
): void {
  let source: ReturnType<typeof openFileSource>;
  try {
    source = openFileSource(join(folder, JOURNAL_FILE));
  } catch (error) {
    notices.push(`The journal cannot be read (${systemCode(error) ?? messageOf(error)}): no result is known.`);
    return;
  }
  try {
    const kept = new Map<string, { view: CallDetail; place: Place }>();
    let hidden = 0;
    const scan = scanJournal(source, 'line');
    for (;;) {
      const next = scan.next();
      if (next.done) {
        const damage = describeDamage(next.value);
        if (damage !== undefined) notices.push(`The journal has ${damage}.`);
        if (hidden > 0) notices.push(describeHidden(hidden));
        return;
      }
      const line = next.value;
      if (line.type === 'result') {
        const entry = readWholeResult(line);
        const place = { offset: line.offset, length: line.length };
        if (entry.kept !== undefined) {
          kept.set(`${entry.kept} ${entry.key}`, {
            view: { ...fromResult(entry, undefined), from: entry.from ?? null },
            place,
          });
          continue;
        }
        if (places.has(entry.n) && calls.get(entry.n)?.key !== entry.key) {
          hidden++;
          continue;
        }
        calls.set(entry.n, fromResult(entry, calls.get(entry.n)));
        places.set(entry.n, place);
      } else if (line.type === 'hit') {
        const { n, seq, nth, path, key, label, phase, of } = line.header;
        const answer = kept.get(`${of} ${key}`);
        if (answer === undefined) continue;
        const told = { n, seq: seq ?? null, nth, path, key, label: label ?? '', phase: phase ?? null };
        calls.set(n, { ...answer.view, ...told, reused: true });
        places.set(n, answer.place);
      }
    }
  } catch (error) {
    if (!WfError.is(error)) throw error;
    notices.push(error.message);
  } finally {
    source.close();
  }
}

const describeHidden = (lines: number): string =>
  `The journal has ${lines === 1 ? '1 result' : `${lines} results`} more, of calls whose numbers other lines have: ` +
  'lines of another run stand in it. They are not shown; a resume reuses them.';

function fromResult(entry: ResultEntry, seen: CallDetail | undefined): CallDetail {
  return {
    n: entry.n,
    seq: entry.seq ?? null,
    nth: entry.nth,
    path: entry.path,
    key: entry.key,
    label: entry.label ?? seen?.label ?? '',
    phase: entry.phase ?? seen?.phase ?? null,
    status: entry.kind,
    reused: false,
    from: null,
    attempts: entry.attempts ?? 0,
    startedAt: entry.startedAt ?? null,
    endedAt: entry.endedAt ?? null,
    ...(entry.error === undefined ? {} : { error: entry.error }),
    ...(entry.worktrees === undefined ? {} : { worktrees: entry.worktrees }),
    ...(entry.lastTry === true ? { lastTry: true } : {}),
    ...(entry.usage === undefined ? {} : { usage: entry.usage }),
    ...(entry.model === undefined ? {} : { model: entry.model }),
    ...(entry.backend === undefined ? {} : { backend: entry.backend }),
    ...(entry.sessionId === undefined ? {} : { sessionId: entry.sessionId }),
  };
}
