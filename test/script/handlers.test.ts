/** Handlers behind `agent(…)`: which ones may hand its end to something that the script waits for, and which only look on. */
import { describe, expect, test } from 'vitest';
import { checkScript } from '../../src/script/check-script.js';
import { META } from './scripts.js';

const codesOf = async (body: string): Promise<string[]> =>
  (await checkScript(`${META}\n${body}`, { filename: 'a.js' })).map(({ code }) => code);

describe('a handler that may settle a promise of the script', () => {
  test.each([
    "const gate = {}; const p = new Promise((r) => { gate.open = r }); agent('x').then((x) => gate.open(x)); return p",
    "const c = { gate: {} }; const p = new Promise((r) => { c.gate.open = r }); agent('x').then(c.gate.open); return p",
    "const by = {}; const p = new Promise((r) => { by.a = r }); agent('x').then((x) => by['a'](x)); return p",
    "const by = []; const p = new Promise((r) => { by[0] = r }); agent('x').then((x) => by[0](x)); return p",
    "const waiting = []; const p = new Promise((r) => waiting.push(r)); agent('x').then((x) => waiting.shift()(x)); return p",
    "class Gate { constructor() { this.p = new Promise((r) => { this.open = r }) } }\nconst g = new Gate(); agent('x').finally(() => g.open()); return g.p",
    "const to = (done) => (x) => done(x); return new Promise((done) => { agent('x').then(to(done)) })",
    "return new Promise((done) => { agent('x').then(done.bind(null)) })",
    "return new Promise((done) => { agent('x').then((x) => { done.call(null, x) }) })",
  ])('is no fault: %s', async (body) => expect(await codesOf(body)).toEqual([]));
});

describe('a handler that only looks on', () => {
  test.each([
    "const seen = new Map(); agent('x').then((x) => seen.set('x', x.trim())); return [...seen]",
    "const seen = { all: [] }; agent('x').then((x) => { seen.all.push(x) }); return seen",
    "const show = (what) => (x) => log(what + x); agent('x').then(show('x')); return 1",
    "agent('x').then(log.bind(null)); return 1",
    "agent('x').then((x) => { Promise.resolve(x).then(log) }); return 1",
  ])('leaves work for which nobody waits: %s', async (body) =>
    expect(await codesOf(body)).toEqual(['WF_CHECK_UNAWAITED']),
  );
});
