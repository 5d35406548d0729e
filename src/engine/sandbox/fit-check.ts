/** Checks recorded answers against the call's schema, as live answers were checked when they came. */
import type { CallOptions } from './call-options.js';
import { loadSchemas } from './load-schemas.js';

/** Why a recorded answer cannot be given to a call, as the end of "The recorded answer of … "; undefined where it can. */
export type FitCheck = (options: CallOptions | undefined, json: string) => string | undefined;

export function createFitCheck(): FitCheck {
  return (options, json) => {
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch {
      return 'is not JSON';
    }
    if (options?.schema === undefined) return undefined;
    const faults = loadSchemas().compileSchema(options.schema as object)(value);
    return faults.length === 0 ? undefined : 'does not fit the schema of the call';
  };
}
