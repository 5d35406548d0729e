import { readFileSync, realpathSync, statSync } from 'node:fs';
import { systemCode, WfError } from '../shared/errors.js';
import { codeFrame, splitLines } from './code-frame.js';
import { MAX_SCRIPT_BYTES } from './script-text.js';

export interface ScriptFile {
  /** Real path: links are followed. */
  path: string;
  source: string;
}

/**
 * Reads a script once, as UTF-8; a byte order mark stays in the text.
 *
 * @throws WfError `WF_SCRIPT_NOT_FOUND` (no such file, or it cannot be read), `WF_SCRIPT_SIZE`, or `WF_SCRIPT_SYNTAX`
 * for bytes that are no UTF-8
 */
export function readScriptFile(path: string): ScriptFile {
  let real: string;
  let bytes: Buffer;
  try {
    real = realpathSync(path);
    const stats = statSync(real);
    // Opening a pipe or a device might wait for ever.
    if (!stats.isFile()) throw unreadable(path, stats.isDirectory() ? 'it is a folder' : 'it is not a regular file');
    if (stats.size > MAX_SCRIPT_BYTES) throw tooLarge(path, stats.size);
    bytes = readFileSync(real);
  } catch (error) {
    if (WfError.is(error)) throw error;
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') throw unreadable(path, 'there is no such file');
    throw unreadable(path, code === 'EACCES' ? 'permission denied' : (code ?? String(error)));
  }
  return { path: real, source: decode(bytes, path) };
}

/** Decodes a script's bytes strictly. @throws WfError `WF_SCRIPT_SYNTAX` */
export function decode(bytes: Uint8Array, path: string): string {
  const good = decodeStrictly(bytes);
  if (good !== undefined) return good;
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw new WfError('WF_SCRIPT_SYNTAX', `${path} is stored as UTF-16.`, {
      remedy: 'Save the file as UTF-8.',
      place: { file: path },
    });
  }
  const bad = findBadByte(bytes);
  const before = splitLines(new TextDecoder().decode(bytes.subarray(0, bad)));
  const line = before.length;
  const column = (before.at(-1) ?? '').length + 1;
  const byte = `0x${(bytes[bad] ?? 0).toString(16).padStart(2, '0')}`;
  throw new WfError('WF_SCRIPT_SYNTAX', `${path} is not UTF-8 text: byte ${byte} at offset ${bad} fits no character.`, {
    remedy: 'Save the file as UTF-8.',
    place: { file: path, line, column, frame: codeFrame(new TextDecoder().decode(bytes), line, column) },
  });
}

function decodeStrictly(bytes: Uint8Array, isWhole = true): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: !isWhole });
  } catch {
    return undefined;
  }
}

/** The start of the first sequence that is no UTF-8. */
function findBadByte(bytes: Uint8Array): number {
  let good = 0;
  let bad = bytes.length;
  while (good + 1 < bad) {
    const middle = (good + bad) >> 1;
    if (decodeStrictly(bytes.subarray(0, middle), false) === undefined) bad = middle;
    else good = middle;
  }
  // A sequence that is cut short is good as far as it goes.
  while (good > 0 && decodeStrictly(bytes.subarray(0, good)) === undefined) good--;
  return good;
}

const unreadable = (path: string, why: string): WfError =>
  new WfError('WF_SCRIPT_NOT_FOUND', `Cannot read the script ${path}: ${why}.`, {
    remedy: 'Give the path of a script, or the name of a saved workflow.',
    place: { file: path },
  });

const tooLarge = (path: string, size: number): WfError =>
  new WfError('WF_SCRIPT_SIZE', `${path} has ${size} bytes; at most ${MAX_SCRIPT_BYTES} are allowed.`, {
    remedy: 'Pass large data in through args, or let an agent read it from a file.',
    place: { file: path },
  });
