import { type CallDetail, findCall, type RunView, readRun } from '../../index.js';
import { cleanFrame, cleanLine } from '../../report/clean-line.js';
import { describeWorktree } from '../../report/describe-event.js';
import { describeReset } from '../../report/describe-reset.js';
import { formatDuration, formatTokensOf, formatUsd } from '../../report/format.js';
import { oneLine } from '../../shared/one-line.js';
import { showPath } from '../../shared/quote-word.js';

/** `wf show`: what is recorded of a run, and no more than that. */
export async function show(
  id: string,
  call: string | undefined,
  flags: { json?: boolean; runsDir?: string },
): Promise<number> {
  const { details, readDetail, ...run } = readRun(id, { runsDir: flags.runsDir });
  const found = call === undefined ? undefined : readDetail(findCall(details, call).n);
  if (flags.json) process.stdout.write(`${JSON.stringify(found ?? run, null, 2)}\n`);
  else process.stdout.write(found === undefined ? describeRun(run) : describeCall(found));
  return 0;
}

const row = (name: string, text: string): string => `${name.padEnd(10)} ${oneLine(text)}\n`;

function describeRun(run: RunView): string {
  let text = row('run', run.runId) + row('workflow', cleanLine(run.workflow)) + row('status', statusText(run));
  if (run.owner !== null)
    text += row('owner', `pid ${run.owner.pid} on ${run.owner.host}, last heartbeat ${run.owner.heartbeat}`);
  if (run.resumedFrom !== null) text += row('from', run.resumedFrom);
  text += row('started', run.startedAt);
  if (run.endedAt !== null)
    text += row('ended', `${run.endedAt} (${formatDuration(Date.parse(run.endedAt) - Date.parse(run.startedAt))})`);
  text += row('backend', `${run.backend || 'none'}${run.madeUp ? ' (answers are made up)' : ''}`);
  text += row('folder', showPath(run.folder));
  text += row('tokens', `${formatTokensOf(run.usage)}, cost ${formatUsd(run.usage.usd)}`);
  if (run.verdicts !== undefined) {
    const { execution, acceptance, postProcessing, delivery } = run.verdicts;
    text += row(
      'verdicts',
      `execution ${execution}, acceptance ${acceptance}, post-processing ${postProcessing}, delivery ${delivery}`,
    );
  }
  if (run.error !== undefined) {
    const { file, line, column, code, message, frame } = run.error;
    text += row(
      'error',
      `${code}: ${cleanLine(message)}${file === undefined ? '' : ` (${showPath(file)}:${line}:${column})`}`,
    );
    if (frame !== undefined) text += `${cleanFrame(frame).join('\n').trimEnd()}\n`;
    const reset = describeReset(run.error);
    if (reset !== undefined) text += row('until', reset);
  }
  const now = Date.now();
  if (run.status === 'running') text += row('now', describeOpen(run.calls));
  for (const phase of run.phases) {
    const calls = run.calls.filter((call) => call.phase === phase.title);
    text += `\n${phase.title === null ? '(no phase)' : cleanLine(phase.title)}\n`;
    for (const call of calls) text += describeRow(call, now);
  }
  for (const call of run.calls) {
    for (const kept of call.worktrees ?? []) text += `\nworktree of #${call.n}: ${describeWorktree(kept)}\n`;
  }
  for (const notice of run.notices) text += `\n! ${cleanLine(notice, 2000)}\n`;
  return text + nextStep(run);
}

/** Says only what was observed: without a live owner and a recorded end a run is interrupted, whatever it was doing. */
function statusText(run: RunView): string {
  if (run.status === 'interrupted' && run.error === undefined)
    return 'interrupted (no end is recorded and its owner was not seen to live)';
  return run.status;
}

/** What the run is waiting for. */
function describeOpen(calls: RunView['calls']): string {
  const open = calls.filter((call) => call.status === 'running');
  const waiting = open.filter((call) => call.retry !== undefined).length;
  const queued = calls.filter((call) => call.status === 'queued').length;
  return `${open.length - waiting} running, ${waiting} waiting for another try, ${queued} waiting for their turn`;
}

/** An agent that says nothing may think or hang: who looks is told since when. */
function describeState(call: RunView['calls'][number], now: number): string {
  const { status, startedAt, lastSignAt, retry } = call;
  if (call.reused) return `reused from ${call.from}`;
  if (status !== 'running' || startedAt === null || lastSignAt === undefined) return STATUS_WORDS[status];
  const since = (at: string): string => formatDuration(Math.max(0, now - Date.parse(at)));
  if (retry !== undefined) return `attempt ${call.attempts} failed (${retry.kind}), tried again at ${retry.at}`;
  return `running for ${since(startedAt)}, attempt ${call.attempts}, last sign ${since(lastSignAt)} ago`;
}

