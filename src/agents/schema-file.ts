import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../shared/errors.js';
import { type AgentRequest, BackendError } from './backend.js';

/** Begins with a dot: it is no record of the run. */
const NAME = '.schema-';
export const isSchemaFile = (name: string): boolean => name.startsWith(NAME) && name.endsWith('.json');

/**
 * Writes a schema for one attempt, readable by this user alone: into the run folder, with which it goes should `wf` be
 * killed, else into the temp folder.
 *
 * @returns undefined for a call without a schema
 * @throws BackendError
 */
export function writeSchemaFile({
  schema,
  runFolder,
}: Pick<AgentRequest, 'schema' | 'runFolder'>): { path: string; remove(): void } | undefined {
  if (schema === undefined) return undefined;
  let cause: unknown;
  for (const folder of runFolder === undefined ? [tmpdir()] : [runFolder, tmpdir()]) {
    const path = join(folder, `${NAME}${randomUUID()}.json`);
    const remove = (): void => rmSync(path, { force: true });
    try {
      writeFileSync(path, JSON.stringify(schema), { mode: 0o600, flag: 'wx' });
      return { path, remove };
    } catch (error) {
      cause = error;
      // A disk that is full may have taken a part of it.
      remove();
    }
  }
  throw new BackendError('failed', `The file for the call's schema cannot be written: ${messageOf(cause)}`, { cause });
}
