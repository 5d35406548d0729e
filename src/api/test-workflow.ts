import type { RunWorkflowOptions } from './run-options.js';
import type { Difference } from '../shared/diff-json.js';

export interface TestOptions extends Pick<RunWorkflowOptions, 'cwd' | 'home' | 'env' | 'signal'> {
  /** Path of a script, or name of a saved workflow. */
  script: string;
  /** File of the expectations; default `<script>.test.json` or `.test.yaml` beside the script. */
  expect?: string | undefined;
  /** Rules file of `mock` that answers all cases, whatever they name themselves. */
  mock?: string | undefined;
  /** Id of a run, or a prefix that only one has, whose answers all cases get. */
  from?: string | undefined;
  /** Where that run is looked for. The runs of the test itself leave nothing there. */
  runsDir?: string | undefined;
  /** Write what happened into expectations that are missing or not met. */
  update?: boolean | undefined;
}

/** How one case went. */
export interface CaseReport {
  name: string;
  /** `written`: it was missing or not met, and the file now says what happened. */
  status: 'met' | 'differs' | 'written';
  differences: Difference[];
  calls: number;
  /** Exit code that `wf run` would have had. */
  exitCode: number;
  /** Labels of the calls that no answer was given for, though there were answers: theirs are made up. */
  madeUp: string[];
}

export interface TestReport {
  /** The expectations, absolute. */
  file: string;
  /** Every case is met or written. */
  ok: boolean;
  cases: CaseReport[];
}

/**
 * Runs a workflow on scripted answers and compares what happens with expectations. No agent is asked, and no run folder stays.
 *
 * @throws WfError `WF_TEST_FILE`, `WF_MOCK_FILE`, `WF_USAGE`, `WF_RUN_UNKNOWN`, and whatever keeps a run from starting;
 * `WF_CANCELLED` when `signal` aborts
 *
 * @example
 * const { ok, cases } = await testWorkflow({ script: 'review.js' });
 * for (const { name, differences } of cases) console.log(name, differences);
 */
export async function testWorkflow(options: TestOptions): Promise<TestReport> {
  // Loaded here only: no run should pay for it.
  const { runTest } = await import('./test/run-test.js');
  return runTest(options);
}
