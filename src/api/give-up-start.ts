import { WfError } from '../shared/errors.js';

/** @throws WfError `WF_CANCELLED` when the start was given up */
export function refuseGivenUp(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  throw new WfError('WF_CANCELLED', 'The run was cancelled before it had begun: nothing was started.');
}
