/** Reading `events.jsonl` beside its writer: whole lines, in order, each once, whatever the pieces in which they come. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { followEvents } from '../../src/runs/follow-events.js';
import { makeProject } from '../support/temp-project.js';

async function collect(lines: AsyncGenerator<string | null>): Promise<string[]> {
  const found: string[] = [];
  for await (const line of lines) if (line !== null) found.push(line);
  return found;
}

it('gives the whole lines that are there, and leaves out one that is not finished', async () => {
  const { dir } = makeProject();
  expect(await collect(followEvents(dir))).toEqual([]);
  const long = 'ü'.repeat(100_000);
  writeFileSync(join(dir, 'events.jsonl'), `one\n\n${long}\n{"torn`);
  expect(await collect(followEvents(dir))).toEqual(['one', '', long]);
});

it('waits for the rest of a torn line, also inside a character, and ends when nothing more will come', async () => {
  const { dir } = makeProject();
  const file = join(dir, 'events.jsonl');
  const bytes = Buffer.from('first\nsecond €uro\nthird\n');
  const cut = bytes.indexOf('€') + 1;
  const pieces = [bytes.subarray(0, 8), bytes.subarray(8, cut), bytes.subarray(cut)];
  const follow = followEvents(dir, {
    // Asked each time that the end of the file is reached: the next piece is written then.
    isOver() {
      const piece = pieces.shift();
      if (piece !== undefined) appendFileSync(file, piece);
      return piece === undefined;
    },
  });
  expect(await collect(follow)).toEqual(['first', 'second €uro', 'third']);
});

it('reads what was written between the last look and the end', async () => {
  const { dir } = makeProject();
  const file = join(dir, 'events.jsonl');
  writeFileSync(file, 'one\n');
  const follow = followEvents(dir, {
    isOver() {
      appendFileSync(file, 'two\n');
      return true;
    },
  });
  expect((await collect(follow)).slice(0, 2)).toEqual(['one', 'two']);
});

it('ends when it is told to', async () => {
  const { dir } = makeProject();
  const controller = new AbortController();
  const follow = followEvents(dir, { isOver: () => false, signal: controller.signal });
  expect(await follow.next()).toEqual({ value: null, done: false });
  controller.abort();
  expect((await follow.next()).done).toBe(true);
});
