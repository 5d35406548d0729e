/** Why calls of a run ran live, after the fact: from its own journal, which holds all that it started with. */
import { join } from 'node:path';
import type { KeptResult } from '../journal/carry.js';
import type { ResultEntry } from '../journal/entry.js';
import { createMissExplainer } from '../journal/explain-miss.js';
import { openFileSource } from '../journal/file-store.js';
import { readResultAt, readWholeResult, scanJournal } from '../journal/read-journal.js';
import type { JournalSource } from '../journal/store.js';
import { findRun } from '../runs/find-run.js';
import { inspectRunRecord } from '../runs/run-records.js';
import { JOURNAL_FILE } from '../runs/runs-folder.js';
import { messageOf, WfError } from '../shared/errors.js';
import type { CallDetail } from './call-view.js';
import { findCall } from './find-call.js';
import { findPlaces } from './prepare-run.js';
import { readRun } from './read-run.js';
import type { RunWorkflowOptions } from './run-options.js';
import { createFateFinder, findEarlierFolder, openLineage } from './started-before.js';

export interface ExplainedCall {
  n: number;
  label: string;
  phase: string | null;
  path: string;
  key: string;
  decision: 'hit' | 'live';
  reason: string;
}

/**
 * @param id run, or a prefix that only one run has
 * @param call `#n`, or a prefix of a label or key that only one call has
 * @throws WfError `WF_RUN_ID`, `WF_RUN_UNKNOWN`, `WF_RUN_FOREIGN`, `WF_USAGE`
 */
export function explainRun(
  id: string,
  call?: string | undefined,
  where: Pick<RunWorkflowOptions, 'cwd' | 'home' | 'env' | 'runsDir'> = {},
): ExplainedCall[] {
  const { readFolders } = findPlaces(where);
  const { folder } = findRun(id, readFolders);
  const { details, readDetail, verdicts, unsupported } = readRun(id, where);
  if (verdicts !== undefined)
    throw new WfError('WF_RUN_FOREIGN', `This run cannot be explained: ${unsupported}.`, {
      remedy: `wf show ${id} tells what its files say.`,
    });
  const wanted = call === undefined ? undefined : findCall(details, call);
  if (wanted?.key === null)
    throw new WfError(
      'WF_USAGE',
      `Call #${wanted.n} ${wanted.label} has no key: it was refused before it was looked up.`,
      {
        remedy: `wf show ${id} '#${wanted.n}' tells why.`,
      },
    );
  const record = inspectRunRecord(folder);
  const run = record.kind === 'ok' ? record.record : undefined;
  const source = run?.lineage.resumedFrom ?? undefined;
  const journal = openOwnJournal(folder);
  try {
    const { kept, used } = readKept(journal);
    const explainer = createMissExplainer(
      kept,
      (result) => readResultAt(journal, result.lineOffset, result.lineLength),
      (result) => used.has(result.kept),
      createFateFinder(openLineage(source && findEarlierFolder(source, readFolders), readFolders)),
      {
        prefix: run?.options.match === 'prefix',
        onMock: run?.madeUp === true,
        liveKeys: details.flatMap(({ reused, key }) => (reused || key === null ? [] : [key])),
      },
    );
    const explainLive = (detail: CallDetail): string =>
      explainer.explain({
        n: detail.n,
        key: detail.key as string,
        path: detail.path ?? '',
        nth: detail.nth ?? 0,
        label: detail.label,
        prompt: detail.prompt,
        opts: detail.options,
      });
    return details
      .filter((detail) => (wanted === undefined ? detail.reused || detail.attempts > 0 : detail.n === wanted.n))
      .filter((detail) => detail.key !== null)
      .map((detail) => ({
        n: detail.n,
        label: detail.label,
        phase: detail.phase,
        path: detail.path ?? '',
        key: detail.key as string,
        decision: detail.reused ? ('hit' as const) : ('live' as const),
        reason: detail.reused ? `recorded in run ${detail.from}` : explainLive(readDetail(detail.n) ?? detail),
      }));
  } finally {
    journal.close();
  }
}

function openOwnJournal(folder: string): JournalSource {
  const path = join(folder, JOURNAL_FILE);
  try {
    return openFileSource(path);
  } catch (error) {
    throw new WfError('WF_RUN_DAMAGED', `The journal of this run cannot be read (${path}): ${messageOf(error)}.`, {
      remedy:
        'Nothing but the journal says why calls ran. Put it back from a copy if there is one; wf show tells the rest.',
    });
  }
}

/** What the run started with, and which of it was taken. */
function readKept(journal: JournalSource): { kept: KeptResult[]; used: Set<number> } {
  const kept: KeptResult[] = [];
  const used = new Set<number>();
  for (const line of scanJournal(journal, 'line')) {
    if (line.type === 'hit') used.add(line.header.of);
    else if (line.type === 'result' && line.header.kept !== undefined) kept.push(toKept(readWholeResult(line), line));
  }
  return { kept, used };
}

function toKept(entry: ResultEntry, line: { offset: number; length: number }): KeptResult {
  return {
    kept: entry.kept as number,
    kind: entry.kind,
    n: entry.n,
    key: entry.key,
    path: entry.path,
    nth: entry.nth,
    label: entry.label,
    phase: entry.phase ?? undefined,
    from: entry.from ?? '',
    ...(entry.passed ? { passed: true } : {}),
    madeUp: entry.madeUp === true,
    size: entry.size ?? 0,
    outputTokens: entry.usage?.outputTokens ?? 0,
    usd: entry.usage?.usd ?? null,
    outputOffset: 0,
    canonical: false,
    lineOffset: line.offset,
    lineLength: line.length,
    delivered: false,
  };
}
