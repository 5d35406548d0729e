import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, WfError } from '../shared/errors.js';

export type WriteText = (text: string) => void;

/**
 * Wraps a writer so that a closed or broken output (EPIPE, disk full) ends the printing and nothing else:
 * after the first throw nothing is written any more, and `onTrouble` is told once.
 */
export function guardWrite(write: WriteText, onTrouble: (message: string) => void = () => {}): WriteText {
  let broken = false;
  return (text) => {
    if (broken) return;
    try {
      write(text);
    } catch (error) {
      broken = true;
      tellSafely(onTrouble, messageOf(error));
    }
  };
}

/** A writer over a stream that may report its end (EPIPE) only later, as an event. */
export function writeToStream(stream: NodeJS.WritableStream): WriteText {
  let broken = false;
  stream.on('error', () => {
    broken = true;
  });
  return (text) => {
    if (!broken && stream.writable) stream.write(text);
  };
}

/**
 * Opens a file of a report, emptied, and its folder.
 *
 * @throws WfError `WF_USAGE` when it cannot be written: better before a run than after it.
 */
export function openReportFile(path: string): { write: WriteText; close(): void } {
  const fd = openForWriting(path);
  let open = true;
  return {
    write(text) {
      const bytes = Buffer.from(text);
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    },
    close() {
      if (open) closeSync(fd);
      open = false;
    },
  };
}

function openForWriting(path: string): number {
  try {
    mkdirSync(dirname(path), { recursive: true });
    return openSync(path, 'w');
  } catch (error) {
    throw new WfError('WF_USAGE', `The report file ${path} cannot be written: ${messageOf(error)}.`, {
      remedy: 'Name a file in a folder that you may write to.',
      cause: error,
    });
  }
}

/** Even the words about a broken output must not throw. */
export function tellSafely(tell: (message: string) => void, message: string): void {
  try {
    tell(message);
  } catch {
    // Nobody is left to be told.
  }
}
