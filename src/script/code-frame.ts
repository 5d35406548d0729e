/** Where JavaScript ends a line; a CRLF pair is one end. */
const LINE_END = /\r\n|[\n\r\u2028\u2029]/;
/** Shown as `�`: they would move the cursor, colour the terminal or reorder what a reader sees. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to hide
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
const WIDE =
  /^(?:\p{Extended_Pictographic}|\p{Regional_Indicator}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/u;
const TAB = '  ';

/** Splits text into lines as a JavaScript engine counts them. */
export const splitLines = (text: string): string[] => text.split(LINE_END);

/**
 * A few lines of source with one place marked, for people.
 *
 * @param line from 1; outside the text the nearest line is shown
 * @param column from 1, in UTF-16 units; behind the end of the line its end is marked
 * @param options.context lines shown before and after (default 2)
 * @param options.width longest piece of a line that is shown, in characters (default 100); a longer one is cut around the column
 *
 * @example
 * codeFrame('a\nb c\nd', 2, 3)
 * //   1 | a
 * // > 2 | b c
 * //     |   ^
 * //   3 | d
 */
export function codeFrame(
  source: string,
  line: number,
  column: number,
  options: { context?: number; width?: number } = {},
): string {
  return drawFrame(splitLines(source.replace(/^\ufeff/, '')), line, column, options);
}

/** `codeFrame` of text that has been split already. */
export function drawFrame(
  lines: readonly string[],
  line: number,
  column: number,
  options: { context?: number; width?: number } = {},
): string {
  const { context = 2, width = 100 } = options;
  const marked = Math.min(Math.max(1, Math.trunc(line) || 1), lines.length);
  const first = Math.max(1, marked - context);
  const last = Math.min(lines.length, marked + context);
  const digits = String(last).length;
  const rows: string[] = [];
  for (let number = first; number <= last; number++) {
    const text = lines[number - 1] as string;
    const row = (piece: string) =>
      `${number === marked ? '>' : ' '} ${String(number).padStart(digits)} | ${piece}`.trimEnd();
    if (number !== marked) {
      rows.push(row(cutLine(text, 0, width).piece));
      continue;
    }
    const at = Math.min(Math.max(0, (Math.trunc(column) || 1) - 1), text.length);
    const { piece, before } = cutLine(text, at, width);
    rows.push(row(piece), `  ${' '.repeat(digits)} | ${' '.repeat(shownWidth(before))}^`);
  }
  return rows.join('\n');
}

/** The part of a line around `at`, made printable, and what stands in it before `at`. */
function cutLine(text: string, at: number, width: number): { piece: string; before: string } {
  let start = 0;
  let end = text.length;
  if (text.length > width) {
    start = Math.max(0, Math.min(at - Math.floor(width / 2), text.length - width));
    end = start + width;
    // Not inside a surrogate pair.
    if (isLowSurrogate(text, start)) start--;
    if (isLowSurrogate(text, end)) end++;
  }
  const head = start > 0 ? '…' : '';
  const tail = end < text.length ? '…' : '';
  const before = head + makePrintable(text.slice(start, at));
  return { piece: head + makePrintable(text.slice(start, end)) + tail, before };
}

const isLowSurrogate = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;

const makePrintable = (text: string): string =>
  text.toWellFormed().replace(UNPRINTABLE, '\ufffd').replaceAll('\t', TAB);

/** Columns that a terminal gives to a text: two for wide characters, one for a character with its marks. */
function shownWidth(text: string): number {
  if (/^[\x20-\x7e…]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) {
    width += WIDE.test(segment) ? 2 : 1;
  }
  return width;
}
