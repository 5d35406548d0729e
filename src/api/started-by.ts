import type { RunRecord } from '../runs/records.js';
import { WfError } from '../shared/errors.js';
import { isRunId } from '../shared/ids.js';

/** A run inside an agent of a run inside an agent: deeper than this is refused. */
const MAX_DEPTH = 3;

/**
 * The run whose agent started this process, from the environment that the agent was given.
 *
 * @throws WfError `WF_NESTED_TOO_DEEP`
 */
export function findStartedBy(env: Readonly<Record<string, string | undefined>>): RunRecord['startedBy'] {
  const runId = env.WF_RUN_ID;
  if (runId === undefined || !isRunId(runId)) return null;
  const depth = (/^\d{1,4}$/.test(env.WF_DEPTH ?? '') ? Number(env.WF_DEPTH) : 0) + 1;
  if (depth <= MAX_DEPTH) return { runId, depth };
  throw new WfError(
    'WF_NESTED_TOO_DEEP',
    `This wf was started by an agent of a run that is itself ${depth - 1} runs deep.`,
    {
      remedy: `Runs inside agents go ${MAX_DEPTH} deep; check for a workflow whose agents start it again.`,
    },
  );
}
