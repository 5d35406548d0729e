/**
 * What the runs of a lineage had started, from the run whose journal is taken over back to the first one that is still
 * there. A run that was killed before it came to a call of its source knows nothing of it by itself.
 */
import type { KeptResult } from '../journal/carry.js';
import type { StartFate } from '../journal/explain-miss.js';
import { findRunById } from '../runs/find-run.js';
import { inspectRunRecord, inspectState } from '../runs/run-records.js';
import { readStartedCalls, type StartedCall } from './started-calls.js';

/** A run of the lineage, the newest first. */
export interface EarlierRun {
  runId: string;
  /** Read when first asked for: an account of events may be large. */
  started(): StartedCall[];
  /** It came to its end, and every call of it has an outcome: there is nothing to read. */
  isClean: boolean;
  /** The script came to its end in it: what was open then was awaited by nobody. */
  isComplete: boolean;
  /** On `mock`: what it asked was asked of nobody. */
  isMadeUp: boolean;
}

/** Reads a run only when it is asked for, and once, however often it is gone through: a chain of killed runs is long. */
export function openLineage(folder: string | undefined, runsFolders: readonly string[]): Iterable<EarlierRun> {
  const known: EarlierRun[] = [];
  const further = readLineage(folder, runsFolders);
  return {
    *[Symbol.iterator]() {
      for (let i = 0; ; i++) {
        if (i === known.length) {
          const next = further.next();
          if (next.done) return;
          known.push(next.value);
        }
        yield known[i] as EarlierRun;
      }
    },
  };
}

function* readLineage(
  folder: string | undefined,
  runsFolders: readonly string[],
): Generator<EarlierRun, void, undefined> {
  const seen = new Set<string>();
  for (let at: string | undefined = folder; at !== undefined; ) {
    const here = at;
    const run = inspectRunRecord(here);
    const state = inspectState(here);
    const end = state.kind === 'ok' && state.record.status === 'completed' ? state.record.counts : undefined;
    let started: StartedCall[] | undefined;
    const [runId, parent] = run.kind === 'ok' ? [run.record.runId, run.record.lineage.resumedFrom] : ['', null];
    seen.add(runId);
    yield {
      runId,
      started() {
        started ??= readStartedCalls(here);
        return started;
      },
      isComplete: end !== undefined,
      isMadeUp: run.kind === 'ok' && run.record.madeUp,
      isClean: end !== undefined && end.noResult === 0 && end.abandoned === 0,
    };
    at = parent === null || seen.has(parent) ? undefined : findEarlierFolder(parent, runsFolders);
  }
}

/** `undefined` for one that was pruned, or that may not be read: what it had started is not known any more. */
export function findEarlierFolder(runId: string, runsFolders: readonly string[]): string | undefined {
  try {
    return findRunById(runId, runsFolders).folder;
  } catch {
    return undefined;
  }
}

/** What became of the calls of a key, as the explainer of misses asks it. The lineage is read at the first question. */
export function createFateFinder(
  lineage: Iterable<EarlierRun>,
): (key: string, recordedLines: number) => StartFate | undefined {
  let fates: Map<string, { open: number; settled: number }> | undefined;
  return (key, recordedLines) => {
    fates ??= countStarts(lineage);
    const fate = fates.get(key);
    // A line may be there although the event that tells of it was lost with its run.
    if (fate === undefined || fate.open + fate.settled <= recordedLines) return undefined;
    return fate.open > 0 ? 'no-result' : 'lost';
  };
}

function countStarts(runs: Iterable<EarlierRun>): Map<string, { open: number; settled: number }> {
  const fates = new Map<string, { open: number; settled: number }>();
  for (const { started } of runs) {
    const later = new Set(fates.keys());
    for (const { key, settled } of started()) {
      if (key === undefined) continue;
      const fate = fates.get(key) ?? { open: 0, settled: 0 };
      if (settled) fate.settled++;
      // A later run started it anew, so what became of it then is what counts.
      else if (!later.has(key)) fate.open++;
      fates.set(key, fate);
    }
  }
  return fates;
}

/**
 * Calls that runs before the newest had started, that have no outcome, and that no later run has started anew.
 *
 * @param recorded the lines that are there, each with the run that made it
 */
export function findForgotten(
  runs: Iterable<EarlierRun>,
  recorded: readonly Pick<KeptResult, 'from' | 'key' | 'askedNobody'>[],
): { runId: string; open: StartedCall[] }[] {
  const forgotten: { runId: string; open: StartedCall[] }[] = [];
  const later = createCounter();
  let isNewest = true;
  /** Calls that a later, completed run asked for and had refused: how far they had come before is as open as it was. */
  let refused: Counter | undefined;
  for (const { runId, started, isComplete, isMadeUp } of runs) {
    if (isMadeUp) {
      isNewest = false;
      continue;
    }
    const own = recorded.filter(({ from }) => from === runId);
    if (isComplete) {
      if (!own.some(({ askedNobody }) => askedNobody)) break;
      refused ??= createCounter(own.filter(({ askedNobody }) => askedNobody));
    }
    const lines = createCounter(own.filter(({ askedNobody }) => !askedNobody));
    for (const { key, settled } of started()) if (settled) lines.take(key);
    // Of equal calls each line, and each later start, stands for one. Without its key none can be told from those.
    const open = started().filter(
      ({ key, settled }) => !settled && key !== undefined && !lines.take(key) && !later.take(key),
    );
    const told = isNewest || isComplete ? [] : open.filter(({ key }) => refused?.take(key) ?? true);
    if (told.length > 0) forgotten.push({ runId, open: told });
    isNewest = false;
    for (const { key } of started()) later.add(key);
  }
  return forgotten;
}

interface Counter {
  add(key: string | undefined): void;
  /** Whether there was one left. */
  take(key: string | undefined): boolean;
}

function createCounter(of: readonly { key: string }[] = []): Counter {
  const counts = new Map<string | undefined, number>();
  const add = (key: string | undefined): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const { key } of of) add(key);
  return {
    add,
    take(key) {
      const count = counts.get(key) ?? 0;
      if (count > 0) counts.set(key, count - 1);
      return count > 0;
    },
  };
}
