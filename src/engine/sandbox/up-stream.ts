/** Collects what happened and sends it up in batches: when waiting, when much has gathered, or when time has passed. */
import type { UpEvent, UpMessage } from './frames.js';

const FLUSH_CHARS = 1 << 16;
/** The supervisor takes a silence longer than a turn's limit for a hang, so turns of a long replay must be heard of. */
const FLUSH_AFTER_MS = 20;

/** A batch has its own cost, that of some calls. */
const CALLS_AT_LEAST = 8;

export interface UpStream {
  add(event: UpEvent): void;
  /** An event as JSON text, where parts of it are text already. */
  addText(event: string): void;
  /** Adds a call that must be executed, as JSON text. */
  addCall(event: string): void;
  /** Sends the batch when it is large or old. */
  flushIfDue(): void;
  /**
   * Sends the batch when it has half of the calls that are open, so that the supervisor works on them while this side goes
   * on with what it has: all of them in one batch, and the two would take turns.
   */
  share(open: number): void;
  flush(rest: boolean): void;
  send(message: UpMessage): void;
  /** Asks for a recorded answer. */
  need(kept: number): void;
  /** A frame was received. */
  countFrame(): void;
}

export function createUpStream(write: (text: string) => void): UpStream {
  let batch = '';
  let since = performance.now();
  let got = 0;
  let calls = 0;
  const flush = (rest: boolean): void => {
    if (batch === '' && !rest) return;
    write(`{"t":"events","got":${got},"rest":${rest},"events":[${batch}]}\n`);
    batch = '';
    calls = 0;
    since = performance.now();
  };
  const addText = (event: string): void => {
    batch += batch === '' ? event : `,${event}`;
  };
  const send = (message: UpMessage): void => {
    flush(false);
    write(`${JSON.stringify(message)}\n`);
  };
  return {
    add: (event) => addText(JSON.stringify(event)),
    addText,
    addCall(event) {
      calls++;
      addText(event);
    },
    share(open) {
      if (calls >= Math.max(CALLS_AT_LEAST, open / 2)) flush(false);
    },
    flushIfDue() {
      if (batch.length >= FLUSH_CHARS || performance.now() - since >= FLUSH_AFTER_MS) flush(false);
    },
    flush,
    send,
    need: (kept) => send({ t: 'need', kept, got }),
    countFrame() {
      got++;
    },
  };
}
