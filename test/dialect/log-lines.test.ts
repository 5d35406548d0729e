/** What stands in the log for values that JSON would empty, refuse or make null of. */
import { beforeAll, expect, it } from 'vitest';
import { makeProject } from '../support/temp-project.js';
import { runProbes } from './support/run-script.js';

const VALUES: [expression: string, line: string][] = [
  ['10n', '10n'],
  ['{ total: 5n, list: [1n] }', '{"total":"5n","list":["1n"]}'],
  ['budget.remaining()', 'Infinity'],
  ['{ left: budget.remaining(), ratio: 0 / 0 }', '{"left":"Infinity","ratio":"NaN"}'],
  ["new Map([['a', { n: 1 }]])", '[["a",{"n":1}]]'],
  ["{ seen: new Set(['x', 'y']) }", '{"seen":["x","y"]}'],
  ['(() => { const a = { list: [] }; a.list.push(a); return a })()', '{"list":["(contains itself)"]}'],
  ["(() => { const m = new Map(); m.set('self', m); return m })()", '[["self","(contains itself)"]]'],
  ['(() => { const one = { n: 1 }; return [one, one] })()', '[{"n":1},{"n":1}]'],
  ["{ error: new RangeError('inner') }", '{"error":"RangeError: inner"}'],
  ['{ answer: new Promise(() => {}) }', '{"answer":"(a promise (await it first))"}'],
  ['new Promise(() => {})', '"(a promise (await it first))"'],
  ['{ when: new Date(0), own: { toJSON: () => 1 } }', '{"when":"1970-01-01T00:00:00.000Z","own":1}'],
  ["Symbol('s')", 'Symbol(s)'],
  ['() => 1', '() => 1'],
  ['true', 'true'],
  ['{ get broken() { throw 1 } }', '(a value that cannot be shown)'],
  ['Object.assign(() => 1, { toString() { throw 1 } })', '(a value that cannot be shown)'],
];

let lines: string[];

beforeAll(async () => {
  const body = `
${VALUES.map(([expression]) => `log(${expression})`).join('\n')}
console.log('end of values')
console.table([{ a: 1 }]); console.dir({ b: 2 }); console.group('part', 1); console.log('inside'); console.groupEnd()
console.assert(true, 'unseen'); console.assert(1 > 2, 'order', [1]); console.assert(false)
console.time('t'); console.timeLog('t'); console.timeEnd('t')`;
  lines = (await runProbes(makeProject({ until: 'file' }), body)).told;
});

it('C122 log() shows what JSON would lose', () => {
  expect(lines.slice(0, VALUES.length)).toEqual(VALUES.map(([, line]) => `log: ${line}`));
});

it('C037 the other methods of console tell too, or do nothing, and never throw', () => {
  expect(lines.slice(lines.indexOf('log: end of values') + 1)).toEqual([
    'log: [{"a":1}]',
    'log: {"b":2}',
    'log: part 1',
    'log: inside',
    'error: Assertion failed: order [1]',
    'error: Assertion failed',
  ]);
});
