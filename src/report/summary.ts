/**
 * The text that stays when a run has ended. It says only what is recorded: a call without a result is neither failed
 * nor undone, and a run that returned normally is not called complete when calls gave no answer.
 */
import { join } from 'node:path';
import type { Counts, ErrorRecord, ScriptErrors, Usage } from '../shared/outcome.js';
import { showPath } from '../shared/quote-word.js';
import { cleanFrame, cleanLine } from './clean-line.js';
import { describeCause, describeWorktree, nameCall, wordOf } from './describe-event.js';
import { describeReset } from './describe-reset.js';
import { countRows, type FailureRow, failureRows, nameRow } from './failure-rows.js';
import { formatCount, formatDuration, formatSavedTokens, formatTokensOf, formatUsd, plural } from './format.js';
import { type Paint, plainPaint } from './paint.js';
import type { FinishedEvent, StartedEvent } from './run-account.js';

const FAILURES_NAMED = 40;
const WORKTREES_NAMED = 40;
const LAST_TRIES_NAMED = 20;
const CALLERS_NAMED = 6;
const FRAMES_SHOWN = 3;

export interface SummaryOptions {
  paint?: Paint | undefined;
  /** Where the result of a completed run was put: `stdout` or a file. */
  resultPlace?: string | undefined;
}

