/**
 * What a resume takes over: every usable line of the source, in order — delivered lines by place first, then those that
 * were kept and never asked for. They are written into the new journal before anything is dispatched, so that a run can
 * be resumed from its first dispatch on, whatever it reached and whatever is pruned.
 */
import { answerPlace, restAfterKind } from './canonical-line.js';
import { type Candidate, collectCandidates } from './collect-candidates.js';
import { resultText, scriptText, timerText } from './encode.js';
import { hasAskedNobody, type ResultEntry } from './entry.js';
import { createLineBatch, type DecodedLine, decodeLine, type LineBatch, parseWholeLine, resultHeader } from './line.js';
import { type HeaderOf, type JournalDamage, readResultAt } from './read-journal.js';
import type { JournalSource, JournalStore } from './store.js';

/** A line as the new run knows it; `kept` is its ordinal and its place in the replay. */
export type KeptLine =
  | (KeptResult & { type: 'result' })
  | { type: 'timer'; kept: number; n: number; ms: number; path: string }
  | { type: 'script'; kept: number; name: string; path: string | null; sha256: string; source: string };

export interface KeptResult {
  kept: number;
  kind: 'ok' | 'failed' | 'skipped';
  n: number;
  key: string;
  path: string;
  nth: number;
  label: string | undefined;
  phase: string | undefined;
  /** Run that made it. */
  from: string;
  madeUp: boolean;
  /** Bytes of its answer's JSON text. */
  size: number;
  outputTokens: number;
  usd: number | null;
  /** That its call left behind. */
  worktrees?: ResultEntry['worktrees'];
  /** It fitted its schema only at the last try. */
  lastTry?: true;
  /** Place of the answer in the source journal; of the whole line where `canonical` is false. */
  outputOffset: number;
  canonical: boolean;
  /** Place of the whole line in the source journal. */
  lineOffset: number;
  lineLength: number;
  /** It was delivered in the source run. */
  delivered: boolean;
  /** No agent did anything for it: refused by a ceiling, skipped in the queue, or made up. */
  askedNobody?: true;
  /** A run of the chain made outcomes of its own and never came to ask for it. */
  passed?: true;
}

export interface CarriedLines {
  lines: KeptLine[];
  damage: JournalDamage;
  /** Raw bytes of an answer, JSON. */
  readOutput(result: KeptResult): Buffer;
  /** Every member of a line, the prompt and the options included. */
  readEntry(result: KeptResult): ResultEntry;
}

/** Lines are written in batches of about this size. */
const BATCH_BYTES = 1 << 20;

/**
 * Copies the usable lines of `source` into `store` and returns them as the new run's kept lines.
 *
 * @param sourceRun id of the run that `source` belongs to
 * @throws WfError `WF_VERSION_NEWER`
 */
export function carryLines(source: JournalSource, sourceRun: string, store: JournalStore): CarriedLines {
  const { candidates, damage } = collectCandidates(source);
  const lines: KeptLine[] = [];
  const batch = createLineBatch(BATCH_BYTES + (BATCH_BYTES >> 2));
  const write = (): void => {
    if (batch.size > 0) store.append(batch.take());
  };
  const timers = new Set<string>();
  for (const candidate of candidates) {
    const { header } = candidate;
    if (header.type === 'timer') {
      // It stands here as it was kept and again where it fired: that place, which comes first, is the one that counts.
      const id = JSON.stringify([header.path ?? '', header.n, header.ms]);
      if (timers.has(id)) continue;
      timers.add(id);
    }
    const kept = lines.length + 1;
    const line = copyLine(candidate, kept, sourceRun, source, batch);
    if (line === undefined) continue;
    lines.push(line);
    if (batch.size >= BATCH_BYTES) write();
  }
  write();
  return {
    lines,
    damage,
    readOutput: (result) => readOutput(source, result),
    readEntry: (result) => readResultAt(source, result.lineOffset, result.lineLength),
  };
}

function readOutput(source: JournalSource, result: KeptResult): Buffer {
  if (result.canonical) return source.readAt(result.outputOffset, result.size);
  const decoded = decodeLine(source.readAt(result.outputOffset, result.lineLength));
  return typeof decoded === 'string' ? Buffer.from('null') : (decoded.output ?? Buffer.from('null'));
}

function copyLine(
  candidate: Candidate,
  kept: number,
  sourceRun: string,
  source: JournalSource,
  batch: LineBatch,
): KeptLine | undefined {
  const { header } = candidate;
  const from = header.from ?? sourceRun;
  if (header.type === 'timer') {
    const line: KeptLine = { type: 'timer', kept, n: header.n, ms: header.ms, path: header.path ?? '' };
    batch.addText([timerText({ from, kept, n: line.n, ms: line.ms, path: line.path })]);
    return line;
  }
  if (header.type === 'script') {
    const { name, path, sha256, source: text } = header;
    const line: KeptLine = { type: 'script', kept, name, path, sha256, source: text };
    batch.addText([scriptText({ from, kept, name, path, sha256, source: text })]);
    return line;
  }
  return copyResult(candidate, header, { from, kept }, source, batch);
}

function copyResult(
  candidate: Candidate,
  header: HeaderOf<ResultEntry>,
  carried: { from: string; kept: number },
  source: JournalSource,
  batch: LineBatch,
): KeptLine | undefined {
  const taken = candidate.identity ?? header;
  const identity = {
    n: taken.n,
    key: header.key,
    path: taken.path,
    nth: taken.nth,
    label: taken.label,
    phase: taken.phase ?? undefined,
  };
  const passed = candidate.passed ? ({ passed: true } as const) : {};
  const raw = source.readAt(candidate.offset, candidate.length);
  const answerAt = candidate.canonical ? answerPlace(raw) : undefined;
  if (answerAt !== undefined) {
    batch.add(resultHeader({ ...identity, ...carried, ...passed, kind: header.kind }), restAfterKind(raw));
  } else {
    const decoded = decodeLine(raw);
    if (typeof decoded === 'string') return undefined;
    const rest = { ...readRest(decoded), ...identity, ...carried, ...passed, kind: header.kind };
    batch.addText(resultText(rest, decoded.output?.toString()));
  }
  return {
    type: 'result',
    ...identity,
    ...carried,
    kind: header.kind,
    madeUp: header.madeUp === true,
    size: candidate.size,
    outputTokens: header.usage?.outputTokens ?? 0,
    usd: header.usage?.usd ?? null,
    ...(header.worktrees === undefined ? {} : { worktrees: header.worktrees }),
    ...(header.lastTry === true ? { lastTry: true } : {}),
    outputOffset: candidate.offset + (answerAt ?? 0),
    canonical: answerAt !== undefined,
    lineOffset: candidate.offset,
    lineLength: candidate.length,
    delivered: candidate.place !== undefined,
    ...(hasAskedNobody(header) ? { askedNobody: true } : {}),
    ...passed,
  };
}

function readRest(line: DecodedLine): Partial<ResultEntry> {
  const {
    v: _v,
    type: _type,
    seq: _seq,
    size: _size,
    output: _output,
    passed: _passed,
    ...rest
  } = parseWholeLine(line);
  return rest as Partial<ResultEntry>;
}
