/**
 * What happens in one go leaves in one go, and in this order: the journal's lines in one write, outcomes to the script,
 * then what people are told. So an answer is on the disk before anybody learns of it, and the script waits for no more
 * than that.
 */
import type { EventListener, RunEvent } from './events.js';
import { createLineBatch } from '../journal/line.js';
import type { DeliveredItem, DownHead, FrameBody } from './sandbox/frames.js';

export interface Batch {
  /** A line of the journal: the text of an open JSON object, in pieces. */
  addLine(pieces: readonly string[]): void;
  /** @param json JSON text of the answer, or of the cause when there is none */
  addOutcome(id: number, ok: boolean, json: string, tokens: number, lastTry?: boolean): void;
  addEvent(event: RunEvent): void;
  /** Of outcomes that have not gone out yet. */
  readonly outcomeBytes: number;
  /** Lets everything out now; without it that happens when the work at hand is done. */
  commit(): void;
}

export interface BatchPorts {
  write(lines: Buffer): void;
  /** Each outcome is a turn of its own in the sandbox. */
  send(head: DownHead, body: FrameBody): void;
  listener: EventListener;
  onCommit(): void;
}

/** What piles up is let out before it holds this process for long. */
const LARGE = 1 << 20;
const LINES_BYTES = 1 << 18;
/** Work for the end of the one at hand: Node's `queueMicrotask` also makes a record of each for its hooks. */
const atHand = Promise.resolve();

export function createBatch(ports: BatchPorts): Batch {
  const lines = createLineBatch(LINES_BYTES);
  let items: DeliveredItem[] = [];
  let texts: string[] = [];
  let bytes = 0;
  let events: RunEvent[] = [];
  let isDue = false;

  const commit = (): void => {
    isDue = false;
    ports.onCommit();
    if (lines.size > 0) ports.write(lines.take());
    if (items.length > 0) {
      const head: DownHead = { t: 'deliver', items };
      const body = { texts, bytes };
      items = [];
      texts = [];
      bytes = 0;
      ports.send(head, body);
    }
    if (events.length === 0) return;
    const told = events;
    events = [];
    for (const event of told) ports.listener(event);
  };
  const soon = (): void => {
    if (isDue) return;
    isDue = true;
    void atHand.then(commit);
  };

  return {
    addLine(pieces) {
      lines.addText(pieces);
      soon();
    },
    addOutcome(id, ok, json, tokens, lastTry) {
      const size = Buffer.byteLength(json);
      items.push(lastTry ? [id, ok ? 1 : 0, size, tokens, 1] : [id, ok ? 1 : 0, size, tokens]);
      texts.push(json);
      bytes += size;
      if (bytes > LARGE) commit();
      else soon();
    },
    addEvent(event) {
      events.push(event);
      soon();
    },
    get outcomeBytes() {
      return bytes;
    },
    commit,
  };
}
