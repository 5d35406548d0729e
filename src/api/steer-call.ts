import { WfError } from '../shared/errors.js';
import type { CallStatus } from '../shared/outcome.js';
import { askOwner, findOwnRun, type Where } from './reach-owner.js';

/** The call that a request reached. */
export interface SteerReport {
  runId: string;
  n: number;
  label: string;
  /** Its status when the request came: `queued` or `running`. */
  was: CallStatus;
}

/**
 * Lets one queued or running call of a live run end without an answer: its agent is ended, the script gets `null`, and a
 * resume runs the call again. Resolves when the run's owner has taken the request.
 *
 * @param id UUID of the run, or a prefix that only one run has
 * @param call `#n`, or a label or key prefix that only one call of the run has
 * @throws WfError `WF_USAGE` (no such call, or several), `WF_CALL_STATE` (it has ended), `WF_RUN_NOT_LIVE`, `WF_CONTROL`
 * @example await skipCall('3f2a', '#7')
 */
export const skipCall = (id: string, call: string, where: Where = {}): Promise<SteerReport> =>
  steer('skip', id, call, where);

/**
 * Ends the present attempt of a running call, or its wait for the next one, and starts another attempt at once. It stays
 * the same call with the same `WF_CALL_KEY`; its limits begin anew. Resolves when the run's owner has taken the request.
 *
 * @param id UUID of the run, or a prefix that only one run has
 * @param call `#n`, or a label or key prefix that only one call of the run has
 * @throws WfError `WF_USAGE` (no such call, or several), `WF_CALL_STATE` (it is not running), `WF_RUN_NOT_LIVE`, `WF_CONTROL`
 * @example await retryCall('3f2a', 'review src/a.ts')
 */
export const retryCall = (id: string, call: string, where: Where = {}): Promise<SteerReport> =>
  steer('retry', id, call, where);

async function steer(verb: 'skip' | 'retry', id: string, call: string, where: Where): Promise<SteerReport> {
  const { runId, folder } = findOwnRun(id, where);
  const { call: reached } = await askOwner(folder, runId, { verb, call });
  if (reached === undefined)
    throw new WfError(
      'WF_CONTROL',
      `Run ${runId} did not say which call it ${verb === 'skip' ? 'skips' : 'starts again'}.`,
    );
  return { runId, n: reached.n, label: reached.label, was: reached.was as CallStatus };
}
