/** Journals that are too long to be held in one piece, without the calls that would have made them. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { callKey } from '../../../src/journal/key.js';
import { encodeResult } from '../../journal/support/lines.js';

/** Appends the lines that a run of the calls `part 0` … would have written, had they been answered with `bytes` letters. */
export function fillJournal(file: string, calls: number, bytes: number): void {
  const answer = JSON.stringify('x'.repeat(bytes));
  const fd = openSync(file, 'a');
  try {
    for (let i = 0; i < calls; i++) {
      const { key, promptJson } = callKey(`part ${i}`, undefined);
      const place = { seq: i + 1, n: i + 1, key, path: '', nth: 0 };
      writeSync(fd, encodeResult({ ...place, label: `p${i}`, phase: null, kind: 'ok' }, answer, promptJson));
    }
  } finally {
    closeSync(fd);
  }
}
