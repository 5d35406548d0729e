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

export interface CallKey {
  /** 64 hex digits. */
  key: string;
  /** JSON text of the prompt (never the raw text, so that lone surrogates stay apart). */
  promptJson: string;
}

/** The canonical text of a call without options begins and ends so. */
const BARE = JSON.stringify({ prompt: '', v: KEY_VERSION });
const BARE_START = '{"prompt":'.length;
const BARE_END = BARE.length - BARE_START - '""'.length;

/** @example callKey('Review src/index.ts', { model: 'haiku' }).key */
export function callKey(prompt: string, options: KeyOptions | undefined): CallKey {
  if (options === undefined) {
    // In one piece: texts that are put together are copied once more before they are hashed.
    const text = JSON.stringify({ prompt, v: KEY_VERSION });
    return { key: hash('sha256', text, 'hex'), promptJson: text.slice(BARE_START, -BARE_END) };
  }
  const promptJson = JSON.stringify(prompt);
  let text = '{';
  for (const name of BEFORE_PROMPT) text += member(name, options[name]);
  text += `"prompt":${promptJson},`;
  for (const name of AFTER_PROMPT) text += member(name, options[name]);
  return { key: hash('sha256', `${text}"v":${KEY_VERSION}}`, 'hex'), promptJson };
}

function member(name: string, value: unknown): string {
  return value === undefined ? '' : `"${name}":${canonicalJson(value)},`;
}
