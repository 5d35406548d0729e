/** One line of plain words for each event. Labels and messages are foreign text: cleaned and of bounded length. */
import type { Failure, RunEvent } from '../engine/events.js';
import type { CallStatus, CallUsage, KeptWorktree } from '../shared/outcome.js';
import { showPath } from '../shared/quote-word.js';
import { cleanLine } from './clean-line.js';
import { formatDuration, formatTokens, plural } from './format.js';
import type { Paint } from './paint.js';
import type { FinishedEvent, StartedEvent } from './run-account.js';

const LABEL = 80;

/** What a person is told of a call's status. */
const STATUS_WORDS: Record<CallStatus, string> = {
  queued: 'queued',
  running: 'running',
  ok: 'ok',
  failed: 'failed',
  skipped: 'skipped',
  'no-result': 'no result recorded',
};

/** The status of a failure in words. */
export const wordOf = (failure: Failure): string =>
  failure.recovered ? 'failed, recovered' : STATUS_WORDS[failure.status];

/** `#3 src/a.ts [Review]` */
export function nameCall(call: { n: number; label: string; phase?: string | null }): string {
  const phase = call.phase ? ` [${cleanLine(call.phase, LABEL)}]` : '';
  return `#${call.n} ${cleanLine(call.label, LABEL)}${phase}`;
}

/** `WF_AGENT_TIMEOUT: no end within 60 s` */
export const describeCause = (error: { code: string; message: string }): string =>
  `${error.code}: ${cleanLine(error.message)}`;

/** The line of an event, without time and line end. */
export function describeEvent(event: RunEvent, paint: Paint): string {
  switch (event.type) {
    case 'run.started':
      return describeStart(event, paint);
    case 'run.finished':
      return describeEnd(event, paint);
    case 'phase':
      return paint.strong(`phase: ${cleanLine(event.title)}`);
    case 'log':
      return `${event.level === 'log' ? 'log' : `log (${event.level})`}: ${cleanLine(event.message)}`;
    case 'warning':
      return paint.doubtful(`warning: ${describeCause(event)}`);
    case 'call.queued':
      return paint.quiet(`${nameCall(event)}: queued`);
    case 'call.started':
      return `${nameCall(event)}: ${event.attempt > 1 ? `attempt ${event.attempt} started` : 'started'}`;
    case 'call.progress':
      return paint.quiet(`${nameCall(event)}: ${cleanLine(event.text)}`);
    case 'call.retry': {
      const wait = formatDuration(event.delayMs);
      return paint.doubtful(`${nameCall(event)}: tried again in ${wait} (${event.kind}, attempt ${event.attempt})`);
    }
    case 'call.worktree':
      return describeWorktreeNews(event, paint);
    case 'call.finished':
      return describeCallEnd(event, paint);
  }
}

function describeStart(event: StartedEvent, paint: Paint): string {
  const from = event.resumedFrom
    ? `, resumed from ${event.resumedFrom} with ${plural(event.kept, 'recorded result')}`
    : '';
  const madeUp = event.madeUp ? ', its answers are made up' : '';
  const why = event.backendWhy === undefined ? '' : ` (${cleanLine(event.backendWhy, 300)})`;
  // Id and folder are never cut: a person may have nothing but this line.
  return `${paint.strong(`run ${event.runId} started`)}: ${cleanLine(event.workflow)}, backend ${cleanLine(event.backend) || 'none'}${why}${madeUp}, ${plural(
    event.concurrency,
    'call',
  )} at once${from}, folder ${showPath(event.folder)}`;
}

function describeWorktreeNews(event: Extract<RunEvent, { type: 'call.worktree' }>, paint: Paint): string {
  const { state, kept, path } = event;
  if (state === 'kept' && kept !== undefined) return `${nameCall(event)}: worktree kept, ${describeWorktree(kept)}`;
  return paint.quiet(
    `${nameCall(event)}: worktree ${state}${state === 'made' ? ` in ${showPath(path)}` : ', it was unchanged'}`,
  );
}

/** `2 files, 1 commit, branch wf/…, in /…`: path and branch are never cut, a person may have nothing else. */
export function describeWorktree({ path, branch, fileCount, commits, doubt }: KeptWorktree): string {
  const what = doubt === undefined ? `${plural(fileCount, 'file')}, ${plural(commits, 'commit')}` : cleanLine(doubt);
  return `${what}, branch ${showPath(branch)}, in ${showPath(path)}`;
}

function describeEnd(event: FinishedEvent, paint: Paint): string {
  const text = `run ${event.runId} ${event.status} after ${formatDuration(event.durationMs)}, exit code ${event.exitCode}`;
  return event.exitCode === 0 ? paint.good(text) : paint.bad(text);
}

function describeCallEnd(event: Extract<RunEvent, { type: 'call.finished' }>, paint: Paint): string {
  if (event.reused) {
    const from = event.from ? ` from run ${event.from}` : '';
    return `${nameCall(event)}: ${paint.good(STATUS_WORDS[event.status])}, reused${from}`;
  }
  const mark = event.status === 'ok' ? paint.good : event.status === 'failed' ? paint.bad : paint.doubtful;
  const cause = event.error && event.status !== 'ok' ? ` (${describeCause(event.error)})` : '';
  const facts = [
    ...(event.attempts > 0 ? [formatDuration(event.durationMs)] : []),
    ...(event.attempts > 1 ? [plural(event.attempts, 'attempt')] : []),
    ...(event.lastTry ? [paint.doubtful('fitted its schema only at the last try')] : []),
    ...(event.usage ? [describeTokens(event.usage)] : []),
  ];
  return `${nameCall(event)}: ${mark(STATUS_WORDS[event.status])}${cause}${facts.map((fact) => `, ${fact}`).join('')}`;
}

/** `1,200 tokens in, 340 out` */
const describeTokens = (usage: Pick<CallUsage, 'inputTokens' | 'outputTokens'>): string =>
  `${formatTokens(usage.inputTokens)} tokens in, ${formatTokens(usage.outputTokens)} out`;
