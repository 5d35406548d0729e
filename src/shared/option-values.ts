/** What the options of `agent()` may hold: one table for the isolate, which refuses a call, and for `wf check`, which says so before. */
import { EFFORTS } from './agent-options.js';

/** What is wrong with the value of an option, to follow its name; `undefined` where nothing is, or where it is no option. */
export function faultOfOption(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null || !Object.hasOwn(CHECKS, name)) return undefined;
  return CHECKS[name]?.(value);
}

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

/** In the order in which they are looked at: of several faults the first is told. */
export const CHECKED_OPTIONS: readonly string[] = Object.keys(CHECKS);
