/** What happens in one go: each thing leaves once, the lines first, then the outcomes, then what people are told. */
import { expect, it } from 'vitest';
import { createBatch } from '../../src/engine/batch.js';
import type { RunEvent } from '../../src/engine/events.js';

const event = (message: string): RunEvent => ({ type: 'log', message }) as unknown as RunEvent;
const textOf = (told: RunEvent): string => (told as unknown as { message: string }).message;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function openBatch(onTold: (what: string) => void = () => {}) {
  const log: unknown[] = [];
  const batch = createBatch({
    onCommit: () => log.push('commit'),
    write(lines) {
      const written = lines.toString().trimEnd().split('\n');
      log.push(...written.map((line) => `line ${JSON.parse(line).n}`));
    },
    send(head, body) {
      log.push(head.t === 'deliver' ? head.items : head.t, body);
      onTold('sent');
    },
    listener(told) {
      log.push(textOf(told));
      onTold(textOf(told));
    },
  });
  return { batch, log };
}

it('the lines are written, then the outcomes sent, then it is told: each once, when the work at hand is done', async () => {
  const { batch, log } = openBatch();
  batch.addEvent(event('first'));
  batch.addOutcome(1, true, '"💶"', 3);
  batch.addOutcome(-2, false, '{}', 0, true);
  batch.addLine(['{"n":1', ',"m":0']);
  batch.addEvent(event('second'));
  batch.addLine(['{"n":2']);
  expect([log, batch.outcomeBytes]).toEqual([[], 8]);
  await turn();
  const items = [
    [1, 1, 6, 3],
    [-2, 0, 2, 0, 1],
  ];
  const body = { texts: ['"💶"', '{}'], bytes: 8 };
  expect(log.splice(0)).toEqual(['commit', 'line 1', 'line 2', items, body, 'first', 'second']);
  expect(batch.outcomeBytes).toBe(0);

  batch.addOutcome(3, true, '1', 0);
  batch.commit();
  expect(log.splice(0)).toEqual(['commit', [[3, 1, 1, 0]], { texts: ['1'], bytes: 1 }]);
  batch.addLine(['{"n":3']);
  await turn();
  expect(log.filter((what) => what !== 'commit')).toEqual(['line 3']);
});

it('what comes while it is told goes out with the next batch, and nothing of this one again', async () => {
  const { batch, log } = openBatch((what) => {
    if (what === 'sent') batch.addEvent(event('of the sending'));
    if (what !== 'first') return;
    batch.addLine(['{"n":2']);
    batch.addEvent(event('second'));
    batch.commit();
  });
  batch.addLine(['{"n":1']);
  batch.addOutcome(1, true, '1', 0);
  batch.addEvent(event('first'));
  await turn();
  const sent = [[[1, 1, 1, 0]], { texts: ['1'], bytes: 1 }];
  const told = log.filter((what) => what !== 'commit');
  expect(told).toEqual(['line 1', ...sent, 'first', 'line 2', 'second', 'of the sending']);
});

it('many large outcomes leave at once, before all of them have gathered', () => {
  const { batch, log } = openBatch();
  const large = JSON.stringify('x'.repeat(600_000));
  batch.addOutcome(1, true, large, 0);
  expect(log).toEqual([]);
  batch.addOutcome(2, true, large, 0);
  expect(log.slice(0, 2)).toEqual([
    'commit',
    [
      [1, 1, 600_002, 0],
      [2, 1, 600_002, 0],
    ],
  ]);
  expect(batch.outcomeBytes).toBe(0);
});
