/** One test: each case is run, compared and, where that was asked for, written. */
import { findWorkflow } from '../../script/find-workflow.js';
import { WfError } from '../../shared/errors.js';
import { findPlaces } from '../prepare-run.js';
import type { CaseReport, TestOptions, TestReport } from '../test-workflow.js';
import { compareCase, makeExpectations } from './compare-case.js';
import { openExpectations } from './expectation-file.js';
import { type Expectations, hasAnswers, hasResult } from './expectations.js';
import { findAnswers } from './find-answers.js';
import { type Played, playCase } from './play-case.js';

/** @throws WfError as `testWorkflow` does */
export async function runTest(given: TestOptions): Promise<TestReport> {
  if (given.mock !== undefined && given.from !== undefined)
    throw new WfError('WF_USAGE', '--mock and --from cannot be given together.', {
      remedy: 'Answers come from one of them.',
    });
  const places = findPlaces(given);
  const { path: script } = findWorkflow(given.script, places);
  const update = given.update === true;
  const file = await openExpectations(script, given.expect, places.cwd, update);
  const flag = given.mock !== undefined ? '--mock' : given.from !== undefined ? '--from' : undefined;
  if (update && flag !== undefined && file.cases.some(hasAnswers)) {
    throw new WfError('WF_USAGE', `--update cannot be given with ${flag}: ${file.shown} names its own answers.`, {
      remedy: `Take the answers out of the file, or leave ${flag} away.`,
    });
  }
  const cases: CaseReport[] = [];
  const changes: (Expectations | undefined)[] = [];
  for (const [index, expected] of file.cases.entries()) {
    const answers = findAnswers(expected, file.path, given);
    const args = Object.hasOwn(expected, 'args') ? expected : answers;
    const played = await playCase(script, 'args' in args ? { value: args.args } : undefined, answers, given);
    if (given.signal?.aborted) throw new WfError('WF_CANCELLED', 'The test was stopped.');
    const differing = compareCase(expected, played);
    const change = update ? changeOf(expected, played, Object.keys(differing), answers.written) : undefined;
    changes.push(change);
    const differences = Object.values(differing).flat();
    cases.push({
      name: expected.name ?? (file.cases.length === 1 ? 'the script' : `case ${index + 1}`),
      status: change !== undefined ? 'written' : differences.length > 0 ? 'differs' : 'met',
      differences: change === undefined ? differences : [],
      calls: played.calls.length,
      exitCode: played.exitCode,
      madeUp: played.madeUp,
    });
  }
  if (changes.some((change) => change !== undefined)) await file.write(changes);
  return { file: file.path, ok: cases.every(({ status }) => status !== 'differs'), cases };
}

/** What is met stays as it is written; a case that expects nothing yet gets everything. */
function changeOf(
  expected: Expectations,
  played: Played,
  differing: readonly string[],
  source: Expectations,
): Expectations | undefined {
  const { args, ...answers } = source;
  const inputs = args === undefined || Object.hasOwn(expected, 'args') ? answers : source;
  const happened = makeExpectations(played);
  const { calls, failures, exitCode } = expected;
  if (calls === undefined && failures === undefined && exitCode === undefined && !hasResult(expected))
    return { ...inputs, ...happened };
  if (differing.length === 0) return undefined;
  const none: Expectations = { failures: 0, exitCode: 0, result: undefined };
  const changed = differing.map((name) => [name, { ...none, ...happened }[name as keyof Expectations]]);
  return { ...inputs, ...Object.fromEntries(changed) };
}
