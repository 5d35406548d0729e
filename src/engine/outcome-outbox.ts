/** Outcomes on their way to the script: those of one tick go down together; each is a turn of its own there. */
import type { DeliveredItem, DownHead } from './sandbox/frames.js';

export interface OutcomeOutbox {
  /** @param json JSON text of the answer, or of the cause when there is none */
  put(id: number, ok: boolean, json: string, tokens: number): void;
}

export function createOutcomeOutbox(send: (head: DownHead, body: Buffer) => void): OutcomeOutbox {
  let items: DeliveredItem[] = [];
  let bodies: Buffer[] = [];
  const flush = (): void => {
    const head: DownHead = { t: 'deliver', items };
    const body = Buffer.concat(bodies);
    items = [];
    bodies = [];
    send(head, body);
  };
  return {
    put(id, ok, json, tokens) {
      const body = Buffer.from(json);
      if (items.length === 0) setImmediate(flush);
      items.push([id, ok ? 1 : 0, body.length, tokens]);
      bodies.push(body);
    },
  };
}
