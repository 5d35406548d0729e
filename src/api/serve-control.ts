/** What the owner of a run does for somebody who asks through its control socket. */
import type { Engine } from '../engine/engine.js';
import type { ControlCommand, ControlReply } from '../runs/control-message.js';
import type { ControlServer } from '../runs/control-server.js';
import { messageOf, WfError } from '../shared/errors.js';
import { findCall } from './find-call.js';

export interface ServedControl {
  /** Nobody is listened to any more, and the socket is gone. */
  close(): void;
}

export interface ServeControlOptions {
  runId: string;
  env: Readonly<Record<string, string | undefined>>;
  engine: Engine;
  /** Starts nothing more and ends the run when what runs has finished, or after so many ms. */
  drain(ms: number | undefined): void;
  warn(code: string, message: string): void;
  /** Writes the socket's address and token where only the run's user reads them; `null` when there is none. */
  publish(record: ControlServer['record'] | null): void;
}

/** A run that is over in less is not delayed by a socket that nobody would find in time. */
const START_AFTER_MS = 100;

/** Opens the control socket a moment after the run has started. A run that cannot have one says so and goes on. */
export function serveControl(options: ServeControlOptions): ServedControl {
  let server: ControlServer | undefined;
  let isClosed = false;
  const open = async (): Promise<void> => {
    try {
      const { openControlServer } = await import('../runs/control-server.js');
      if (isClosed) return;
      const opened = await openControlServer({ ...options, act: (command) => act(command, options) });
      if (isClosed) return opened.close();
      server = opened;
      options.publish(opened.record);
    } catch (error) {
      if (isClosed) return;
      options.warn(
        'WF_CONTROL',
        `This run has no control socket, so wf stop, skip and retry cannot reach it (${messageOf(error)}); signals work.`,
      );
      server?.close();
      options.publish(null);
    }
  };
  const timer = setTimeout(() => void open(), START_AFTER_MS).unref();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
      server?.close();
    },
  };
}

function act(
  command: ControlCommand,
  { engine, drain, warn }: ServeControlOptions,
): Extract<ControlReply, { ok: true }> {
  if (command.verb === 'stop') {
    if (command.drain === undefined) {
      warn('WF_NOTICE', 'wf stop asked for a cancel: nothing new starts, and started calls are asked to stop.');
      engine.cancel();
    } else {
      warn('WF_NOTICE', 'wf stop asked for a drain: no new calls are started; what runs may finish.');
      drain(command.drain.ms);
    }
    return { ok: true };
  }
  const { n, label } = findCall([...engine.tally.calls], command.call);
  const { was, done, draining } = engine.calls[command.verb](n);
  if (done) return { ok: true, call: { n, label, was: was ?? 'queued' } };
  const name = `Call #${n} ${label}`;
  if (draining) {
    throw new WfError(
      'WF_CALL_STATE',
      `${name} is not started again: the run is being drained, so nothing new starts.`,
      {
        remedy: 'What runs may finish. When the run has ended, a resume runs what has no answer.',
      },
    );
  }
  if (was === 'queued' && command.verb === 'retry') {
    throw new WfError(
      'WF_CALL_STATE',
      `${name} waits for its turn; it has no attempt yet that could be started again.`,
      { remedy: 'It starts by itself when its turn comes; `wf skip` lets it end without an answer.' },
    );
  }
  if (was === 'queued' || was === 'running') {
    throw new WfError('WF_CALL_STATE', `${name} is being ended already, or the run is.`, {
      remedy: '`wf show` tells when it has ended.',
    });
  }
  throw new WfError('WF_CALL_STATE', `${name} has ended already: ${was}.`, {
    remedy: '`wf show` lists the calls of the run with their status.',
  });
}
