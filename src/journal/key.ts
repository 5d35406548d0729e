/**
 * The content key of a call: sha256 of canonical JSON of what changes the work, and of nothing else.
 * Label, phase, place, attempt, time, run, args, script text and run-wide settings are not part of it.
 */
import { hash } from 'node:crypto';
import { canonicalJson } from '../shared/canonical-json.js';

/** The options of a call that change its work. `undefined` members and defaults do not count. */
export interface KeyOptions {
  schema?: unknown;
  model?: string;
  effort?: string;
  isolation?: string;
  agentType?: string;
  /** sha256 of the definition file of `agentType`. */
  agentDigest?: string;
  tools?: readonly string[];
  disallowedTools?: readonly string[];
  bashCommandClamp?: readonly string[];
  /** Relative to the project root where inside it. */
  cwd?: string;
  backend?: string;
  /** Digest of the files that `deps` names. */
  deps?: string;
  salt?: unknown;
}

const KEY_VERSION = 1;

/** Members that sort before `prompt`, and those that sort after it and before `v`: the text below is canonical. */
const BEFORE_PROMPT = [
  'agentDigest',
  'agentType',
  'backend',
  'bashCommandClamp',
  'cwd',
  'deps',
  'disallowedTools',
  'effort',
  'isolation',
  'model',
] as const;
const AFTER_PROMPT = ['salt', 'schema', 'tools'] as const;

/**
 * @param promptJson JSON text of the prompt (never the raw text, so that lone surrogates stay apart)
 * @returns 64 hex digits
 * @example callKey(JSON.stringify('Review src/index.ts'), { model: 'haiku' })
 */
export function callKey(promptJson: string, options: KeyOptions | undefined): string {
  if (options === undefined) return hash('sha256', `{"prompt":${promptJson},"v":${KEY_VERSION}}`, 'hex');
  let text = '{';
  for (const name of BEFORE_PROMPT) text += member(name, options[name]);
  text += `"prompt":${promptJson},`;
  for (const name of AFTER_PROMPT) text += member(name, options[name]);
  return hash('sha256', `${text}"v":${KEY_VERSION}}`, 'hex');
}

function member(name: string, value: unknown): string {
  return value === undefined ? '' : `"${name}":${canonicalJson(value)},`;
}
