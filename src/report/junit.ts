/**
 * JUnit XML: one test case a call, written when the run ends. A run that did not complete gets one case more, named
 * `run`: otherwise a script that threw after good calls would look like a success.
 */
import type { Reporter } from '../engine/events.js';
import type { ErrorRecord } from '../shared/outcome.js';
import { showPath } from '../shared/quote-word.js';
import { cleanFrame, cleanLine } from './clean-line.js';
import { describeReset } from './describe-reset.js';
import {
  addToAccount,
  type CallAccount,
  callsInOrder,
  type FinishedEvent,
  newRunAccount,
  type RunAccount,
} from './run-account.js';
import type { WriteText } from './write-text.js';

export function createJunitReporter(options: { write: WriteText }): Reporter {
  const account = newRunAccount();
  return {
    event(event) {
      addToAccount(account, event);
      if (event.type === 'run.finished') options.write(describeAsXml(account, event));
    },
  };
}

interface Case {
  name: string;
  group: string;
  seconds: string;
  verdict: 'passed' | 'failure' | 'error' | 'skipped';
  inner: string;
}

function describeAsXml({ started, calls }: RunAccount, finished: FinishedEvent): string {
  const workflow = started?.workflow ?? finished.runId;
  const recovered = new Set(finished.failures.filter((failure) => failure.recovered).map((failure) => failure.n));
  const cases = callsInOrder(calls).map((call) => caseOf(call, workflow, recovered.has(call.n)));
  if (finished.status !== 'completed' || finished.error !== undefined) cases.push(caseOfRun(finished, workflow));
  const count = (verdict: Case['verdict']): number => cases.filter((entry) => entry.verdict === verdict).length;
  const totals = `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}" time="${seconds(finished.durationMs)}"`;
  const begun = started ? ` timestamp="${attribute(started.t)}"` : '';
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="wf" ${totals}>`,
    `  <testsuite name="${attribute(workflow)}" id="${attribute(finished.runId)}"${begun} ${totals}>`,
    ...cases.map(
      ({ name, group, seconds: time, inner }) =>
        `    <testcase name="${attribute(name)}" classname="${attribute(group)}" time="${time}"${inner ? `>${inner}</testcase>` : '/>'}`,
    ),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function caseOf(call: CallAccount, workflow: string, recovered: boolean): Case {
  const about = { name: `#${call.n} ${call.label}`, group: call.phase ?? workflow, seconds: seconds(call.durationMs) };
  if (call.status === 'ok') return { ...about, verdict: 'passed', inner: '' };
  if (call.status === 'failed') {
    const error = call.error ?? { code: 'WF_AGENT_FAILED', message: 'No cause was recorded.' };
    const text = `${error.code}: ${error.message}`;
    if (recovered)
      return { ...about, verdict: 'passed', inner: `<system-out>failed, recovered: ${content(text)}</system-out>` };
    return { ...about, verdict: 'failure', inner: faultElement('failure', error) };
  }
  const reason = call.status === 'skipped' ? 'skipped' : 'no result recorded';
  return { ...about, verdict: 'skipped', inner: `<skipped message="${reason}"/>` };
}

function caseOfRun({ status, error, durationMs }: FinishedEvent, workflow: string): Case {
  const fault = error ?? { code: status, message: `The run ended as ${status}.` };
  return {
    name: 'run',
    group: workflow,
    seconds: seconds(durationMs),
    verdict: 'error',
    inner: faultElement('error', fault),
  };
}

function faultElement(element: 'failure' | 'error', error: ErrorRecord): string {
  const frame = error.frame ? `\n${cleanFrame(error.frame).join('\n')}` : '';
  const place = error.file ? `\nat ${[showPath(error.file), error.line, error.column].filter(Boolean).join(':')}` : '';
  const reset = describeReset(error);
  const until = reset === undefined ? '' : `\nuntil ${reset}`;
  return `<${element} type="${attribute(error.code)}" message="${attribute(error.message)}">${content(error.message)}${escapeXml(`${place}${until}${frame}`)}</${element}>`;
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);
const attribute = (text: string): string => escapeXml(cleanLine(text, 300));
const content = (text: string): string => escapeXml(cleanLine(text, 4_000));

const escapeXml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    // Not allowed in XML, even when escaped.
    .replace(/[\ufffe\uffff]/g, '\ufffd');
