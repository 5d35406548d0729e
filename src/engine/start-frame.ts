/** What the sandbox is told at start: the script, its limits, and the index of the answers that it may reuse. */
import type { CarriedLines, KeptResult } from '../journal/carry.js';
import type { CheckedScript } from '../script/checked-script.js';
import type { EngineOptions } from './engine-options.js';
import type { DownHead, ScriptForSandbox, TimerRow } from './sandbox/frames.js';

export interface SortedLines {
  answers: KeptResult[];
  /** Of calls that an agent was started for: what is asked next under such a call's key is new work. */
  failures: KeptResult[];
  /** Answers that no call of this run may have, as a run of the chain went past them: `--match prefix`. */
  passed: KeptResult[];
  timers: TimerRow[];
  scripts: Map<string, { source: string; path: string | null }>;
}

/** @param madeUpBackend this run's answers are made up, so it may reuse such answers; no other run may */
export function sortCarried(
  carried: CarriedLines | undefined,
  madeUpBackend: boolean,
  match: EngineOptions['match'],
): SortedLines {
  const sorted: SortedLines = { answers: [], failures: [], passed: [], timers: [], scripts: new Map() };
  for (const line of carried?.lines ?? []) {
    if (line.type === 'timer') sorted.timers.push([line.kept, line.n, line.ms, line.path]);
    else if (line.type === 'script') sorted.scripts.set(line.name, { source: line.source, path: line.path });
    else if (line.kind !== 'ok') {
      if (line.kind === 'failed' && !line.askedNobody) sorted.failures.push(line);
    }
    // What an earlier run asked anew stands in front of it, and may have left other files than it was made from.
    else if (!line.madeUp || madeUpBackend)
      (line.passed && match === 'prefix' ? sorted.passed : sorted.answers).push(line);
  }
  return sorted;
}

type StartOptions = Pick<
  EngineOptions,
  | 'script'
  | 'argsJson'
  | 'definitions'
  | 'builtInTypes'
  | 'anyAgentType'
  | 'limits'
  | 'match'
  | 'projectRoot'
  | 'startFolder'
>;

export function makeStartHead(options: StartOptions, lines: SortedLines): DownHead {
  const agentTypes: Record<string, string> = {};
  for (const name of options.builtInTypes) agentTypes[name] = '';
  for (const [name, definition] of options.definitions) agentTypes[name] = definition.digest;
  return {
    t: 'start',
    script: forSandbox(options.script),
    memoryMb: options.limits.memoryMb,
    turnTimeoutMs: options.limits.turnTimeoutMs,
    budgetTotal: options.limits.budgetTokens,
    agentTypes,
    anyAgentType: options.anyAgentType,
    match: options.match,
    folders: { root: options.projectRoot, start: options.startFolder },
    results: lines.answers.map((a) =>
      a.lastTry
        ? [a.kept, a.key, a.path, a.nth, a.size, a.outputTokens, 1]
        : [a.kept, a.key, a.path, a.nth, a.size, a.outputTokens],
    ),
    timers: lines.timers,
    hasArgs: options.argsJson !== undefined,
  };
}

export const forSandbox = (script: CheckedScript): ScriptForSandbox => ({
  code: script.code,
  columnOffset: script.columnOffset,
  filename: script.filename,
  lazy: [...script.names],
});
