import type { RunResult, RunWorkflowOptions } from './run-options.js';
import { startWorkflow } from './start-run.js';

/**
 * Runs a workflow to its end.
 *
 * @throws WfError when nothing was started (exit codes 2 and 5); a run that started never makes it reject
 *
 * @example
 * const { status, result, counts } = await runWorkflow({ script: 'review.js', backend: 'mock' });
 */
export async function runWorkflow(options: RunWorkflowOptions): Promise<RunResult> {
  const run = await startWorkflow(options);
  return run.done;
}
