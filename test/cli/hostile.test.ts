/** Scripts that hang, grow, lie or throw what hangs: each ends the run as documented and leaves nothing behind. */
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { expectNoProcessesLeft } from '../support/processes.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { answeredLabels, expectAllGone, familyOf, MOCK, readState, workflow } from './cli-kit.js';

const LIMITS = ['--turn-timeout', '1s', '--memory', '64'];

describe('Done when: agents are stopped, the answer so far is kept, exit 1', () => {
  it.each([
    ['loops for ever', 'for (;;) {}', /^WF_TURN_TIMEOUT$/],
    ['B-087: loops after an await, in microtasks', 'for (;;) await null', /^WF_TURN_TIMEOUT$/],
    [
      'grows a Map for ever',
      'const m = new Map()\nfor (let i = 0; ; i++) m.set(i, i)',
      /^WF_(TURN_TIMEOUT|SCRIPT_MEMORY)$/,
    ],
    ['squares a huge BigInt', 'let b = 3n\nfor (;;) b = b * b', /^WF_TURN_TIMEOUT$/],
    ['throws an object whose message loops', 'throw { get message() { for (;;) {} } }', /^WF_TURN_TIMEOUT$/],
  ])('a script that %s', async (_, hostile, code) => {
    const project = makeProject({
      files: {
        'flow.js': workflow(`agent('slow', { label: 'slow' })\nawait agent('quick', { label: 'quick' })\n${hostile}`),
      },
    });
    const backend = makeFakeBackend(project, {
      rules: { slow: { spawnGrandchild: {}, hang: true }, quick: { gate: true } },
    });
    const wf = startWf(['run', 'flow.js', ...LIMITS, ...backend.flags], { project });
    await backend.waitForStarts(2);
    const family = familyOf(wf.pid);
    backend.openGate('quick');
    const { code: exit, stdout, stderr } = await wf.done;

    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    await expectAllGone(family, 1_000);
    await expectNoProcessesLeft(project.root, { timeoutMs: 1_000 });
    expect(backend.ledger.ends('slow')).toMatchObject([{ outcome: 'terminated' }]);
    expect(answeredLabels(project)).toEqual(['quick']);
    const state = readState(project);
    expect(state).toMatchObject({ status: 'failed', exitCode: 1, counts: { ok: 1, noResult: 1 } });
    expect(state.cause).toMatch(code);
    expect(state.error?.message).toMatch(/1000 ms|64 MB/);
    expect(stderr).toContain(state.error?.message);
    expect(stderr).toMatch(/wf run (flow\.js )?--resume-from/);
  });
});

interface Case {
  name: string;
  body: string;
  code: RegExp;
  words?: RegExp;
}

const TIMEOUT = /^WF_TURN_TIMEOUT$/;
/** Whichever limit is reached first: that depends on the machine. */
const MEMORY = /^WF_(SCRIPT_MEMORY|TURN_TIMEOUT)$/;
const THREW = /^WF_SCRIPT_THREW$/;

