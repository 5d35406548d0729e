/** Folders for what a test writes besides a project; gone when it has ended. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

const make = (name: string): string => realpathSync(mkdtempSync(join(tmpdir(), `wf-${name}-`)));
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** Of the test that is running. */
export function makeTempFolder(name: string): string {
  const folder = make(name);
  onTestFinished(() => remove(folder));
  return folder;
}

/** Of all tests of a file: to be called outside of them. */
export function makeFileFolder(name: string): string {
  const folder = make(name);
  afterAll(() => remove(folder));
  return folder;
}
