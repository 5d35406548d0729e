import type { ErrorCode } from '../shared/errors.js';
import type { ErrorRecord } from '../shared/outcome.js';
import { wordNotStarted } from './not-started.js';
import type { SandboxDeath } from './sandbox-link.js';

/** Says of a sandbox that is gone only what was seen. */
export function explainDeath(
  death: Exclude<SandboxDeath, { why: 'killed' }>,
  limits: { memoryMb: number },
): ErrorRecord {
  if (death.why === 'died' && /Access to this API has been restricted|bad option: --permission/.test(death.detail)) {
    return {
      code: 'WF_SANDBOX_PERMISSION',
      message: `The sandbox process cannot work under Node's permission model here (${death.detail}). WF_SANDBOX_PERMISSION=off in the environment does without that layer.`,
    };
  }
  if (death.why === 'not-started') return { code: 'WF_SANDBOX_DIED', message: wordNotStarted(death.code) };
  const code: ErrorCode =
    death.why === 'unresponsive' ? 'WF_TURN_TIMEOUT' : death.why === 'memory' ? 'WF_SCRIPT_MEMORY' : 'WF_SANDBOX_DIED';
  const message =
    death.why === 'unresponsive'
      ? `The script did not come back from a turn within ${death.afterMs} ms; its sandbox was ended. Look for a loop without an end or an await, or raise --turn-timeout.`
      : death.why === 'memory'
        ? `The script needed more memory than its limit of ${limits.memoryMb} MB allows: ${death.detail}. Keep less of the answers, or raise --memory.`
        : `The sandbox process died (${death.detail}). Finished calls are in the journal; the run can be resumed.`;
  return { code, message };
}
