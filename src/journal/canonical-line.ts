/** The form in which we write a result with an answer; the bytes of such a line can be taken over as they are. */
import type { DecodedLine } from './line.js';

const OUTPUT_MARK = ',"output":';
const KIND_MARK = ',"kind":"ok"';
const TO_KIND = new Set([
  'v',
  'type',
  'seq',
  'n',
  'key',
  'path',
  'nth',
  'label',
  'phase',
  'from',
  'kept',
  'passed',
  'kind',
]);
const AFTER_KIND = new Set(['madeUp', 'usage', 'worktrees', 'lastTry', 'size']);

/** The members stand in our order. Another program may have spaced them: `answerPlace` tells. */
export function isCanonical(line: DecodedLine): boolean {
  const names = Object.keys(line.header);
  const kind = names.indexOf('kind');
  return (
    line.output !== undefined &&
    names.at(-1) === 'size' &&
    names.every((name, i) => (i > kind ? AFTER_KIND : TO_KIND).has(name))
  );
}

/** Where the answer begins in the bytes of the line; undefined where its marks are not as we write them. */
export function answerPlace(raw: Buffer): number | undefined {
  return raw.includes(KIND_MARK) ? raw.indexOf(OUTPUT_MARK) + OUTPUT_MARK.length : undefined;
}

/** The bytes from behind the value of `kind` to the checksum. */
export const restAfterKind = (raw: Buffer): Buffer =>
  raw.subarray(raw.indexOf(KIND_MARK) + KIND_MARK.length, raw.lastIndexOf(',"sum":"'));
