/** What must hold of every run of a generated chain, by its journal and its plan. */
import { expect } from 'vitest';
import type { PlannedCall } from '../../src/engine/plan.js';
import { memorySource } from '../../src/journal/memory-store.js';
import { readWholeResult, scanJournal } from '../../src/journal/read-journal.js';
import type { ModelRun } from './model-run.js';

export function checkPlan(plan: readonly PlannedCall[], run: ModelRun): void {
  const hits = plan.filter((call) => call.decision === 'hit').map((call) => call.n);
  const live = plan.filter((call) => call.decision === 'live').map((call) => call.n);
  const sorted = (list: number[]): number[] => [...list].sort((a, b) => a - b);
  const first = (type: 'h' | 'c'): number[] =>
    run.told.slice(0, run.toldFirst).flatMap((event) => (event[0] === type ? [event[1]] : []));
  // A kill may come before the first rest; what was seen until then must agree.
  if (run.killed && !run.rested) {
    for (const n of first('h')) expect(hits).toContain(n);
    for (const n of first('c')) expect(live).toContain(n);
    return;
  }
  expect(sorted(first('h'))).toEqual(sorted(hits));
  expect(sorted(first('c'))).toEqual(sorted(live));
}

/** Every line but a cut last one parses; a hit has the key of what it delivers; no answer is delivered twice. */
export function checkJournal(run: ModelRun): void {
  const scan = scanJournal(memorySource(run.journal));
  const kept = new Map<number, string>();
  const delivered = new Set<number>();
  const places = new Set<number>();
  for (;;) {
    const next = scan.next();
    if (next.done) {
      expect(next.value.bad.length).toBeLessThanOrEqual(run.killed ? 1 : 0);
      return;
    }
    const line = next.value;
    if (line.type === 'script') continue;
    if (line.header.seq !== undefined) {
      expect(places.has(line.header.seq)).toBe(false);
      places.add(line.header.seq);
    }
    if (line.type === 'result' && line.header.kept !== undefined) kept.set(line.header.kept, line.header.key);
    if (line.type === 'hit') {
      expect(kept.get(line.header.of)).toBe(line.header.key);
      expect(delivered.has(line.header.of)).toBe(false);
      delivered.add(line.header.of);
    }
  }
}

/**
 * Answers whose line is whole in the journal: the run was killed after it had them. `made` has the key of each that this
 * run was charged for.
 */
export function answersIn(journal: Buffer): { made: Map<string, string>; delivered: Set<string> } {
  const made = new Map<string, string>();
  const delivered = new Set<string>();
  const kept = new Map<number, string>();
  for (const line of scanJournal(memorySource(journal))) {
    if (line.type === 'result' && line.header.kind === 'ok') {
      const output = String(readWholeResult(line).output);
      if (line.header.kept === undefined) {
        made.set(output, line.header.key);
        delivered.add(output);
      } else kept.set(line.header.kept, output);
    } else if (line.type === 'hit') delivered.add(kept.get(line.header.of) as string);
  }
  return { made, delivered };
}

/**
 * A timer made before the script has seen a live outcome, with the n and ms of a recorded one, does not wait; every other
 * one does. At the first live outcome all recorded ones that the script had made have fired.
 */
export function checkTimers(run: ModelRun): void {
  const recorded = new Set<string>();
  for (const { type, header } of scanJournal(memorySource(run.journal)))
    if (type === 'timer' && header.kept !== undefined) recorded.add(`${header.n} ${header.ms} ${header.path ?? ''}`);
  const firstLive = run.told.findIndex(([type]) => type === 'd');
  for (const [i, event] of run.told.entries()) {
    const isBefore = firstLive < 0 || i < firstLive;
    if (event[0] === 't') expect([isBefore, recorded.has(event.slice(1).join(' '))]).toEqual([true, true]);
    else if (event[0] === 'T' && isBefore) expect(recorded).not.toContain(event.slice(2).join(' '));
  }
}

/**
 * Keys of calls that were asked although an answer of their key lay there that nobody was given: at a rest each open call
 * takes one that is free, so that whatever is dispatched has found none.
 */
export function findNeedless(journal: Buffer): string[] {
  const free = new Map<number, string>();
  const asked = new Set<string>();
  for (const line of scanJournal(memorySource(journal))) {
    if (line.type === 'hit') free.delete(line.header.of);
    if (line.type !== 'result' || line.header.kind !== 'ok') continue;
    if (line.header.kept !== undefined) free.set(line.header.kept, line.header.key);
    else if (readWholeResult(line).opts?.cache !== false) asked.add(line.header.key);
  }
  return [...free.values()].filter((key) => asked.has(key));
}

/** What the script was given, in order: calls by number, timers by workflow and number. */
export function deliveriesIn(journal: Buffer): string[] {
  const found: { seq: number; what: string }[] = [];
  for (const { type, header } of scanJournal(memorySource(journal))) {
    if (header.seq === undefined || type === 'script') continue;
    found.push({ seq: header.seq, what: type === 'timer' ? `timer ${header.path ?? ''} ${header.n}` : `#${header.n}` });
  }
  return found.sort((a, b) => a.seq - b.seq).map(({ what }) => what);
}
