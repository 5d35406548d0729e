/** Where the answers of a case come from: rules of a file, of a recorded run, or of the case itself. */
import { dirname, relative, resolve } from 'node:path';
import type { MockOptions } from '../../agents/mock/mock-backend.js';
import type { MockRule } from '../../agents/mock/mock-rules.js';
import { findRun } from '../../runs/find-run.js';
import { readRunRecord } from '../../runs/run-records.js';
import { observeRun } from '../../runs/run-status.js';
import { currentFolder } from '../current-folder.js';
import { findPlaces } from '../prepare-run.js';
import { readAnswers } from '../record-answers.js';
import type { TestOptions } from '../test-workflow.js';
import type { Expectations } from './expectations.js';

export interface Answers {
  /** Absent where all answers are made up. */
  rules?: Pick<MockOptions, 'rules' | 'file'>;
  /** The args of the recorded run, for a case that has none. */
  args?: unknown;
  /** What a written case holds of where its answers came from: what a flag named stands in no case. */
  written: Pick<Expectations, 'answers' | 'mock' | 'args'>;
}

/**
 * @param file the expectations, absolute: what they name lies relative to them
 * @throws WfError `WF_RUN_ID`, `WF_RUN_UNKNOWN`, `WF_RUN_FOREIGN`
 */
export function findAnswers(expected: Expectations, file: string, given: TestOptions): Answers {
  if (given.mock !== undefined) {
    const path = resolve(given.cwd ?? currentFolder(), given.mock);
    return { rules: { file: path }, written: { mock: relative(dirname(file), path) } };
  }
  if (given.from !== undefined) {
    const run = readAnswersOf(given.from, given);
    // The run may be pruned; a test should outlive it.
    return { ...run, written: { ...('args' in run ? { args: run.args } : {}), answers: run.rules.rules } };
  }
  if (expected.from !== undefined) return { ...readAnswersOf(expected.from, given), written: {} };
  if (expected.mock !== undefined) return { rules: { file: resolve(dirname(file), expected.mock) }, written: {} };
  if (expected.answers !== undefined) return { rules: { rules: expected.answers as MockRule[] }, written: {} };
  return { written: {} };
}

function readAnswersOf(id: string, given: TestOptions): { rules: { rules: MockRule[] }; args?: unknown } {
  const { folder } = findRun(id, findPlaces(given).readFolders);
  const { args } = readRunRecord(folder);
  const rules = readAnswers(folder, observeRun(folder).summary.status === 'completed');
  return { rules: { rules }, ...(args === undefined ? {} : { args }) };
}
