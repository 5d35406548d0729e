/** What a person should know of a resume while it goes on: what was cut off before, what changed, and what no key can see. */
import { existsSync } from 'node:fs';
import type { LiveCall } from '../engine/engine-options.js';
import type { RunEvent } from '../engine/events.js';
import type { CarriedLines, KeptResult } from '../journal/carry.js';
import { createMissExplainer } from '../journal/explain-miss.js';
import { readStartedCalls, type StartedCall } from './started-calls.js';

const NAMED = 5;
/** So many of the calls that run first are looked up: a look-up reads a line of the source. */
const EXPLAINED = 100;

export interface ResumeNotices {
  /** Every event of the run. */
  take(event: RunEvent): void;
  /** A call that no record answers. */
  takeLive(call: LiveCall): void;
  /** The script waits: the calls that run first have all come. */
  rest(): void;
  /** The script has ended. */
  close(): void;
}

/**
 * @param folder of the run whose journal was taken over
 * @param warn tells a person
 */
export function watchResume(carried: CarriedLines, folder: string, warn: (message: string) => void): ResumeNotices {
  const results = carried.lines.filter((line) => line.type === 'result');
  const started = readStartedCalls(folder);
  const cutOff = describeCutOff(started, results);
  if (cutOff !== undefined) warn(cutOff);
  let first: LiveCall[] | undefined = [];
  let settled: string | undefined;
  const late: string[] = [];
  let lateCount = 0;

  const explainFirst = (): void => {
    if (first === undefined || first.length === 0) return;
    const calls = first;
    first = undefined;
    const keys = new Set(started.flatMap((call) => call.key ?? []));
    const changed = findChanged(calls.slice(0, EXPLAINED), carried, results, keys);
    if (changed[0] === undefined) return;
    const atLeast = calls.length > EXPLAINED ? 'at least ' : '';
    const who =
      calls.length === 1
        ? 'The call that runs first'
        : `Of the ${calls.length} calls that run first, ${atLeast}${changed.length}`;
    warn(
      `${who} had a recorded answer to another text or other options: ${changed[0]}${changed.length > 1 ? ', …' : ''}. wf plan says this before anything is spent.`,
    );
  };

  return {
    take(event) {
      if (event.type !== 'call.finished') return;
      if (!event.reused) {
        if (event.status !== 'no-result' && event.attempts > 0) settled ??= `#${event.n} ${event.label}`;
      } else if (settled !== undefined) {
        lateCount++;
        if (late.length < NAMED) late.push(`#${event.n} ${event.label}`);
      }
    },
    takeLive(call) {
      first?.push(call);
    },
    rest: explainFirst,
    close() {
      explainFirst();
      if (lateCount === 0) return;
      warn(
        `${lateCount} recorded ${lateCount === 1 ? 'answer was' : 'answers were'} replayed although an earlier call ran live (${settled}; then reused: ${late.join(', ')}${lateCount > late.length ? ', …' : ''}). Their texts are the same; work that is handed over through files is not seen. deps, cache: false, salt or --match prefix make such calls run.`,
      );
    },
  };
}

/** A start without an outcome, by the events, and without a line. */
function describeCutOff(started: readonly StartedCall[], results: readonly KeptResult[]): string | undefined {
  const recorded = new Set(results.map((result) => `${result.n} ${result.key}`));
  const open = started.filter((call) => !call.settled && !recorded.has(`${call.n} ${call.key}`));
  if (open.length === 0) return undefined;
  const names = open.slice(0, NAMED).map((call) => `#${call.n} ${call.label}`);
  const calls =
    open.length === 1
      ? '1 call of the source run was started and has'
      : `${open.length} calls of the source run were started and have`;
  const left = open.flatMap(({ n, worktrees }) =>
    worktrees.filter(({ path }) => existsSync(path)).map(({ path, branch }) => `#${n} in ${path}, branch ${branch}`),
  );
  const kept =
    left.length === 0
      ? ''
      : ` Kept as it was left: ${left.slice(0, NAMED).join('; ')}${left.length > NAMED ? '; …' : ''}.`;
  return `${calls} no result recorded: ${names.join(', ')}${open.length > names.length ? ', …' : ''}. What they did outside (files, pushes, requests) is not known, is not taken back, and may be done again: look at the workspace.${kept}`;
}

function findChanged(
  calls: readonly LiveCall[],
  carried: CarriedLines,
  results: readonly KeptResult[],
  startedBefore: ReadonlySet<string>,
): string[] {
  if (results.length === 0) return [];
  const explainer = createMissExplainer(results, carried.readEntry, () => false, startedBefore);
  return calls.flatMap((call) => {
    const reason = explainer.explain({ ...call, opts: call.options as Record<string, unknown> | undefined });
    return reason.includes('changed') && !reason.startsWith('failed') ? [`#${call.n} ${call.label}: ${reason}`] : [];
  });
}
