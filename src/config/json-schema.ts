/** The published JSON schema of the config: what editors complete and check while it is written. */
import * as z from 'zod';
import { makeConfigSchema } from './config-schema.js';

export async function makeJsonSchema(): Promise<object> {
  return { title: 'wf config', ...z.toJSONSchema(await makeConfigSchema(), { io: 'input', target: 'draft-07' }) };
}
