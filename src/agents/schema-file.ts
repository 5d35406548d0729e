import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../shared/errors.js';
import { type AgentRequest, BackendError } from './backend.js';

/** Names the run, so that `wf doctor` can tell whose it is, should `wf` be killed. */
const nameStart = (runId: string): string => `wf-schema-${runId}-`;

export const isSchemaFileOf = (runId: string, name: string): boolean =>
  name.startsWith(nameStart(runId)) && name.endsWith('.json');

/**
 * Writes a schema for one attempt into the temp folder, readable by this user alone.
 *
 * @returns undefined for a call without a schema
 * @throws BackendError
 */
export function writeSchemaFile({
  schema,
  runId,
}: Pick<AgentRequest, 'schema' | 'runId'>): { path: string; remove(): void } | undefined {
  if (schema === undefined) return undefined;
  const path = join(tmpdir(), `${nameStart(runId)}${randomUUID()}.json`);
  const remove = (): void => rmSync(path, { force: true });
  try {
    writeFileSync(path, JSON.stringify(schema), { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    // A disk that is full may have taken a part of it.
    remove();
    throw new BackendError('failed', `The file for the call's schema cannot be written: ${messageOf(cause)}`, {
      cause,
    });
  }
  return { path, remove };
}
