/**
 * The input of a program as a file without a name. Through a pipe a large one goes in pieces, and a program whose engine is
 * killed between two of them takes the first ones for the whole.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the system takes over in one go, before anybody reads, bytes. */
export const ONE_WRITE = process.platform === 'linux' ? 65_536 : 8_192;

/**
 * Opens a file that holds the input, for reading from its start. The caller closes it.
 *
 * @returns undefined where the temp folder cannot hold it: it is full, or may not be written
 */
export function openInputFile(input: Buffer): number | undefined {
  const path = join(tmpdir(), `.wf-input-${randomUUID()}`);
  let writing: number | undefined;
  let reading: number | undefined;
  try {
    writing = openSync(path, 'wx', 0o600);
    reading = openSync(path, 'r');
    // Before anything is in it: whatever happens now, nobody finds it, and it is gone with the last who holds it open.
    rmSync(path);
    writeFileSync(writing, input);
    return reading;
  } catch {
    if (reading !== undefined) closeSync(reading);
    if (writing !== undefined) rmSync(path, { force: true });
    return undefined;
  } finally {
    if (writing !== undefined) closeSync(writing);
  }
}
