/** Reads `events.jsonl` while somebody else writes it: whole lines only, in order, once each. */
import { closeSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, systemCode, WfError } from '../shared/errors.js';
import { openRegularFile } from '../shared/regular-file.js';
import { EVENTS_FILE } from './runs-folder.js';

const CHUNK_BYTES = 64 << 10;
const LOOK_EVERY_MS = 100;

export interface FollowOptions {
  /**
   * Asked at the end of the file. True: nothing more will come, as far as can be seen; the file is read once more.
   * Without it the present end of the file is the end, and an unfinished last line is left out.
   */
  isOver?(): boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Lines without their ends; `null` each time that the present end of the file is reached.
 *
 * @throws WfError `WF_RUN_DAMAGED` where what lies in the place of the file cannot be read
 */
export async function* followEvents(folder: string, options: FollowOptions = {}): AsyncGenerator<string | null> {
  const { isOver, signal } = options;
  let fd: number | undefined;
  // Bytes, not text: a character may be cut by the end of what was read.
  let rest: Buffer[] = [];
  let offset = 0;
  let wasOver = false;
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  try {
    while (signal?.aborted !== true) {
      fd ??= openIfThere(join(folder, EVENTS_FILE));
      const length = fd === undefined ? 0 : readSync(fd, chunk, 0, CHUNK_BYTES, offset);
      offset += length;
      if (length === 0) {
        yield null;
        if (isOver === undefined || wasOver) return;
        wasOver = isOver();
        if (!wasOver) await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
        continue;
      }
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0 && end < length; end = chunk.indexOf(10, start)) {
        const line = Buffer.concat([...rest, chunk.subarray(start, end)]).toString('utf8');
        rest = [];
        start = end + 1;
        yield line;
      }
      if (start < length) rest.push(Buffer.from(chunk.subarray(start, length)));
    }
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openRegularFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new WfError('WF_RUN_DAMAGED', `The events of this run cannot be read (${path}): ${messageOf(error)}.`, {
      remedy: 'What its journal and records tell is shown by wf show.',
      cause: error,
    });
  }
}
