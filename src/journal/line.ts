/**
 * One line of the journal as bytes: JSON whose last member `sum` is the CRC-32 of the bytes before `,"sum":`.
 *
 * A result line starts with a header of plain members and continues with `"size":N,"output":<raw>`, so that a reader
 * finds key and answer without parsing the answer: inside a JSON string every quote is escaped, so the first
 * `,"output":` of a line whose header holds no nested object is the member itself.
 */
import { crc32 } from 'node:zlib';
import { JOURNAL_VERSION, type ResultEntry } from './entry.js';

/** `,"sum":"01234567"}` */
const TAIL_LENGTH = 18;
/** With its newline, and the digits to be overwritten from the right. */
const TAIL = ',"sum":"00000000"}\n';
const OUTPUT_MARK = Buffer.from(',"output":');

/** Puts the checksum into the tail of the line that lies there. */
function writeSum(buffer: Buffer, start: number, end: number): void {
  const sumAt = end - TAIL_LENGTH - 1;
  const sum = crc32(buffer.subarray(start, sumAt)).toString(16);
  buffer.write(sum, sumAt + 16 - sum.length, 'latin1');
}

/** Gathers sealed lines in one buffer, which is used again and again: a buffer a line is what costs. */
export interface LineBatch {
  /** Adds a line of header text and raw bytes that follow it. */
  add(head: string, rest: Buffer): void;
  /** Adds a line of an open JSON object's text, in pieces. */
  addText(pieces: readonly string[]): void;
  /** Everything added since the last `take`; the bytes are valid until more is added. */
  take(): Buffer;
  readonly size: number;
}

/** Longer texts are measured, not guessed. */
const MEASURED = 1 << 16;
const mostBytes = (text: string): number => (text.length > MEASURED ? Buffer.byteLength(text) : text.length * 3);

export function createLineBatch(capacity: number): LineBatch {
  let buffer = Buffer.allocUnsafe(capacity);
  let end = 0;
  const reserve = (bytes: number): void => {
    if (end + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, end + bytes));
    buffer.copy(larger, 0, 0, end);
    buffer = larger;
  };
  const write = (text: string): void => {
    end += buffer.write(text, end);
  };
  const seal = (start: number): void => {
    end += buffer.write(TAIL, end, 'latin1');
    writeSum(buffer, start, end);
  };
  return {
    add(head, rest) {
      reserve(mostBytes(head) + rest.length + TAIL.length);
      const start = end;
      write(head);
      end += rest.copy(buffer, end);
      seal(start);
    },
    addText(pieces) {
      let most = TAIL.length;
      for (const piece of pieces) most += mostBytes(piece);
      reserve(most);
      const start = end;
      for (const piece of pieces) write(piece);
      seal(start);
    },
    take() {
      const taken = buffer.subarray(0, end);
      end = 0;
      // What one huge answer needed is not held for ever.
      if (buffer.length > capacity * 4) buffer = Buffer.allocUnsafe(capacity);
      return taken;
    },
    get size() {
      return end;
    },
  };
}

/** The start of a result line up to its `kind`. */
export function resultHeader(
  entry: Pick<
    ResultEntry,
    'seq' | 'n' | 'key' | 'path' | 'nth' | 'label' | 'phase' | 'from' | 'kept' | 'passed' | 'kind'
  >,
): string {
  return (
    `{"v":${JOURNAL_VERSION},"type":"result"` +
    (entry.seq === undefined ? '' : `,"seq":${entry.seq}`) +
    `,"n":${entry.n},"key":"${entry.key}","path":${JSON.stringify(entry.path)},"nth":${entry.nth}` +
    (entry.label === undefined ? '' : `,"label":${JSON.stringify(entry.label)}`) +
    (entry.phase == null ? '' : `,"phase":${JSON.stringify(entry.phase)}`) +
    (entry.from === undefined ? '' : `,"from":${JSON.stringify(entry.from)}`) +
    (entry.kept === undefined ? '' : `,"kept":${entry.kept}`) +
    (entry.passed === true ? ',"passed":true' : '') +
    `,"kind":"${entry.kind}"`
  );
}

export type LineFault = 'empty' | 'not UTF-8' | 'not JSON' | 'no checksum' | 'wrong checksum' | 'torn' | 'too long';

export interface DecodedLine {
  /** Every member before `output` (all members for lines without one). */
  header: Record<string, unknown>;
  /** Raw JSON bytes of `output`, when the line has one. */
  output: Buffer | undefined;
  /** Bytes between `output` and `,"sum":`: members for people (`,"backend":…`), or empty. */
  rest: Buffer;
  /** The line's checksum: equal lines have equal ones. */
  sum: number;
}

/** @param line bytes without the newline; a trailing CR and a leading BOM are ignored */
export function decodeLine(line: Buffer): DecodedLine | LineFault {
  let bytes = line;
  if (bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes = bytes.subarray(3);
  if (bytes.length > 0 && bytes[bytes.length - 1] === 0x0d) bytes = bytes.subarray(0, -1);
  if (bytes.length === 0) return 'empty';
  if (bytes.length < TAIL_LENGTH) return 'torn';
  const end = bytes.length - TAIL_LENGTH;
  const tail = bytes.toString('latin1', end);
  if (!tail.startsWith(',"sum":"') || !tail.endsWith('"}')) return looksCut(bytes) ? 'torn' : 'no checksum';
  const sum = crc32(bytes.subarray(0, end));
  if (Number.parseInt(tail.slice(8, 16), 16) !== sum) return 'wrong checksum';
  return split(bytes.subarray(0, end), sum);
}

function looksCut(bytes: Buffer): boolean {
  return bytes[0] === 0x7b && bytes[bytes.length - 1] !== 0x7d;
}

function split(body: Buffer, sum: number): DecodedLine | LineFault {
  const mark = body.indexOf(OUTPUT_MARK);
  if (mark > 0) {
    const header = parseObject(`${body.toString('utf8', 0, mark)}}`);
    const size = header?.size;
    const start = mark + OUTPUT_MARK.length;
    if (typeof size === 'number' && Number.isInteger(size) && size > 0 && start + size <= body.length) {
      const rest = body.subarray(start + size);
      // Where no other member begins behind it, the size is not that of the answer.
      if (rest.length === 0 || (rest[0] === 0x2c && rest[1] === 0x22)) {
        return { header: header as Record<string, unknown>, output: body.subarray(start, start + size), rest, sum };
      }
    }
  }
  const header = parseObject(`${body.toString('utf8')}}`);
  if (header === undefined) return 'not JSON';
  if (!('output' in header)) return { header, output: undefined, rest: body.subarray(0, 0), sum };
  const { output, ...others } = header;
  return { header: others, output: Buffer.from(JSON.stringify(output)), rest: body.subarray(0, 0), sum };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Every member of a line, parsed. What the reader of the line went by wins over a second member of that name; an answer
 * that is no JSON, which only a line with a forged checksum has, is left out.
 */
export function parseWholeLine(line: DecodedLine): Record<string, unknown> {
  if (line.output === undefined) return line.header;
  const output = parseValue(line.output.toString('utf8'));
  return { ...parseRest(line), ...line.header, ...(output === undefined ? {} : { output }) };
}

/** The members behind the answer; undefined where what stands there is not a list of members. */
export const parseRest = (line: DecodedLine): Record<string, unknown> | undefined =>
  line.rest.length === 0 ? {} : parseObject(`{${line.rest.toString('utf8', 1)}}`);

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
