/**
 * Where the runs of `wf test` lie while it goes on: a folder in the temp folder, with its owner on record beside the runs, so
 * that what a killed one left can be told from what is in use.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeOwner } from '../../runs/owner.js';

const PREFIX = 'wf-test-runs-';
/** Within a test folder. */
export const TEST_OWNER_FILE = 'owner.json';

/** `mkdtemp` adds six characters. */
export const isTestFolder = (name: string): boolean => name.startsWith(PREFIX) && name.length === PREFIX.length + 6;

export function makeTestFolder(): { runsDir: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    writeFileSync(join(folder, TEST_OWNER_FILE), JSON.stringify(describeOwner()), { mode: 0o600 });
    const runsDir = join(folder, 'runs');
    mkdirSync(runsDir, { mode: 0o700 });
    return { runsDir, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
