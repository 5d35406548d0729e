/** The recorded answers that have arrived, ahead of their delivery; one that is not there yet is asked for. */
export interface AnswerWindow {
  /** JSON text of an answer; blocks until it is there. */
  take(kept: number): string;
  receive(items: readonly [kept: number, bytes: number][], body: Buffer, reset: boolean): void;
}

/** @param ask asks for an answer and returns after the next frame was received; false at the end of the stream */
export function createAnswerWindow(ask: (kept: number) => boolean): AnswerWindow {
  const texts = new Map<number, string>();
  return {
    take(kept) {
      let text = texts.get(kept);
      if (text === undefined && !ask(kept)) throw new Error('the supervisor has gone');
      text ??= texts.get(kept);
      while (text === undefined) {
        if (!ask(-1)) throw new Error('the supervisor has gone');
        text = texts.get(kept);
      }
      texts.delete(kept);
      return text;
    },
    receive(items, body, reset) {
      if (reset) texts.clear();
      let at = 0;
      for (const [kept, bytes] of items) {
        texts.set(kept, body.toString('utf8', at, at + bytes));
        at += bytes;
      }
    },
  };
}
