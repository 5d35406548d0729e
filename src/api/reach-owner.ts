/** From the name of a run to the process that holds it, and its answer to one request. */
import { lstatSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendControl } from '../runs/control-client.js';
import type { ControlCommand, ControlReply, ControlRequest } from '../runs/control-message.js';
import { findRun } from '../runs/find-run.js';
import { readRunRecord } from '../runs/run-records.js';
import { type ObservedRun, observeRun } from '../runs/run-status.js';
import { type ErrorCode, messageOf, WfError } from '../shared/errors.js';
import { findPlaces } from './prepare-run.js';
import type { RunWorkflowOptions } from './run-options.js';

export type Where = Pick<RunWorkflowOptions, 'cwd' | 'home' | 'env' | 'runsDir'>;

/** A run that has just started has no socket yet, and one that ends has none any more: so long this may pass, ms. */
const PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 50;

/**
 * The run of an id or of the beginning of one.
 *
 * @throws WfError `WF_RUN_ID`, `WF_RUN_UNKNOWN`, `WF_RUN_FOREIGN`
 */
export function findOwnRun(id: string, where: Where): { runId: string; folder: string; run: ObservedRun } {
  const { runId, folder } = findRun(id, findPlaces(where).readFolders);
  const run = observeRun(folder);
  if (run.foreign === undefined) return { runId, folder, run };
  throw new WfError('WF_RUN_FOREIGN', `Run ${runId} is one of another engine: ${run.summary.unsupported}.`, {
    remedy: 'Use the engine that made it.',
  });
}

/** Nobody holds the run any more, or whoever did is gone. */
export const isOver = (run: ObservedRun): boolean => run.ownerState?.state !== 'alive';

/**
 * Asks the owner of a live run for one thing.
 *
 * @throws WfError `WF_RUN_NOT_LIVE`, `WF_CONTROL` when the owner cannot be asked, and whatever it answers with
 */
export async function askOwner(
  folder: string,
  runId: string,
  command: ControlCommand,
): Promise<Extract<ControlReply, { ok: true }>> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (let reason = 'it has not opened its control socket yet'; ; await sleep(LOOK_EVERY_MS)) {
    const run = observeRun(folder);
    if (isOver(run)) throw notLive(runId, run);
    const owner = run.record?.owner ?? readRunRecord(folder).owner;
    const who = `process ${owner?.pid} on ${owner?.host}`;
    if (run.ownerState?.basis === 'heartbeat') {
      throw unreachable(`Run ${runId} is held by ${who}, in another machine, boot or container.`, 'Ask there.');
    }
    const signal = `On this machine \`kill -INT ${owner?.pid}\` cancels the run and \`kill -TERM ${owner?.pid}\` drains it.`;
    const control = run.record?.control;
    if (control === null) throw unreachable(`Run ${runId} has no control socket; its warnings say why.`, signal);
    if (control !== undefined) {
      const reply = await tryToSend(folder, control.address, { version: 1, runId, token: control.token, command });
      if (typeof reply !== 'string') return accept(reply);
      reason = reply;
    }
    if (performance.now() > giveUpAt)
      throw unreachable(`Run ${runId} is held by ${who}, which does not answer: ${reason}.`, signal);
  }
}

/** The reply, or why there is none. */
async function tryToSend(folder: string, address: string, request: ControlRequest): Promise<ControlReply | string> {
  try {
    return await sendControl(address, lstatSync(folder).uid, request);
  } catch (error) {
    return messageOf(error);
  }
}

function accept(reply: ControlReply): Extract<ControlReply, { ok: true }> {
  if (reply.ok) return reply;
  throw new WfError(reply.code as ErrorCode, reply.message, reply.remedy === undefined ? {} : { remedy: reply.remedy });
}

const unreachable = (message: string, remedy: string): WfError => new WfError('WF_CONTROL', message, { remedy });

function notLive(runId: string, { summary, ownerState }: ObservedRun): WfError {
  const end = ownerState === null ? `it has ended: ${summary.status}` : `no end is recorded, and ${ownerState.reason}`;
  return new WfError('WF_RUN_NOT_LIVE', `Run ${runId} is not in progress: ${end}.`, {
    remedy: `\`wf show ${runId}\` tells more.`,
  });
}
