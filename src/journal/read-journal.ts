/**
 * Reads a journal tolerantly: a bad line is skipped alone, counted with its number and fault, and drops nothing before
 * or after it. Only an unknown newer version stops the reading, by name: that is not damage.
 */
import { hash } from 'node:crypto';
import { WfError } from '../shared/errors.js';
import { type HitEntry, JOURNAL_VERSION, type ResultEntry, type ScriptEntry, type TimerEntry } from './entry.js';
import { dropMisshapen, hasEntryShape } from './entry-shape.js';
import { type DeepFault, findDeepFault, type LineDepth } from './line-depth.js';
import { type DecodedLine, decodeLine, type LineFault, parseWholeLine } from './line.js';
import type { JournalSource } from './store.js';

/** A line longer than this is damage: the largest answer is 16 MB, and so is the largest prompt. */
const MAX_LINE_BYTES = 128 << 20;

export type HeaderOf<T> = Omit<T, 'output'>;

export type ScannedLine = {
  /** Physical line, from 1. */
  line: number;
  /** Place of the line's bytes in the journal. */
  offset: number;
  length: number;
  decoded: DecodedLine;
} & (
  | { type: 'result'; header: HeaderOf<ResultEntry> }
  | { type: 'hit'; header: HitEntry }
  | { type: 'timer'; header: TimerEntry }
  | { type: 'script'; header: ScriptEntry }
);

export interface BadLine {
  line: number;
  fault: LineFault | DeepFault | 'unknown kind' | 'unknown version' | 'source does not fit its sha256';
}

export interface JournalDamage {
  bad: BadLine[];
  /** The last line is cut off and nothing follows it: the usual trace of a kill, not of damage. */
  tornTail: boolean;
}

/**
 * Yields each good line; returns what was bad.
 *
 * @param depth how far a line is looked into before it is good
 * @throws WfError `WF_VERSION_NEWER` when a line with a right checksum has a larger `v`
 */
export function* scanJournal(
  source: JournalSource,
  depth: LineDepth = 'header',
): Generator<ScannedLine, JournalDamage> {
  const bad: BadLine[] = [];
  let lastFault: BadLine | undefined;
  let number = 0;
  for (const { bytes, offset, closed } of splitLines(source)) {
    number++;
    const found = scanLine(bytes, number, offset, depth);
    lastFault = undefined;
    if ('fault' in found) {
      // An empty line says nothing: it is what closing a torn tail may leave.
      if (found.fault === 'empty') continue;
      bad.push(found);
      if (!closed) lastFault = found;
    } else yield found;
  }
  return { bad, tornTail: lastFault !== undefined };
}

interface RawLine {
  /** `null` where there are more than a line can have. */
  bytes: Buffer | null;
  offset: number;
  closed: boolean;
}

function* splitLines(source: JournalSource): Generator<RawLine> {
  let carry: Buffer[] = [];
  let carried = 0;
  let lineStart = 0;
  for (const piece of source.pieces()) {
    let from = 0;
    for (let at = piece.indexOf(0x0a); at >= 0; at = piece.indexOf(0x0a, from)) {
      const end = piece.subarray(from, at);
      yield { bytes: joinLine(carry, carried, end), offset: lineStart, closed: true };
      lineStart += carried + (at - from) + 1;
      carry = [];
      carried = 0;
      from = at + 1;
    }
    if (from < piece.length) {
      carried += piece.length - from;
      // What is too long to be a line is counted, not kept.
      if (carried <= MAX_LINE_BYTES) carry.push(piece.subarray(from));
      else carry = [];
    }
  }
  if (carried > 0) yield { bytes: joinLine(carry, carried, Buffer.alloc(0)), offset: lineStart, closed: false };
}

function joinLine(carry: readonly Buffer[], carried: number, end: Buffer): Buffer | null {
  if (carried + end.length > MAX_LINE_BYTES) return null;
  return carried === 0 ? end : Buffer.concat([...carry, end]);
}

function scanLine(bytes: Buffer | null, line: number, offset: number, depth: LineDepth): ScannedLine | BadLine {
  if (bytes === null) return { line, fault: 'too long' };
  const decoded = decodeLine(bytes);
  if (typeof decoded === 'string') return { line, fault: decoded };
  const { header } = decoded;
  if (typeof header.v === 'number' && header.v > JOURNAL_VERSION) {
    throw new WfError(
      'WF_VERSION_NEWER',
      `Journal line ${line} has format version ${header.v}; this wf reads up to ${JOURNAL_VERSION}.`,
      {
        remedy: 'Use the wf that wrote this run, or a newer one.',
      },
    );
  }
  if (header.v !== JOURNAL_VERSION) return { line, fault: 'unknown version' };
  const type = header.type;
  if (type !== 'result' && type !== 'hit' && type !== 'timer' && type !== 'script')
    return { line, fault: 'unknown kind' };
  if (!hasEntryShape(type, header)) return { line, fault: 'wrong shape' };
  if (type === 'result' && header.kind === 'ok' && decoded.output === undefined) return { line, fault: 'wrong shape' };
  // A child's text is executed: it must be the one that was recorded.
  if (type === 'script' && hash('sha256', header.source as string, 'hex') !== header.sha256)
    return { line, fault: 'source does not fit its sha256' };
  const deep = type === 'result' ? findDeepFault(decoded, depth) : undefined;
  if (deep !== undefined) return { line, fault: deep };
  return { line, offset, length: bytes.length, decoded, type, header } as unknown as ScannedLine;
}

/** Every member of a result line, its answer and the members for people included; such as are of a wrong type are left out. */
export function readWholeResult(line: Pick<ScannedLine, 'decoded'>): ResultEntry {
  return dropMisshapen(parseWholeLine(line.decoded)) as unknown as ResultEntry;
}

/** The same of a line whose place is known, as it stands there now. */
export function readResultAt(source: JournalSource, offset: number, length: number): ResultEntry {
  const decoded = decodeLine(source.readAt(offset, length));
  if (typeof decoded === 'string') throw new Error(`the journal changed while it was read (${decoded})`);
  return readWholeResult({ decoded });
}

/** "3 unreadable lines (2: wrong checksum, 5: torn, …)", or undefined when nothing is bad beyond a torn tail. */
export function describeDamage(damage: JournalDamage): string | undefined {
  if (damage.bad.length === 0) return undefined;
  const shown = damage.bad.slice(0, 5).map((bad) => `line ${bad.line}: ${bad.fault}`);
  const more = damage.bad.length > shown.length ? `, and ${damage.bad.length - shown.length} more` : '';
  return `${damage.bad.length} unreadable ${damage.bad.length === 1 ? 'line' : 'lines'} (${shown.join(', ')}${more})`;
}
