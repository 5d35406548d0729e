import { expect, test } from 'vitest';
import { mapStack } from '../../src/script/map-stack.js';

const places = (stack: string, filename: string) =>
  mapStack(stack, { filename }).map(({ name, line, column }) => `${name ?? '-'} ${line}:${column}`);

test('only the user’s frames are left, innermost first', () => {
  const stack = `TypeError: no such thing
    at agent (engine:prelude:12:9)
    at Array.map (<anonymous>)
    at Reviewer.ask [as run] (flows/review.js:7:15)
    at new Reviewer (flows/review.js:3:5)
    at async Promise.all (index 0)
    at async outer (flows/review.js:20:3)
    at async workflow (flows/review.js:1:80)
    at flows/review.js:30:1
    at (<isolated-vm boundary>)
    at node:internal/process/task_queues:95:5`;
  expect(places(stack, 'flows/review.js')).toEqual([
    'Reviewer.ask [as run] 7:15',
    'new Reviewer 3:5',
    'outer 20:3',
    '- 1:80',
    '- 30:1',
  ]);
  expect(mapStack(stack, { filename: 'flows/review.js' }).map((frame) => frame.isAsync)).toEqual([
    false,
    false,
    true,
    true,
    false,
  ]);
});

test('names with spaces, brackets and colons', () => {
  const filename = 'my flows (old)/a: b.js';
  expect(places(`Error\n    at f (${filename}:2:3)\n    at ${filename}:4:5`, filename)).toEqual(['f 2:3', '- 4:5']);
});

test('another file whose name ends alike is not taken', () => {
  expect(
    places('Error\n    at f (flows/review.js:2:3)\n    at review.js:1:1\n    at preview.js:9:9', 'review.js'),
  ).toEqual(['- 1:1']);
});

test('code made by eval has no place of its own in the file', () => {
  const stack = 'Error\n    at eval (eval at f (a.js:2:3), <anonymous>:1:1)\n    at f (a.js:2:3)';
  expect(places(stack, 'a.js')).toEqual(['f 2:3']);
});

test('a column inside the wrapper’s head becomes 1; text that is no stack gives nothing', () => {
  expect(places('Error\n    at a.js:1:-3', 'a.js')).toEqual(['- 1:1']);
  expect(places('', 'a.js')).toEqual([]);
  expect(places('Error: a.js:1:2\nat a.js:1:2', 'a.js')).toEqual([]);
});
