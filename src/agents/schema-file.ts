import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../shared/errors.js';
import { BackendError } from './backend.js';

/**
 * Writes a schema for one attempt into the temp folder, readable by this user alone.
 *
 * @throws BackendError
 */
export function writeSchemaFile(schema: object): { path: string; remove(): void } {
  const path = join(tmpdir(), `wf-schema-${randomUUID()}.json`);
  try {
    writeFileSync(path, JSON.stringify(schema), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new BackendError('failed', `The file for the call's schema cannot be written: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return { path, remove: () => rmSync(path, { force: true }) };
}
