import type { PhaseCounts } from '../engine/events.js';
import { cleanLine } from './clean-line.js';
import { wordOf } from './describe-event.js';
import { describeReset } from './describe-reset.js';
import { countRows, failureRows, nameRow } from './failure-rows.js';
import { formatCount, formatDuration, formatSavedTokens, formatTokensOf, formatUsd, plural } from './format.js';
import type { FinishedEvent, StartedEvent } from './run-account.js';

/** GitHub takes at most 1 MiB a step. */
const FAILURES_LISTED = 100;

/** The end of a run as markdown for `$GITHUB_STEP_SUMMARY`. */
export function summarizeInMarkdown(finished: FinishedEvent, started: StartedEvent | undefined): string {
  const { counts, usage, error } = finished;
  const reset = error && describeReset(error);
  const lines = [
    `## wf: ${escapeText(started?.workflow ?? 'run')} ${finished.status}`,
    '',
    `Run \`${finished.runId}\`${started ? `, backend ${escapeText(started.backend || 'none')}` : ''}, ${formatDuration(finished.durationMs)}, exit code ${finished.exitCode}.`,
    ...(started?.madeUp ? ['', 'The answers are made up: no agent gave them.'] : []),
    ...(error ? ['', `**${escapeText(error.code)}**: ${escapeText(error.message)}`] : []),
    ...(reset === undefined ? [] : ['', `Until ${escapeText(reset)}.`]),
    '',
    '| phase | calls | ok | failed | no result | reused | executed |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...finished.phases.map((phase) => phaseRow(phase)),
    phaseRow({ title: 'all', counts }, true),
    '',
    `Tokens: ${formatTokensOf(usage)}${counts.reused > 0 ? `; saved by reuse ${formatSavedTokens(usage)}` : ''}. Cost: ${formatUsd(usage.usd)}.`,
    ...listFailures(finished),
    ...(finished.journalComplete ? [] : ['', 'The journal is incomplete: some results will run again on a resume.']),
    ...(finished.resumeCommand ? ['', 'To go on:', '', ...codeBlock(finished.resumeCommand)] : []),
  ];
  return `${lines.join('\n')}\n\n`;
}

function phaseRow({ title, counts }: PhaseCounts, strong = false): string {
  const name = title === null ? '(no phase)' : escapeText(title);
  const numbers = [counts.calls, counts.ok, counts.failed, counts.noResult, counts.reused, counts.executed];
  return `| ${strong ? `**${name}**` : name} | ${numbers.map(formatCount).join(' | ')} |`;
}

function listFailures({ failures, runId }: FinishedEvent): string[] {
  if (failures.length === 0) return [];
  const rows = failureRows(failures);
  const listed = rows.slice(0, FAILURES_LISTED).map((row) => {
    const [first] = row;
    const phase = first.phase === null ? '' : ` (${escapeText(first.phase)})`;
    const calls = nameRow(row, ({ n, label }) => `#${n} ${escapeText(label)}`, formatCount);
    return `- ${wordOf(first)}: ${calls}${phase}: ${first.code}, ${escapeText(first.message)}`;
  });
  const rest = countRows(rows.slice(FAILURES_LISTED));
  const more = rest > 0 ? [`- and ${formatCount(rest)} more: \`wf show ${runId}\``] : [];
  return ['', `### ${plural(failures.length, 'call')} to look at`, '', ...listed, ...more];
}

/** Foreign text that stays text: no markup, no table cell, no mention. */
const escapeText = (text: string): string =>
  cleanLine(text, 300)
    .replace(/[\\`*_{}[\]()#+!|~]/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('@', '&#64;');

/** A fence longer than any in the text, so that the text cannot end it. */
function codeBlock(text: string): string[] {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}sh`, text, fence];
}
