/** What of a journal can be taken over, and in which order: delivered lines by place first, then those that were only kept. */
import { isCanonical } from './canonical-line.js';
import { type HitEntry, hasAskedNobody, type ResultEntry, type ScriptEntry, type TimerEntry } from './entry.js';
import { findDeepFault } from './line-depth.js';
import { type BadLine, type HeaderOf, type JournalDamage, type ScannedLine, scanJournal } from './read-journal.js';
import type { JournalSource } from './store.js';

export interface Candidate {
  place: number | undefined;
  order: number;
  identity: Pick<HitEntry, 'n' | 'key' | 'path' | 'nth' | 'label' | 'phase'> | undefined;
  offset: number;
  length: number;
  header: HeaderOf<ResultEntry> | TimerEntry | ScriptEntry;
  canonical: boolean;
  /** Bytes of the answer. */
  size: number;
  /** The run, or one before it, made outcomes of its own and never came to ask for this one. */
  passed: boolean;
}

/** The usable lines of a journal in the order in which they are taken over. @throws WfError `WF_VERSION_NEWER` */
export function collectCandidates(source: JournalSource): { candidates: Candidate[]; damage: JournalDamage } {
  const results = new Map<string, Candidate>();
  const byKept = new Map<string, Candidate>();
  const bad: BadLine[] = [];
  const others: Candidate[] = [];
  const hits: HitEntry[] = [];
  let order = 0;
  let hasOwn = false;
  const scan = scanJournal(source);
  for (;;) {
    const next = scan.next();
    if (next.done) {
      placeHits(byKept, hits);
      if (hasOwn) for (const candidate of results.values()) candidate.passed ||= candidate.header.from !== undefined;
      for (const candidate of results.values()) candidate.passed &&= candidate.place === undefined;
      const candidates = [...results.values(), ...others].sort(byPlace);
      return { candidates, damage: addBad(next.value, bad) };
    }
    const line: ScannedLine = next.value;
    if (line.type === 'hit') {
      hits.push(line.header);
      continue;
    }
    const { header } = line;
    const canonical = line.type === 'result' && isCanonical(line.decoded);
    // It is not taken over byte for byte, but read and written again.
    const fault = line.type === 'result' && !canonical ? findDeepFault(line.decoded, 'line') : undefined;
    if (fault !== undefined) {
      bad.push({ line: line.line, fault });
      continue;
    }
    const candidate: Candidate = {
      place: header.seq,
      order: order++,
      identity: undefined,
      offset: line.offset,
      length: line.length,
      header,
      canonical,
      size: line.decoded.output?.length ?? 0,
      passed: line.type === 'result' && line.header.passed === true,
    };
    if (line.type === 'result') {
      // A line that stands twice counts once. Two lines of one place are two answers: journals that somebody put together.
      const { seq, kept, key, from } = line.header;
      hasOwn ||= from === undefined && !hasAskedNobody(line.header);
      const place = seq !== undefined ? `s${seq}` : kept !== undefined ? `k${kept}` : `o${line.offset}`;
      const id = `${place} ${line.decoded.sum}`;
      if (results.has(id)) continue;
      results.set(id, candidate);
      if (kept !== undefined && !byKept.has(`${kept} ${key}`)) byKept.set(`${kept} ${key}`, candidate);
    } else others.push(candidate);
  }
}

/** A delivered hit gives its kept line a place and the identity of the call that took it. */
function placeHits(byKept: ReadonlyMap<string, Candidate>, hits: readonly HitEntry[]): void {
  for (const hit of hits) {
    const candidate = byKept.get(`${hit.of} ${hit.key}`);
    if (candidate === undefined || hit.seq === undefined || candidate.identity !== undefined) continue;
    candidate.place = hit.seq;
    candidate.identity = hit;
  }
}

const addBad = (damage: JournalDamage, bad: readonly BadLine[]): JournalDamage =>
  bad.length === 0 ? damage : { ...damage, bad: [...damage.bad, ...bad].sort((a, b) => a.line - b.line) };

function byPlace(a: Candidate, b: Candidate): number {
  const placeA = a.place ?? Number.POSITIVE_INFINITY;
  const placeB = b.place ?? Number.POSITIVE_INFINITY;
  return placeA === placeB ? a.order - b.order : placeA - placeB;
}
