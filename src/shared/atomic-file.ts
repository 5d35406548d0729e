/**
 * Writes a whole file so that a reader sees the old text or the new one, never a part and never nothing:
 * a temporary file beside the target, then one rename. (Not fs-extra's `outputFile` or `move`: those were measured torn.)
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

let counter = 0;

/** @param options.fsync flush the file to the disk before the rename (default true) */
export function writeFileAtomic(path: string, text: string, options: { mode?: number; fsync?: boolean } = {}): void {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.${counter++}.tmp`);
  try {
    const fd = openSync(temporary, 'wx', options.mode ?? 0o600);
    try {
      const bytes = Buffer.from(text);
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
      if (options.fsync !== false) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
