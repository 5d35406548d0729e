/**
 * What happens in one go leaves in one go, and in this order: the journal's lines in one write, outcomes to the script,
 * then what people are told. So an answer is on the disk before anybody learns of it, and the script waits for no more
 * than that.
 */
import type { EventListener, RunEvent } from './events.js';
import type { DeliveredItem, DownHead } from './sandbox/frames.js';

export interface Batch {
  /** A sealed line of the journal. */
  addLine(line: Buffer): void;
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
  send(head: DownHead, body: Buffer): void;
  listener: EventListener;
  onCommit(): void;
}

/** What piles up is let out before it holds this process for long. */
const LARGE = 1 << 20;

export function createBatch(ports: BatchPorts): Batch {
  let lines: Buffer[] = [];
  let items: DeliveredItem[] = [];
  let texts: string[] = [];
  let bytes = 0;
  let events: RunEvent[] = [];
  let isDue = false;

  const commit = (): void => {
    isDue = false;
    ports.onCommit();
    if (lines.length > 0) {
      const written = lines.length === 1 ? (lines[0] as Buffer) : Buffer.concat(lines);
      lines = [];
      ports.write(written);
    }
    if (items.length > 0) {
      const body = Buffer.allocUnsafe(bytes);
      let at = 0;
      for (const text of texts) at += body.write(text, at);
      const head: DownHead = { t: 'deliver', items };
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
    queueMicrotask(commit);
  };

  return {
    addLine(line) {
      lines.push(line);
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
