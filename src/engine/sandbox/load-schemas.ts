import { createRequire } from 'node:module';
import type * as schemas from '../../agents/schema-compile.js';

let loaded: typeof schemas | undefined;

/** The schema compiler, a bundle of its own: most scripts have no schema, and it costs more to load than all the rest. */
export function loadSchemas(): typeof schemas {
  loaded ??= createRequire(__filename)('./schemas.cjs') as typeof schemas;
  return loaded;
}
