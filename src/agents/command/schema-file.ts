import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Writes a schema for one attempt into the temp folder, readable by this user alone. */
export function writeSchemaFile(schema: object): { path: string; remove(): void } {
  const path = join(tmpdir(), `wf-schema-${randomUUID()}.json`);
  writeFileSync(path, JSON.stringify(schema), { mode: 0o600, flag: 'wx' });
  return { path, remove: () => rmSync(path, { force: true }) };
}
