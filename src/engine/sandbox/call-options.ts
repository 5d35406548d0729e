/**
 * Checks the options of a call and splits off what its key depends on. A call refused here is refused for its own text:
 * it never reaches the supervisor and leaves no line.
 */
import type { KeyOptions } from '../../journal/key.js';
import { CHECKED_OPTIONS, faultOfOption } from '../../shared/option-values.js';
import { loadSchemas } from './load-schemas.js';
import type { Cause } from './prelude/errors.js';

/** The options as the script gave them, JSON only. */
export type CallOptions = KeyOptions & {
  stallMs?: number;
  timeoutMs?: number;
  retries?: number;
  cache?: boolean;
  /** The patterns; `deps` is then the digest of the files. */
  depsPatterns?: string[];
  depsFiles?: Record<string, string>;
};

export interface AgentTypeTable {
  digests: Record<string, string>;
  any: boolean;
}

export type CheckedOptions = { options: CallOptions } | { refused: Cause };

export function checkCallOptions(text: string, types: AgentTypeTable): CheckedOptions {
  const given = JSON.parse(text) as Record<string, unknown>;
  for (const name of CHECKED_OPTIONS) {
    const value = given[name];
    if (value === undefined) continue;
    if (value === null) {
      delete given[name];
      continue;
    }
    const fault = faultOfOption(name, value);
    if (fault !== undefined) return refuse('TypeError', 'WF_AGENT_OPTIONS', `agent(): option ${name} ${fault}.`);
  }
  if (given.effect !== undefined) {
    return refuse('TypeError', 'WF_AGENT_OPTIONS', 'agent(): option effect is not yet supported; leave it out.');
  }
  if (given.model === 'inherit') delete given.model;
  if (given.schema !== undefined) {
    const fault = loadSchemas().checkSchema(given.schema as object);
    if (fault !== null)
      return refuse('TypeError', 'WF_SCHEMA_INVALID', `agent(): the schema cannot be used: ${fault}.`);
  }
  const type = given.agentType as string | undefined;
  if (type !== undefined && !types.any) {
    const digest = Object.hasOwn(types.digests, type) ? types.digests[type] : undefined;
    if (digest === undefined && !type.includes(':')) {
      const known = Object.keys(types.digests).sort().join(', ');
      return refuse('Error', 'WF_AGENT_TYPE', `agent(): unknown agentType ${JSON.stringify(type)}. Known: ${known}.`);
    }
    if (digest) given.agentDigest = digest;
  }
  return { options: given as CallOptions };
}

const refuse = (name: string, code: string, message: string): CheckedOptions => ({ refused: { name, code, message } });
