/**
 * Checks the options of a call and splits off what its key depends on. A call refused here is refused for its own text:
 * it never reaches the supervisor and leaves no line.
 */
import type { KeyOptions } from '../../journal/key.js';
import { EFFORTS } from '../../shared/agent-options.js';
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
  for (const [name, check] of Object.entries(CHECKS)) {
    const value = given[name];
    if (value === undefined) continue;
    if (value === null) {
      delete given[name];
      continue;
    }
    const fault = check(value);
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

const isText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? undefined : 'must be a non-empty string';
const isTexts = (value: unknown): string | undefined =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? undefined : 'must be an array of strings';
const isMs = (value: unknown): string | undefined =>
  typeof value === 'number' && value >= 0 && value <= 2_147_483_647
    ? undefined
    : 'must be a number of milliseconds from 0 to 2147483647';

const CHECKS: Record<string, (value: unknown) => string | undefined> = {
  schema: (value) => (typeof value === 'object' && !Array.isArray(value) ? undefined : 'must be a JSON Schema object'),
  model: isText,
  effort: (value) =>
    (EFFORTS as readonly unknown[]).includes(value)
      ? undefined
      : `must be one of ${EFFORTS.join(', ')}; got ${JSON.stringify(value)}`,
  isolation: (value) =>
    value === 'worktree'
      ? undefined
      : `can only be 'worktree'; got ${JSON.stringify(value)}, which is not available here`,
  agentType: isText,
  stallMs: isMs,
  timeoutMs: isMs,
  retries: (value) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 100
      ? undefined
      : 'must be a whole number from 0 to 100',
  cache: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  disallowedTools: isTexts,
  tools: isTexts,
  bashCommandClamp: isTexts,
  cwd: isText,
  backend: isText,
  deps: isTexts,
};
