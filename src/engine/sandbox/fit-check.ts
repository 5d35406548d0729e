/** Checks recorded answers against the call's schema, as live answers were checked when they came. */
import type { CallOptions } from './call-options.js';
import { loadSchemas } from './load-schemas.js';

/** Tells whether a recorded answer fits the schema of a call; what is no JSON is left to the isolate to find. */
export type FitCheck = (options: CallOptions | undefined, json: string) => boolean;

export function createFitCheck(): FitCheck {
  return (options, json) => {
    if (options?.schema === undefined) return true;
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch {
      return true;
    }
    return loadSchemas().compileSchema(options.schema as object)(value).length === 0;
  };
}
