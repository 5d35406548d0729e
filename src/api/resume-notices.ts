/** What a person should know of a resume while it goes on: what was cut off before, what changed, and what no key can see. */
import { existsSync } from 'node:fs';
import type { LiveCall } from '../engine/engine-options.js';
import type { RunEvent } from '../engine/events.js';
import type { CarriedLines, KeptResult } from '../journal/carry.js';
import { createMissExplainer, type MissExplainer } from '../journal/explain-miss.js';
import { createFateFinder, type EarlierRun, findForgotten, openLineage } from './started-before.js';
import type { StartedCall } from './started-calls.js';

const NAMED = 5;
/** So many of the calls that run first are looked up: a look-up reads a line of the source. */
const EXPLAINED = 100;

export interface ResumeNotices {
  /** Every event of the run. */
  take(event: RunEvent): void;
  /** A recorded answer was given to a call. */
  takeHit(kept: number): void;
  /** A call that no record answers. */
  takeLive(call: LiveCall): void;
  /** The script waits: the calls that run first have all come. */
  rest(): void;
  /** The script has ended. */
  close(): void;
}

export interface WatchedSource {
  /** Of the run whose journal was taken over. */
  folder: string;
  /** Where the runs lie from which it went on. */
  runsFolders: readonly string[];
  /** This run may reuse made-up answers. */
  onMock: boolean;
}

/** @param warn tells a person */
export function watchResume(
  carried: CarriedLines,
  { folder, runsFolders, onMock }: WatchedSource,
  warn: (message: string) => void,
): ResumeNotices {
  const results = carried.lines.filter((line) => line.type === 'result');
  const lineage = openLineage(folder, runsFolders);
  warnOfCutOff(lineage, results, warn);
  const used = new Set<number>();
  let first: LiveCall[] | undefined = [];
  let settled: string | undefined;
  const late: string[] = [];
  let lateCount = 0;

  const explainFirst = (): void => {
    if (first === undefined || first.length === 0) return;
    const calls = first;
    first = undefined;
    const explainer = createMissExplainer(
      results,
      carried.readEntry,
      (result) => used.has(result.kept),
      createFateFinder(lineage),
      { onMock, liveKeys: calls.map(({ key }) => key) },
    );
    const changed = results.length === 0 ? [] : findChanged(calls.slice(0, EXPLAINED), explainer);
    if (changed[0] === undefined) return;
    const atLeast = calls.length > EXPLAINED ? 'at least ' : '';
    const who =
      calls.length === 1
        ? 'The call that runs first'
        : `Of the ${calls.length} calls that run first, ${atLeast}${changed.length}`;
    // What is recorded and not asked for yet may be asked for later, and what runs first stand beside it.
    const unasked = results.filter((result) => result.kind === 'ok' && !used.has(result.kept)).length;
    const doubt = unasked <= calls.length ? '' : calls.length === 1 ? ' is new, or' : ' are new, or';
    warn(
      `${who}${doubt} had a recorded answer to another text or other options: ${changed[0]}${changed.length > 1 ? ', …' : ''}. wf plan says this before anything is spent.`,
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
    takeHit(kept) {
      if (first !== undefined) used.add(kept);
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

function warnOfCutOff(
  lineage: Iterable<EarlierRun>,
  results: readonly KeptResult[],
  warn: (message: string) => void,
): void {
  const [source] = lineage;
  // A call that it refused for a ceiling, or made an answer up for, may have been cut off before.
  if (source === undefined || (source.isClean && !results.some(({ askedNobody }) => askedNobody))) return;
  const recorded = new Set(results.map((result) => `${result.n} ${result.key}`));
  const cutOff = source.started().filter((call) => !call.settled && !recorded.has(`${call.n} ${call.key}`));
  if (cutOff.length > 0) warn(describeCutOff(cutOff, 'the source run'));
  for (const { runId, open } of findForgotten(lineage, results))
    warn(describeCutOff(open, `run ${runId}, from which the source run went on without coming to them,`));
}

/** Starts without an outcome, by the events, and without a line. */
function describeCutOff(open: readonly StartedCall[], whose: string): string {
  const names = open.slice(0, NAMED).map((call) => `#${call.n} ${call.label}`);
  const calls =
    open.length === 1
      ? `1 call of ${whose} was started and has`
      : `${open.length} calls of ${whose} were started and have`;
  const left = open.flatMap(({ n, worktrees }) =>
    worktrees.filter(({ path }) => existsSync(path)).map(({ path, branch }) => `#${n} in ${path}, branch ${branch}`),
  );
  const kept =
    left.length === 0
      ? ''
      : ` Kept as it was left: ${left.slice(0, NAMED).join('; ')}${left.length > NAMED ? '; …' : ''}.`;
  return `${calls} no result recorded: ${names.join(', ')}${open.length > names.length ? ', …' : ''}. What they did outside (files, pushes, requests) is not known, is not taken back, and may be done again: look at the workspace.${kept}`;
}

function findChanged(calls: readonly LiveCall[], explainer: MissExplainer): string[] {
  return calls.flatMap((call) => {
    const reason = explainer.explain({ ...call, opts: call.options as Record<string, unknown> | undefined });
    return / changed(:|;|$)/.test(reason) && !reason.startsWith('failed')
      ? [`#${call.n} ${call.label}: ${reason}`]
      : [];
  });
}