const CASES: Case[] = [
  { name: 'a chain of then', body: 'const f = () => Promise.resolve().then(f)\nawait f()', code: MEMORY },
  { name: 'finally that goes on', body: 'for (;;) { try { for (;;); } finally { continue } }', code: TIMEOUT },
  { name: 'catch that goes on', body: 'function f() { try { for (;;); } catch { f() } }\nf()', code: TIMEOUT },
  {
    name: 'a thrown Proxy',
    body: 'throw new Proxy({}, { get() { for (;;); }, getPrototypeOf() { for (;;); } })',
    code: TIMEOUT,
  },
  { name: 'a thrown stack that loops', body: 'throw { get stack() { for (;;); } }', code: TIMEOUT },
  {
    name: 'a thrown name that loops',
    body: 'const e = new Error("x")\nObject.defineProperty(e, "name", { get() { for (;;); } })\nthrow e',
    code: TIMEOUT,
  },
  {
    name: 'a thrown value whose text loops',
    body: 'throw { toString() { for (;;); } }',
    code: /^WF_(TURN_TIMEOUT|SCRIPT_THREW)$/,
  },
  {
    name: 'prepareStackTrace that loops',
    body: 'Error.prepareStackTrace = () => { for (;;); }\nthrow new Error("x")',
    code: /^WF_(TURN_TIMEOUT|SCRIPT_THREW)$/,
  },
  {
    name: 'an unhandled rejection with an evil getter',
    body: 'Promise.reject({ get message() { for (;;); } })\nawait agent("x")',
    code: TIMEOUT,
  },
  {
    name: 'an unhandled rejection with a Proxy',
    body: 'Promise.reject(new Proxy({}, { get() { for (;;); } }))\nawait agent("x")',
    code: TIMEOUT,
  },
  {
    name: 'an evil getter thrown in a slot',
    body: 'await parallel([() => { throw { get message() { for (;;); } } }])',
    code: TIMEOUT,
  },
  {
    name: 'an evil getter thrown by a timer',
    body: 'setTimeout(() => { throw { get message() { for (;;); } } }, 1)\nawait new Promise((r) => setTimeout(r, 50))',
    code: TIMEOUT,
  },
  { name: 'options whose getter loops', body: 'await agent("x", { get schema() { for (;;); } })', code: TIMEOUT },
  {
    name: 'options that are a Proxy',
    body: 'await agent("x", new Proxy({}, { ownKeys() { for (;;); } }))',
    code: TIMEOUT,
  },
  { name: 'a result whose toJSON loops', body: 'return { toJSON() { for (;;); } }', code: TIMEOUT },
  {
    name: 'a catastrophic regexp with a back reference',
    body: 'return /^(a|a)*?(b|c)\\1$/.test("a".repeat(40) + "b")',
    code: TIMEOUT,
  },
  { name: 'an array filled with 1e9', body: 'return new Array(1e9).fill(0).length', code: MEMORY },
  { name: 'objects for ever', body: 'const a = []\nfor (;;) a.push({ x: a.length })', code: MEMORY },
  {
    name: 'strings for ever',
    body: 'const a = []\nfor (let i = 0; ; i++) { a.push("y".repeat(2 ** 20) + i); a[i].charCodeAt(5) }',
    code: MEMORY,
  },
  { name: 'a spread of 5e8 letters', body: 'return [..."x".repeat(5e8)].length', code: MEMORY },
  {
    name: 'a string too long',
    body: 'let s = "ab"\nfor (;;) s += s',
    code: THREW,
    words: /RangeError: Invalid string length/,
  },
  {
    name: 'typed arrays for ever',
    body: 'const a = []\nfor (;;) a.push(new Uint8Array(1 << 24).fill(1))',
    code: /^WF_(SCRIPT_THREW|SCRIPT_MEMORY|TURN_TIMEOUT)$/,
  },
  {
    name: 'one typed array of 4 GB',
    body: 'return new Uint8Array(2 ** 32).fill(1).length',
    code: /^WF_(SCRIPT_THREW|SCRIPT_MEMORY|TURN_TIMEOUT)$/,
  },
  {
    name: 'a resizable buffer',
    body: 'return new ArrayBuffer(8, { maxByteLength: 2 ** 31 }).byteLength',
    code: THREW,
    words: /not available/,
  },
  {
    name: 'deep recursion',
    body: 'function f() { return f() + 1 }\nreturn f()',
    code: THREW,
    words: /Maximum call stack/,
  },
  { name: 'log for ever', body: 'for (;;) log("x".repeat(60_000))', code: MEMORY },
  { name: 'agent for ever', body: 'for (;;) agent("x")', code: MEMORY },
  { name: 'timers for ever', body: 'for (;;) setTimeout(() => {}, 1)', code: MEMORY },
  { name: 'a promise that nothing settles', body: 'await new Promise(() => {})', code: /^WF_DEADLOCK$/ },
  { name: 'the same after an agent', body: 'await agent("x")\nawait new Promise(() => {})', code: /^WF_DEADLOCK$/ },
  { name: 'a thrown text', body: 'throw "plain"', code: THREW, words: /plain/ },
  { name: 'a thrown undefined', body: 'throw undefined', code: THREW, words: /undefined/ },
  { name: 'a thrown symbol', body: 'throw Symbol("s")', code: THREW, words: /Symbol\(s\)/ },
  { name: 'a thrown object whose text throws', body: 'throw { toString() { throw 1 } }', code: THREW },
  {
    name: 'a message that says it timed out',
    body: 'throw new Error("Script execution timed out.")',
    code: THREW,
    words: /timed out/,
  },
];

describe('ends as failed, exit 1, with a code and a reason', () => {
  it.each(CASES)('$name', async ({ body, code, words }) => {
    const project = makeProject({ files: { 'flow.js': workflow(body) } });
    const { code: exit, stdout, stderr } = await runWf(['run', 'flow.js', ...LIMITS, ...MOCK], { project });
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toMatch(/Run failed/);
    await expectNoProcessesLeft(project.root, { timeoutMs: 1_000 });
    const state = readState(project);
    expect(state.status).toBe('failed');
    expect(state.cause).toMatch(code);
    expect(state.error?.message).toMatch(words ?? /./);
    expect(stderr).toContain(state.cause);
    // No words of the host: its files, its code, its stacks.
    expect(JSON.stringify([state.error, stderr])).not.toMatch(/node:internal|isolated-vm|engine:prelude|dist\//);
  });

  it('B-118: memory that is used up after the last agent is named as the reason', async () => {
    const project = makeProject({
      files: {
        'flow.js': workflow(`agent('x').then(() => { const m = new Map(); for (let i = 0; ; i++) m.set(i, i) })
await new Promise(() => {})`),
      },
    });
    for (const memory of ['16', '64']) {
      const { code } = await runWf(['run', 'flow.js', '--turn-timeout', '25s', '--memory', memory, ...MOCK], {
        project,
      });
      expect(code).toBe(1);
      expect(readState(project)).toMatchObject({ cause: 'WF_SCRIPT_MEMORY' });
      expect(readState(project).error?.message).toContain(`${memory} MB`);
    }
  });
});

describe('does no harm', () => {
  it.each([
    ['a catastrophic regexp', 'return /^(a+)+$/.test("a".repeat(40) + "b")', 'false'],
    ['caught recursion', 'let n = 0\nfunction f() { n++; f() }\ntry { f() } catch {}\nreturn n > 1000', 'true'],
    ['a rejection that nobody handles', 'Promise.reject(new Error("boo"))\nawait agent("x")\nreturn 1', '1'],
    [
      'a timer that throws',
      'setTimeout(() => { throw new Error("late") }, 1)\nawait new Promise((r) => setTimeout(r, 30))\nreturn 2',
      '2',
    ],
  ])('%s', async (_, body, expected) => {
    const project = makeProject({ files: { 'flow.js': workflow(body) } });
    const { code, stdout, stderr } = await runWf(['run', 'flow.js', '--turn-timeout', '5s', ...MOCK], { project });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${expected}\n` });
    const said = /"(boo|late)"/.exec(body)?.[1];
    if (said) expect(stderr).toContain(said);
  });
});
