/** Annotations and the step summary of GitHub Actions. It adds to the live account and does not replace it. */
import type { Failure, Reporter } from '../engine/events.js';
import type { ErrorRecord } from '../shared/outcome.js';
import { cleanLine } from './clean-line.js';
import { describeCause } from './describe-event.js';
import { describeReset } from './describe-reset.js';
import { summarizeInMarkdown } from './github-summary.js';
import { addToAccount, type FinishedEvent, newRunAccount } from './run-account.js';
import type { WriteText } from './write-text.js';

/** GitHub shows ten annotations of a kind for a step; the last one names the rest. */
const SHOWN = 10;

export interface GithubOptions {
  /** Takes the annotations: GitHub reads them on stdout and stderr alike. */
  write: WriteText;
  /** Takes the markdown, once; absent outside of GitHub Actions. */
  writeSummary?: WriteText | undefined;
}

export function createGithubReporter({ write, writeSummary }: GithubOptions): Reporter {
  const account = newRunAccount();
  let warnings = 0;
  return {
    event(event) {
      addToAccount(account, event);
      if (event.type === 'warning' && ++warnings <= SHOWN)
        write(annotate('warning', { title: event.code }, event.message));
      if (event.type !== 'run.finished') return;
      annotateEnd(event, write);
      writeSummary?.(summarizeInMarkdown(event, account.started));
    },
  };
}

function annotateEnd(event: FinishedEvent, write: WriteText): void {
  if (event.error)
    write(annotate('error', placeOf(event.error), `${describeCause(event.error)}${untilOf(event.error)}`));
  const failures = event.failures.filter((failure) => !failure.recovered);
  const free = event.error ? SHOWN - 1 : SHOWN;
  const named = failures.length > free ? failures.slice(0, free - 1) : failures;
  // Failures that the caller allowed do not fail the step, so they are no errors there.
  const level = event.exitCode === 0 ? 'warning' : 'error';
  for (const failure of named) write(annotate(level, { title: titleOf(failure) }, describeCause(failure)));
  const rest = failures.length - named.length;
  if (rest > 0) write(annotate(level, { title: 'wf' }, `${rest} more calls gave no answer: wf show ${event.runId}`));
}

function untilOf(error: ErrorRecord): string {
  const reset = describeReset(error);
  return reset === undefined ? '' : ` (until ${reset})`;
}

const titleOf = (failure: Failure): string => `wf: call #${failure.n} ${cleanLine(failure.label, 80)}`;

function placeOf(error: ErrorRecord): Record<string, string> {
  return {
    ...(error.file && { file: error.file }),
    ...(error.file && error.line && { line: String(error.line) }),
    ...(error.file && error.column && { col: String(error.column) }),
    title: `wf: ${error.code}`,
  };
}

/** One workflow command. The marks of the syntax are escaped, so that no foreign text can make another command. */
function annotate(level: 'error' | 'warning', properties: Record<string, string>, message: string): string {
  const told = Object.entries(properties).map(([name, value]) => `${name}=${escapeProperty(cleanLine(value, 200))}`);
  return `::${level} ${told.join(',')}::${escapeData(cleanLine(message))}\n`;
}

const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const escapeProperty = (text: string): string => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
