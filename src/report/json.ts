import type { Reporter } from '../engine/events.js';
import {
  addToAccount,
  type CallAccount,
  callsInOrder,
  type FinishedEvent,
  newRunAccount,
  type RunAccount,
} from './run-account.js';
import type { WriteText } from './write-text.js';

/** One JSON object, written when the run ends; its shape is documented in `docs/cli.md`. */
export function createJsonReporter(options: { write: WriteText }): Reporter {
  const account = newRunAccount();
  return {
    event(event) {
      addToAccount(account, event);
      if (event.type === 'run.finished') options.write(`${JSON.stringify(reportOf(account, event), null, 2)}\n`);
    },
  };
}

function reportOf({ started, calls, warnings }: RunAccount, finished: FinishedEvent): object {
  const { t: endedAt, type: _type, ...outcome } = finished;
  return {
    workflow: started?.workflow ?? null,
    backend: started?.backend ?? null,
    madeUp: started?.madeUp ?? null,
    resumedFrom: started?.resumedFrom ?? null,
    startedAt: started?.t ?? null,
    endedAt,
    ...outcome,
    calls: callsInOrder(calls).map(describeCall),
    warnings: warnings.map(({ code, message }) => ({ code, message })),
  };
}

function describeCall(call: CallAccount): object {
  const { executed: _executed, error, usage, ...told } = call;
  return { ...told, ...(error && { error: { code: error.code, message: error.message } }), ...(usage && { usage }) };
}
