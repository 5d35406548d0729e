/** How a run ended, in the words of its record: status, cause, exit code, and the result or the error. */
import type { EngineEnd } from '../engine/engine-options.js';
import type { Claim } from '../runs/claim-files.js';
import { ERROR_CODES, EXIT, type ErrorCode } from '../shared/errors.js';
import type { Counts, ErrorRecord, RunStatus } from '../shared/outcome.js';

export interface Outcome {
  status: RunStatus;
  cause: string;
  exitCode: number;
  result?: unknown;
  error?: ErrorRecord;
}

/**
 * @param exitCode of the request that ended the run, when there was one
 * @param successor who has taken over, when the lineage was lost and that can be seen
 */
export function explainEnd(
  end: EngineEnd,
  counts: Counts,
  allowFailures: boolean,
  exitCode: number | undefined,
  successor?: Claim | null,
): Outcome {
  switch (end.how) {
    case 'done': {
      const unanswered = counts.failed + counts.noResult + counts.skipped;
      return {
        status: 'completed',
        cause: unanswered === 0 ? 'done' : 'calls-failed',
        exitCode: unanswered === 0 || allowFailures ? EXIT.ok : EXIT.callsFailed,
        ...(end.hasResult ? { result: end.result } : {}),
      };
    }
    case 'failed':
      return {
        status: 'failed',
        cause: end.error.code,
        exitCode: exitCodeOf(end.error.code, EXIT.runFailed),
        error: end.error,
      };
    case 'shared-failure':
      return { status: 'failed', cause: end.error.code, exitCode: EXIT.sharedFailure, error: end.error };
    case 'cancelled':
      return {
        status: 'cancelled',
        cause: 'WF_CANCELLED',
        exitCode: exitCode ?? EXIT.cancelled,
        error: {
          code: 'WF_CANCELLED',
          message:
            'The run was cancelled. Calls that had started were asked to stop; what they did outside may remain.',
        },
      };
    case 'drained':
      return {
        status: 'interrupted',
        cause: 'drained',
        exitCode: exitCode ?? EXIT.drained,
        error: {
          code: 'WF_DRAINED',
          message: 'The run was asked to end: nothing new was started, and what ran was given its time.',
        },
      };
    case 'owner-lost':
      return {
        status: 'interrupted',
        cause: 'WF_OWNER_LOST',
        exitCode: EXIT.runFailed,
        error: {
          code: 'WF_OWNER_LOST',
          message: describeLoss(successor),
        },
      };
  }
}

function describeLoss(successor: Claim | null | undefined): string {
  if (!successor) return 'Another process has taken over this run; this one wrote nothing more.';
  const { owner, runId } = successor;
  return `Another process has taken over this run (process ${owner.pid} on ${owner.host}, as run ${runId}); this one wrote nothing more. wf show ${runId} says how it goes on.`;
}

/** An error of a call that ended the script (`WF_BUDGET`, `WF_SCHEMA_UNMET`, …) makes the run fail like any other. */
function exitCodeOf(code: string, otherwise: number): number {
  const exit = ERROR_CODES[code as ErrorCode] as number | undefined;
  return exit === undefined || exit === EXIT.callsFailed || exit === EXIT.notStarted ? otherwise : exit;
}
