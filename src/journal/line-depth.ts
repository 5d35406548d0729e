/**
 * How far a line is looked into. A replay goes by the header and leaves the rest unread, as ten thousand lines have a lot
 * of it; the checksum stands for it. A line that somebody edited and gave a right checksum is found only by looking further.
 */
import { hasEntryShape } from './entry-shape.js';
import { callKey, type KeyOptions } from './key.js';
import { type DecodedLine, parseRest, parseWholeLine } from './line.js';

/** `line`: the answer and the members behind it as well. `key`: also whether the key is that of the prompt and options. */
export type LineDepth = 'header' | 'line' | 'key';

export type DeepFault = 'answer is not JSON' | 'wrong shape' | 'key does not fit its prompt';

/** What is wrong with a result line whose header is right. */
export function findDeepFault(line: DecodedLine, depth: LineDepth): DeepFault | undefined {
  if (depth === 'header') return undefined;
  const rest = parseRest(line);
  if (rest === undefined) return 'wrong shape';
  const whole = parseWholeLine(line);
  if (line.output !== undefined && !('output' in whole)) return 'answer is not JSON';
  if (!hasEntryShape('result', whole)) return 'wrong shape';
  return depth === 'line' || fitsKey(whole) ? undefined : 'key does not fit its prompt';
}

/** A line need not have a prompt: it is there for people. */
function fitsKey({ prompt, opts, key }: Record<string, unknown>): boolean {
  return typeof prompt !== 'string' || key === callKey(prompt, opts as KeyOptions | undefined).key;
}
