import { type SourcePlace, WfError } from '../shared/errors.js';
import { drawFrame, splitLines } from './code-frame.js';

/** Longest script, in bytes of UTF-8. */
export const MAX_SCRIPT_BYTES = 524_288;

/** A script's text as it is parsed: without byte order mark, a shebang turned into a comment, else the user's own. */
export interface ScriptText {
  filename: string;
  source: string;
  text: string;
  /** Offsets in `text` at which its lines begin, and the user's lines; made at the first fault. */
  lineStarts?: number[];
  lines?: string[];
}

/** @throws WfError `WF_SCRIPT_SIZE`; `WF_SCRIPT_SYNTAX` for text that cannot be stored as UTF-8 */
export function openScriptText(source: string, filename: string): ScriptText {
  const bytes = Buffer.byteLength(source);
  if (bytes > MAX_SCRIPT_BYTES) {
    throw new WfError('WF_SCRIPT_SIZE', `The script has ${bytes} bytes; at most ${MAX_SCRIPT_BYTES} are allowed.`, {
      remedy: 'Pass large data in through args, or let an agent read it from a file.',
      place: { file: filename },
    });
  }
  const bare = source.startsWith('\ufeff') ? source.slice(1) : source;
  const script: ScriptText = { filename, source, text: bare.startsWith('#!') ? `//${bare.slice(2)}` : bare };
  if (!source.isWellFormed()) {
    const at = findLoneSurrogate(script.text);
    throw new WfError('WF_SCRIPT_SYNTAX', 'The script holds one half of a character (a lone surrogate).', {
      remedy: 'Write it as an escape, such as \\ud800, or remove it.',
      place: placeAt(script, at),
    });
  }
  return script;
}

/** Line and column (from 1) of an offset in `script.text`, with a code frame of the user's source. */
export function placeAt(script: ScriptText, offset: number): Required<SourcePlace> {
  const { line, column } = lineAndColumn(script, offset);
  script.lines ??= splitLines(script.source.replace(/^\ufeff/, ''));
  return { file: script.filename, line, column, frame: drawFrame(script.lines, line, column) };
}

function lineAndColumn(script: ScriptText, offset: number): { line: number; column: number } {
  script.lineStarts ??= findLineStarts(script.text);
  const starts = script.lineStarts;
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - (starts[low] as number) + 1 };
}

/** Offset of a line and column (from 1), kept inside the text. */
export function offsetOf(script: ScriptText, line: number, column: number): number {
  script.lineStarts ??= findLineStarts(script.text);
  const start = script.lineStarts[line - 1] ?? script.text.length;
  return Math.min(start + Math.max(0, column - 1), script.text.length);
}

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (const end of text.matchAll(/\r\n|[\n\r\u2028\u2029]/g)) starts.push(end.index + end[0].length);
  return starts;
}

const findLoneSurrogate = (text: string): number => Math.max(0, text.search(/\p{Surrogate}/u));
