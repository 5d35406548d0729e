/** Checks recorded answers against the call's schema, as live answers were checked when they came. */
import type { CallOptions } from './call-options.js';
import { loadSchemas } from './load-schemas.js';

export function createFitCheck(): (options: CallOptions | undefined, json: string) => boolean {
  return (options, json) => {
    if (options?.schema === undefined) return true;
    return loadSchemas().compileSchema(options.schema as object)(JSON.parse(json)).length === 0;
  };
}