/** @returns several lines, each with its line end */
export function summarizeRun(
  finished: FinishedEvent,
  started: StartedEvent | undefined,
  options: SummaryOptions = {},
): string {
  const paint = options.paint ?? plainPaint;
  const { counts } = finished;
  const lines = [
    headlineOf(finished, paint),
    row(
      'run',
      `${finished.runId}${started ? ` (${cleanLine(started.workflow)}, backend ${cleanLine(started.backend) || 'none'})` : ''}`,
    ),
    ...(started?.resumedFrom
      ? [
          row(
            'from',
            `${started.resumedFrom}, ${plural(started.kept, 'recorded result')}${describeUnused(started.kept, counts.reused)}`,
          ),
        ]
      : []),
    ...(finished.error ? describeError(finished.error) : []),
    row('result', placeOf(finished, options.resultPlace)),
    ...(started?.madeUp ? [row('answers', describeMadeUp(counts.reused))] : []),
    row('calls', `${formatCount(counts.calls)}${describeEnds(counts)}`),
    ...describePhases(finished, paint),
    ...(finished.scriptErrors ? describeScriptErrors(finished.scriptErrors) : []),
    ...describeLastTries(finished),
    ...describeLeft(counts.abandoned),
    ...describeOpen(counts.noResult, finished.notStarted ?? 0),
    ...describeWorktrees(finished),
    row('tokens', describeTokensOf(finished.usage, counts)),
    row('cost', describeCost(finished.usage, counts)),
    ...(finished.journalComplete
      ? []
      : [row('journal', paint.bad('incomplete: results that could not be written will run again on a resume'))]),
    // The command must work when it is copied, so it is given as it is.
    ...(finished.resumeCommand ? [row('go on', finished.resumeCommand)] : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** Answers that no call asked for stay in the journal for a later resume. */
const describeUnused = (kept: number, reused: number): string =>
  kept > reused ? `, ${formatCount(kept - reused)} not asked for` : '';

const row = (name: string, text: string): string => `  ${name.padEnd(8)} ${text}`;

function headlineOf({ status, counts, durationMs, exitCode }: FinishedEvent, paint: Paint): string {
  const time = formatDuration(durationMs);
  if (status !== 'completed') return paint.bad(`Run ${status} after ${time}.`);
  const unanswered = counts.failed + counts.skipped + counts.noResult;
  if (unanswered > 0) {
    const text = `Run completed in ${time}, but ${formatCount(unanswered)} of ${plural(counts.calls, 'call')} gave no answer.`;
    return paint.doubtful(text);
  }
  const text = `Run completed in ${time}: ${formatCount(counts.ok)} of ${plural(counts.calls, 'call')} gave an answer.`;
  return exitCode === 0 ? paint.good(text) : paint.doubtful(text);
}

function describeError(error: ErrorRecord): string[] {
  const reset = describeReset(error);
  return [
    row('cause', `${describeCause(error)}${placeIn(error)}`),
    ...frameOf(error),
    ...callersOf(error),
    ...(error.cause ? [row('because', `${cleanLine(error.cause.message)}${placeIn(error.cause)}`)] : []),
    ...(error.cause ? frameOf(error.cause) : []),
    ...(reset === undefined ? [] : [row('until', reset)]),
  ];
}

const placeIn = ({ file, line, column }: ErrorRecord): string =>
  file ? ` (${cleanLine([file, line, column].filter(Boolean).join(':'))})` : '';

const frameOf = ({ frame }: ErrorRecord): string[] =>
  frame ? cleanFrame(frame).map((line) => `    ${line}`.trimEnd()) : [];

/** The rest of the stack: the first line stands in the frame. */
function callersOf({ stack }: ErrorRecord): string[] {
  const callers = (stack ?? '').split('\n').slice(1, 1 + CALLERS_NAMED);
  return callers.map((line) => `      ${cleanLine(line)}`);
}

/** The script came to its end although these were thrown: whoever reads only the result would not know. */
function describeScriptErrors({ count, first }: ScriptErrors): string[] {
  const what = `${plural(count, 'error')} in the script became null in a slot, or nobody caught it`;
  const named = first.flatMap((error, i) => [
    `      ${cleanLine(error.message)}${placeIn(error)}`,
    ...(i < FRAMES_SHOWN ? frameOf(error) : []),
  ]);
  return [row('script', `${what}:`), ...named];
}

/** An agent that is asked for the last time may give a dummy that fits. */
function describeLastTries({ lastTries = [], runId }: FinishedEvent): string[] {
  if (lastTries.length === 0) return [];
  const rest = lastTries.length - LAST_TRIES_NAMED;
  return [
    row('last try', `${plural(lastTries.length, 'answer')} fitted the schema only there; look whether they are meant:`),
    ...lastTries.slice(0, LAST_TRIES_NAMED).map((call) => `      ${nameCall(call)}`),
    ...(rest > 0 ? [`      and ${formatCount(rest)} more: wf show ${runId}`] : []),
  ];
}

/** The loser of a race is meant to end so; a forgotten `await` looks the same, and nothing else would tell of it. */
function describeLeft(abandoned: number): string[] {
  if (abandoned === 0) return [];
  const were = abandoned === 1 ? 'was' : 'were';
  const what = `${plural(abandoned, 'call')} ${were} open when the script returned, and ${were} ended`;
  return [row('left', `${what}: \`await\` what is meant to finish`)];
}

/** Whoever looks after what an agent may have done must not be sent after calls that no agent ever got. */
function describeOpen(noResult: number, notStarted: number): string[] {
  const cutOff = noResult - notStarted;
  return [
    ...(cutOff > 0
      ? [
          row(
            'open',
            `${plural(cutOff, 'call')} without a recorded result; what was done outside is not known, look there first`,
          ),
        ]
      : []),
    ...(notStarted > 0 ? [row('waiting', `${plural(notStarted, 'call')} that had not been started`)] : []),
  ];
}

const describeMadeUp = (reused: number): string =>
  reused === 0
    ? 'made up: no agent gave them, and only a run on mock reuses them'
    : 'made up, but for reused ones that an agent had given; only a run on mock reuses made-up ones';

function placeOf(finished: FinishedEvent, given: string | undefined): string {
  const resultPlace = given && showPath(given);
  const { status, folder, hasResult, error } = finished;
  if (error?.code === 'WF_OWNER_LOST') return 'none; the outcome will be that of the run that has taken over';
  if (finished.stateWritten === false) {
    const place = status === 'completed' && hasResult !== false ? resultPlace : undefined;
    return `${place ?? 'none'}; state.json could not be written`;
  }
  const state = showPath(join(folder, 'state.json'));
  if (status !== 'completed') return `none; the outcome is in ${state}`;
  if (error?.code === 'WF_OUTPUT') return state;
  if (hasResult === false) return `none, the script returned nothing; the outcome is in ${state}`;
  return resultPlace ? `${resultPlace}, also in ${state}` : state;
}

/** Work that is nowhere else: where it lies is said also when the run went well. */
function describeWorktrees({ worktrees = [], runId }: FinishedEvent): string[] {
  if (worktrees.length === 0) return [];
  const named = worktrees.slice(0, WORKTREES_NAMED);
  const rest = worktrees.length - named.length;
  return [
    row('kept', `${plural(worktrees.length, 'worktree')}:`),
    ...named.map(
      (kept) =>
        `      ${nameCall({ n: kept.n, label: kept.label })}${kept.from ? ` of run ${kept.from}` : ''}: ${describeWorktree(kept)}`,
    ),
    ...(rest > 0 ? [`      and ${formatCount(rest)} more: wf show ${runId}`] : []),
  ];
}

/** `: 8 ok, 2 failed; 4 reused, 6 executed` without the words whose number is 0. */
function describeEnds(counts: Counts): string {
  const outcomes = [
    [counts.ok, 'ok'],
    [counts.failed, 'failed'],
    [counts.recovered, 'failed, recovered'],
    [counts.skipped, 'skipped'],
    [counts.abandoned, 'abandoned'],
    [counts.noResult, 'with no result recorded'],
  ] as const;
  const told = outcomes.filter(([number]) => number > 0).map(([number, word]) => `${formatCount(number)} ${word}`);
  const ends = told.length > 0 ? `: ${told.join(', ')}` : '';
  return `${ends}; ${formatCount(counts.reused)} reused, ${formatCount(counts.executed)} executed`;
}

/** Each phase with its counts, below it the calls that gave no answer and why. No line begins with foreign text. */
function describePhases({ phases, failures, runId }: FinishedEvent, paint: Paint): string[] {
  const rows = failureRows(failures);
  const named = rows.slice(0, FAILURES_NAMED);
  const lines: string[] = [];
  const listed = new Set<string | null>();
  for (const { title, counts } of phases) {
    listed.add(title);
    const onlyPhase = phases.length === 1 && title === null;
    if (!onlyPhase)
      lines.push(
        `    ${title === null ? 'no phase' : `phase ${cleanLine(title, 80)}`}, ${plural(counts.calls, 'call')}${describeEnds(counts)}`,
      );
    lines.push(...named.filter(([{ phase }]) => phase === title).map((row) => describeFailures(row, paint)));
  }
  lines.push(...named.filter(([{ phase }]) => !listed.has(phase)).map((row) => describeFailures(row, paint)));
  const rest = countRows(rows.slice(FAILURES_NAMED));
  if (rest > 0) lines.push(`      and ${formatCount(rest)} more: wf show ${runId}`);
  return lines;
}

function describeFailures(row: FailureRow, paint: Paint): string {
  const [first] = row;
  const mark = first.recovered || first.status !== 'failed' ? paint.doubtful : paint.bad;
  const calls = nameRow(row, ({ n, label }) => nameCall({ n, label }), formatCount);
  return `      ${mark(wordOf(first))} ${calls}: ${describeCause(first)}`;
}

function describeTokensOf(usage: Usage, counts: Counts): string {
  const saved = counts.reused > 0 ? `; saved by reuse: ${formatSavedTokens(usage)}` : '';
  return `${formatTokensOf(usage)}${saved}`;
}

function describeCost(usage: Usage, counts: Counts): string {
  const unknown = usage.usdUnknownCalls ?? 0;
  const rest = usage.usd !== null && unknown > 0 ? `, and ${plural(unknown, 'call')} of unknown cost` : '';
  return `${formatUsd(usage.usd)}${rest}${counts.reused > 0 ? `; saved by reuse: ${formatUsd(usage.savedUsd)}` : ''}`;
}