function describeRow(call: RunView['calls'][number], now: number): string {
  const state = describeState(call, now);
  const error = call.error === undefined ? '' : ` — ${call.error.code}: ${cleanLine(call.error.message, 200)}`;
  const lastTry = call.lastTry ? ', fitted its schema only at the last try' : '';
  return `  ${`#${call.n}`.padEnd(5)} ${cleanLine(call.label, 60).padEnd(40)} ${state}${lastTry}${error}\n`;
}

const STATUS_WORDS: Record<RunView['calls'][number]['status'], string> = {
  ok: 'ok',
  failed: 'failed',
  skipped: 'skipped',
  queued: 'waiting for its turn',
  running: 'running',
  'no-result': 'no result recorded',
};

/** Calls that nobody ever worked on. Only a run that came to an end of its own can tell them from those that were cut off. */
function countUnstarted({ endedAt, counts, calls }: RunView): number {
  if (endedAt === null || counts.abandoned > 0) return 0;
  return calls.filter((call) => call.status === 'no-result' && call.startedAt === null).length;
}

function nextStep(run: RunView): string {
  const open = run.counts.noResult;
  if (run.status === 'running') return '';
  if (run.verdicts !== undefined) return '\nAnother engine made this run; go on from it with that engine.\n';
  const waited = countUnstarted(run);
  const cutOff = Math.max(0, open - waited);
  const look =
    (waited === 0 ? '' : `\n${waited} ${waited === 1 ? 'call' : 'calls'} had not been started.`) +
    (cutOff === 0
      ? ''
      : `\n${cutOff} ${cutOff === 1 ? 'call has' : 'calls have'} no result recorded: what was done outside is not known. Look at the workspace first.`);
  if (run.noResume !== undefined) return `${look}\nNo resume can go on from it: ${cleanLine(run.noResume, 500)}\n`;
  if (run.wentOn !== undefined) {
    const { runId, status, answers } = run.wentOn;
    const then = run.resumeCommand === null ? `See it: wf show ${runId}` : `To go on: ${run.resumeCommand}`;
    return `${look}\nRun ${runId} went on from it, is ${status}, and has ${answers} more ${answers === 1 ? 'answer' : 'answers'}. ${then}\n`;
  }
  return run.resumeCommand === null ? '' : `${look}\nTo go on: ${run.resumeCommand}\n`;
}

function describeCall(call: CallDetail): string {
  let text = row('call', `#${call.n} ${cleanLine(call.label)}`);
  text += row('status', call.reused ? `reused from ${call.from}` : STATUS_WORDS[call.status]);
  if (call.phase !== null) text += row('phase', cleanLine(call.phase));
  if (call.key !== null) text += row('key', call.key);
  if (call.path) text += row('path', call.path);
  text += row('attempts', `${call.attempts}${call.lastTry ? ', fitted its schema only at the last try' : ''}`);
  if (call.startedAt !== null) text += row('started', call.startedAt);
  if (call.endedAt !== null) text += row('ended', call.endedAt);
  if (call.model !== undefined) text += row('model', call.model);
  if (call.sessionId !== undefined) text += row('session', call.sessionId);
  if (call.usage !== undefined) text += row('tokens', `${call.usage.inputTokens} in, ${call.usage.outputTokens} out`);
  if (call.error !== undefined) text += row('error', `${call.error.code}: ${call.error.message}`);
  for (const kept of call.worktrees ?? []) {
    text += row('worktree', describeWorktree(kept));
    for (const file of kept.files) text += row('', cleanLine(file, 200));
    if (kept.fileCount > kept.files.length) text += row('', `and ${kept.fileCount - kept.files.length} more`);
  }
  if (call.prompt !== undefined) text += `\nprompt\n${indent(call.prompt)}`;
  if (call.options !== undefined) text += `\noptions\n${indent(JSON.stringify(call.options, null, 2))}`;
  if ('output' in call)
    text += `\nanswer\n${indent(typeof call.output === 'string' ? call.output : JSON.stringify(call.output, null, 2))}`;
  return text;
}

const indent = (text: string): string =>
  `${text
    .split(/\r?\n/)
    // For the eye: `--json` gives it as it is.
    .map((line) => `  ${oneLine(line, '\t')}`)
    .join('\n')}\n`;
