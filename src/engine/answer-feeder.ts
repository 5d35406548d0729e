/** Sends recorded answers to the sandbox in recorded order, a bounded window ahead of what it has delivered. */
import type { CarriedLines, KeptResult } from '../journal/carry.js';
import type { DownHead } from './sandbox/frames.js';

const WINDOW_BYTES = 4 << 20;
const FRAME_BYTES = 64 << 10;

export interface AnswerFeeder {
  /** Sends as much as fits the window. */
  feed(): void;
  /** The sandbox needs this one now: the window starts over from it. */
  need(kept: number): void;
  delivered(kept: number): void;
}

export interface FeederPorts {
  send(head: DownHead, body: Buffer): void;
  /** A recorded answer cannot be read any more; nothing further is sent. */
  onUnreadable(error: unknown): void;
}

export function createAnswerFeeder(
  carried: CarriedLines,
  answers: readonly KeptResult[],
  { send, onUnreadable }: FeederPorts,
): AnswerFeeder {
  const positions = new Map(answers.map((answer, position) => [answer.kept, position]));
  const ahead = new Map<number, number>();
  let next = 0;
  let aheadBytes = 0;
  let isOver = false;

  /** Its answer; undefined once one could not be read. */
  const read = (answer: KeptResult): Buffer | undefined => {
    try {
      return isOver ? undefined : carried.readOutput(answer);
    } catch (error) {
      isOver = true;
      onUnreadable(error);
      return undefined;
    }
  };

  const sendFrom = (reset: boolean): void => {
    let first = reset;
    while (!isOver && next < answers.length && aheadBytes < WINDOW_BYTES) {
      const items: [number, number][] = [];
      const pieces: Buffer[] = [];
      let bytes = 0;
      while (next < answers.length && bytes < FRAME_BYTES && aheadBytes < WINDOW_BYTES) {
        const answer = answers[next++] as KeptResult;
        const output = read(answer);
        if (output === undefined) break;
        items.push([answer.kept, output.length]);
        pieces.push(output);
        ahead.set(answer.kept, output.length);
        bytes += output.length;
        aheadBytes += output.length;
      }
      if (items.length > 0) send({ t: 'answers', items, reset: first }, Buffer.concat(pieces));
      first = false;
    }
  };

  const sendOne = (answer: KeptResult): void => {
    const output = read(answer);
    if (output === undefined) return;
    ahead.set(answer.kept, output.length);
    aheadBytes += output.length;
    send({ t: 'answers', items: [[answer.kept, output.length]], reset: false }, output);
  };

  return {
    feed: () => sendFrom(false),
    need(kept) {
      const position = positions.get(kept);
      // It is on its way.
      if (position === undefined || ahead.has(kept)) return;
      if (position < next) return sendOne(answers[position] as KeptResult);
      if (aheadBytes < WINDOW_BYTES) sendFrom(false);
      if (ahead.has(kept)) return;
      // What was sent and not asked for fills the window: it is given up there, and asked for again if need be.
      next = position;
      ahead.clear();
      aheadBytes = 0;
      sendFrom(true);
    },
    delivered(kept) {
      aheadBytes -= ahead.get(kept) ?? 0;
      ahead.delete(kept);
      if (aheadBytes < WINDOW_BYTES / 2) sendFrom(false);
    },
  };
}
