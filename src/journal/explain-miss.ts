/** Why a call is not answered from the journal, in the words of the plan: against what is recorded, and nothing else. */
import { canonicalJson } from '../shared/canonical-json.js';
import type { KeptResult } from './carry.js';
import type { ResultEntry } from './entry.js';

/** A call that runs live. `opts` are its options besides label and phase. */
export interface LiveCallView {
  n: number;
  key: string;
  path: string;
  nth: number;
  label: string;
  prompt: string;
  opts: Record<string, unknown> | undefined;
}

export interface MissExplainer {
  /** One line: `new`, `prompt changed: …`, `model changed …`, `failed before: …`, `no result recorded`, … */
  explain(call: LiveCallView): string;
}

/** Options that are part of the key, with the words for their change. */
const KEY_OPTIONS = [
  'schema',
  'model',
  'effort',
  'isolation',
  'agentType',
  'tools',
  'disallowedTools',
  'bashCommandClamp',
  'cwd',
  'backend',
  'salt',
] as const;

/**
 * @param recorded the results that the run starts with
 * @param isUsed tells which of them were taken by a call
 * @param started keys of calls that were started in the source run and have no line there
 * @param prefix nothing is reused behind the first call that is no hit
 */
export function createMissExplainer(
  recorded: readonly KeptResult[],
  readEntry: (result: KeptResult) => ResultEntry,
  isUsed: (result: KeptResult) => boolean,
  started: ReadonlySet<string>,
  prefix = false,
): MissExplainer {
  const failed = new Map<string, KeptResult>();
  const byLabel = new Map<string, KeptResult[]>();
  const byPath = new Map<string, KeptResult[]>();
  for (const result of recorded) {
    if (result.kind !== 'ok') failed.set(result.key, result);
    if (result.label !== undefined) push(byLabel, result.label, result);
    push(byPath, result.path, result);
  }

  /**
   * The recorded call that this one most likely was: by label, else by place, else by its number in call order. One that
   * nobody took goes before one that somebody did.
   */
  const findNearest = (call: LiveCallView): KeptResult | undefined => {
    const candidates = byLabel.get(call.label) ?? (call.path === '' ? undefined : byPath.get(call.path));
    if (candidates === undefined) return recorded.find((result) => result.n === call.n && !isUsed(result));
    const free = candidates.filter((result) => !isUsed(result));
    const pool = free.length > 0 ? free : candidates;
    return pool.find((result) => result.path === call.path && result.nth === call.nth) ?? pool[0];
  };

  return {
    explain(call) {
      if (call.opts?.cache === false) return 'cache: false: this call is never answered from a journal';
      if (prefix && recorded.some((result) => result.kind === 'ok' && result.key === call.key && !isUsed(result)))
        return 'its answer is recorded, but --match prefix reuses nothing behind the first call that is no hit';
      const failure = failed.get(call.key);
      if (failure !== undefined) return explainFailure(failure, readEntry);
      if (started.has(call.key)) return 'no result recorded';
      const nearest = findNearest(call);
      if (nearest === undefined) return 'new';
      if (nearest.key === call.key) return 'new: every recorded answer of this text is taken by another call';
      return explainDifference(call, readEntry(nearest));
    },
  };
}

function push(map: Map<string, KeptResult[]>, name: string, result: KeptResult): void {
  const list = map.get(name);
  if (list === undefined) map.set(name, [result]);
  else list.push(result);
}

function explainFailure(failure: KeptResult, readEntry: (result: KeptResult) => ResultEntry): string {
  if (failure.kind === 'skipped') return 'skipped before';
  const { error } = readEntry(failure);
  return error === undefined
    ? 'failed before'
    : `failed before: ${error.code}: ${error.message.split('\n')[0]?.slice(0, 200)}`;
}

function explainDifference(call: LiveCallView, entry: ResultEntry): string {
  const reasons: string[] = [];
  if (entry.prompt !== undefined && entry.prompt !== call.prompt)
    reasons.push(`prompt changed: ${firstDifference(entry.prompt, call.prompt)}`);
  const before = (entry.opts ?? {}) as Record<string, unknown>;
  const now = call.opts ?? {};
  for (const name of KEY_OPTIONS) {
    if (canonicalJson(before[name] ?? null) === canonicalJson(now[name] ?? null)) continue;
    reasons.push(name === 'schema' ? 'schema changed' : `${name} changed: ${show(before[name])} → ${show(now[name])}`);
  }
  if (before.agentDigest !== now.agentDigest && before.agentType === now.agentType)
    reasons.push('agent definition changed');
  if (before.deps !== now.deps) reasons.push(explainFiles(before.depsFiles, now.depsFiles));
  return reasons.length === 0 ? 'new' : reasons.join('; ');
}

const show = (value: unknown): string =>
  value === undefined || value === null ? 'none' : JSON.stringify(value).slice(0, 80);

/** Where two texts part, with a little of both. */
function firstDifference(before: string, now: string): string {
  let at = 0;
  while (at < before.length && at < now.length && before[at] === now[at]) at++;
  const lines = now.slice(0, at).split('\n');
  const piece = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 12), at + 28));
  return `line ${lines.length}, character ${(lines.at(-1) as string).length + 1}: ${piece(before)} → ${piece(now)}`;
}

function explainFiles(before: unknown, now: unknown): string {
  if (!isDigests(before) || !isDigests(now)) return 'file changed: one of those that deps names';
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((name) => before[name] !== now[name])
    .sort();
  const shown = names
    .slice(0, 3)
    .map((name) => `${name}${name in now ? (name in before ? '' : ' (added)') : ' (removed)'}`);
  return `file changed: ${shown.join(', ')}${names.length > shown.length ? `, and ${names.length - shown.length} more` : ''}`;
}

const isDigests = (value: unknown): value is Record<string, string> => typeof value === 'object' && value !== null;
