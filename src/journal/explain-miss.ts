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
  /** Absent where it was never written: the call has no outcome. */
  prompt: string | undefined;
  opts: Record<string, unknown> | undefined;
}

/** What is known of a call that was started before and has no line: it has no outcome, or its line is not there any more. */
export type StartFate = 'no-result' | 'lost';

export interface MissRules {
  /** Nothing is reused behind the first call that is no hit. */
  prefix?: boolean;
  /** The run is one on `mock`, which may reuse made-up answers. */
  onMock?: boolean;
  /** Keys of the calls that run live: each asks again for a recorded call of its key, which then is no other's. */
  liveKeys?: readonly string[];
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
 * @param fateOf what became of the calls of a key that were started before; `recordedLines` of them have a line
 */
export function createMissExplainer(
  recorded: readonly KeptResult[],
  readEntry: (result: KeptResult) => ResultEntry,
  isUsed: (result: KeptResult) => boolean,
  fateOf: (key: string, recordedLines: number) => StartFate | undefined,
  { prefix = false, onMock = false, liveKeys = [] }: MissRules = {},
): MissExplainer {
  const byKey = new Map<string, KeptResult[]>();
  const byLabel = new Map<string, KeptResult[]>();
  const byPath = new Map<string, KeptResult[]>();
  for (const result of recorded) {
    push(byKey, result.key, result);
    if (result.label !== undefined) push(byLabel, result.label, result);
    if (result.path !== '') push(byPath, result.path, result);
  }
  /** Those that a call asks for, whether it is given them or not. */
  const asked = new Set<KeptResult>();
  const seen = new Map<string, number>();
  for (const key of liveKeys) {
    const same = byKey.get(key) ?? [];
    let at = seen.get(key) ?? 0;
    while (at < same.length && isUsed(same[at] as KeptResult)) at++;
    if (at < same.length) asked.add(same[at] as KeptResult);
    seen.set(key, at + 1);
  }
  const isTaken = (result: KeptResult): boolean => isUsed(result) || asked.has(result);

  /**
   * The recorded call that this one most likely was: by label, else by slot, else by its number in call order where the
   * texts are alike. One that another call took or asks for is none: that call stands in the script as before, and this
   * one beside it.
   */
  const findNearest = (call: LiveCallView & { prompt: string }): ResultEntry | undefined => {
    for (const same of [byLabel.get(call.label), byPath.get(call.path)]) {
      const free = same?.filter((result) => !isTaken(result)) ?? [];
      const nearest = free.find((result) => result.path === call.path && result.nth === call.nth) ?? free[0];
      if (nearest !== undefined) return readEntry(nearest);
    }
    const before = recorded.find((result) => result.n === call.n && !isTaken(result));
    const entry = before && readEntry(before);
    return entry?.prompt !== undefined && areAlike(entry.prompt, call.prompt) ? entry : undefined;
  };

  return {
    explain(call) {
      if (call.opts?.cache === false) return 'cache: false: this call is never answered from a journal';
      const same = byKey.get(call.key) ?? [];
      const answers = same.filter((result) => result.kind === 'ok');
      const free = answers.filter((result) => !isUsed(result));
      if (free.some((result) => onMock || !result.madeUp)) {
        if (prefix && free.every((result) => result.passed))
          return 'its recorded answer was made before what an earlier run had asked anew, and --match prefix reuses none such';
        if (prefix)
          return 'its answer is recorded, but --match prefix reuses nothing behind the first call that is no hit';
      } else if (free.length > 0) return 'its recorded answer was made up by mock, and only a run on mock reuses it';
      const failure = findNewest(same.filter((result) => result.kind !== 'ok'));
      if (failure !== undefined) return explainFailure(failure, readEntry);
      const fate = fateOf(call.key, same.length);
      if (fate === 'no-result') return 'no result recorded';
      if (fate === 'lost') return 'its result was recorded, and is damaged or missing';
      if (answers.length > 0) return 'new: every recorded answer of this text is taken by another call';
      if (recorded.length === 0) return 'new';
      const { prompt } = call;
      if (prompt === undefined) return 'new or changed: its text is not on record, as it has no result';
      const nearest = findNearest({ ...call, prompt });
      return nearest === undefined ? 'new' : explainDifference({ ...call, prompt }, nearest);
    },
  };
}

function push(map: Map<string, KeptResult[]>, name: string, result: KeptResult): void {
  const list = map.get(name);
  if (list === undefined) map.set(name, [result]);
  else list.push(result);
}

/** Lines of the newest run stand first, and those of one run in their order: what got no answer stays with its run. */
const findNewest = (results: readonly KeptResult[]): KeptResult | undefined =>
  results.findLast(({ from }) => from === results[0]?.from);

function explainFailure(failure: KeptResult, readEntry: (result: KeptResult) => ResultEntry): string {
  if (failure.kind === 'skipped') return 'skipped before';
  const { error } = readEntry(failure);
  return error === undefined
    ? 'failed before'
    : `failed before: ${error.code}: ${error.message.split('\n')[0]?.slice(0, 200)}`;
}

function explainDifference(call: LiveCallView & { prompt: string }, entry: ResultEntry): string {
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

/** Beginning and end in common make up half of the shorter one at least. */
function areAlike(one: string, other: string): boolean {
  const length = Math.min(one.length, other.length);
  let head = 0;
  while (head < length && one[head] === other[head]) head++;
  let tail = 0;
  while (tail < length - head && one.at(-1 - tail) === other.at(-1 - tail)) tail++;
  return 2 * (head + tail) >= length;
}

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
