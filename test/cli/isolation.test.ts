/** What a script can reach: nothing of the host, neither clock nor chance, and no way to change what the host is told. */
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { MOCK, newestRun, readState, workflow } from './cli-kit.js';

/** Runs each probe inside; gives what it saw or the error that it met. */
const table = (probes: Record<string, string>, before = ''): string =>
  workflow(`${before}
const seen = {}
const note = async (name, probe) => {
  try { seen[name] = String(await probe()) } catch (error) { seen[name] = 'threw ' + error.name + ': ' + error.message }
}
${Object.entries(probes)
  .map(([name, code]) => `await note(${JSON.stringify(name)}, async () => { ${code} })`)
  .join('\n')}
return seen`);

const WALK = `const walk = (value) => value.constructor.constructor('return typeof process')()
const leave = (f) => f.constructor('return typeof process')()`;

describe('B-114: no way out', () => {
  it('B-114: from whatever the engine hands out, the constructors lead nowhere', async () => {
    const project = makeProject({
      files: {
        'flow.js': table(
          {
            answer: `return walk(await agent('a'))`,
            object: `return walk(await agent('o', { schema: { type: 'object' } }))`,
            promise: `const p = agent('p'); const r = walk(p); await p; return r`,
            settled: `return walk(await agent.settled('s'))`,
            agent: `return leave(agent)`,
            parallel: `return leave(parallel)`,
            list: `return walk(await parallel([() => 1]))`,
            args: `return walk(args)`,
            'args inside': `return walk(args.list[0])`,
            budget: `return walk(budget)`,
            'budget method': `return leave(budget.spent)`,
            log: `return leave(log)`,
            console: `return leave(console.log)`,
            timer: `return leave(setTimeout)`,
            'this of a callback': `return await new Promise((r) => setTimeout(function () { r(typeof this) }, 1))`,
            'arguments of a callback': `return await new Promise((r) => setTimeout((...given) => r(given.length), 1))`,
            'error of agent': `try { await agent(5) } catch (e) { return walk(e) }`,
            'error of options': `try { await agent('x', { schema: { type: 'nonsense' } }) } catch (e) { return walk(e) }`,
            'error of workflow': `try { await workflow('nobody') } catch (e) { return walk(e) }`,
            Function: `return new Function('return typeof process')()`,
            AsyncFunction: `return leave(async () => {})`,
            GeneratorFunction: `return leave(function* () {})`,
            AsyncGeneratorFunction: `return leave(async function* () {})`,
            'Reflect.construct': `return Reflect.construct((() => {}).constructor, ['return typeof process'])()`,
            eval: `const e = globalThis.eval; return e('typeof process')`,
            'global object': `return walk(globalThis)`,
            'call sites': `Error.prepareStackTrace = (_, sites) => sites.map((s) => [typeof s.getFunction?.(), typeof s.getThis?.()].join())
              let got; try { await agent(5) } catch (e) { got = String(e.stack) } delete Error.prepareStackTrace
              return /function|object/.test(got) ? got : 'nothing'`,
            caller: `const f = () => { try { return typeof f.caller } catch { return 'refused' } }; return f()`,
          },
          WALK,
        ),
      },
    });
    const { code, stdout } = await runWf(['run', 'flow.js', '--args', '{"list":[{}]}', '--allow-failures', ...MOCK], {
      project,
    });
    expect(code).toBe(0);
    const seen = JSON.parse(stdout) as Record<string, string>;
    const harmless = /^(undefined|refused|nothing|0|threw EvalError: Code generation from strings)/;
    expect(Object.entries(seen).filter(([, outcome]) => !harmless.test(outcome))).toEqual([]);
  });

  it('B-114: the globals are those of the language and the dialect, and errors hold nothing of this machine', async () => {
    const project = makeProject({
      files: {
        'flow.js': workflow(`const stacks = []
for (const probe of [() => agent(5), () => agent('x', { schema: { type: 'nonsense' } }), () => workflow('nobody'), () => workflow({ scriptPath: '../../../etc/passwd' }), () => parallel(3)]) {
  try { await probe() } catch (error) { stacks.push([error.name, error.message, String(error.stack), Object.keys(error).join()]) }
}
return { names: Object.getOwnPropertyNames(globalThis), stacks,
  types: [typeof process, typeof require, typeof Buffer, typeof module, typeof fetch, typeof performance, typeof crypto, typeof globalThis.global] }`),
      },
    });
    const { stdout } = await runWf(['run', 'flow.js', ...MOCK], { project });
    const { names, stacks, types } = JSON.parse(stdout);
    expect(types).toEqual(Array.from({ length: 8 }, () => 'undefined'));
    expect(names.filter((name: string) => /^_|ivm|host|config/i.test(name))).toEqual([]);
    for (const absent of ['WeakRef', 'FinalizationRegistry', 'Atomics', 'WebAssembly', 'SharedArrayBuffer']) {
      expect(names).not.toContain(absent);
    }
    expect(stacks).toHaveLength(5);
    const text = JSON.stringify(stacks);
    expect(text).not.toContain(project.root);
    expect(text).not.toMatch(/\/(tmp|home|work|root|usr)\/|node:|isolated|\bpid\b/);
  });
});

const CALLS = `await agent('plain')
await agent('with options', { label: 'two', model: 'small', tools: ['Read', 'Write'], schema: { type: 'object', properties: { a: { type: 'array', items: { type: 'number' } } }, required: ['a'] } })
await parallel([() => agent('slot'), () => agent('slot')])
return 'done'`;

const PATCHES = `const evil = () => { throw 'never' }
const then = Promise.prototype.then
const call = then.call.bind(then)
Promise.prototype.then = function (a, b) { return call(this, a, b) }
Object.defineProperty(Promise.prototype, 'constructor', { get() { return Object } })
Promise.resolve = Promise.all = Promise.race = evil
for (const name of ['map', 'forEach', 'push', 'join', 'slice', 'concat', 'filter', 'keys', 'values', 'includes']) Array.prototype[name] = evil
for (const name of ['slice', 'replace', 'split', 'startsWith', 'charCodeAt', 'trim']) String.prototype[name] = () => 'evil'
RegExp.prototype.exec = evil
for (const name of ['get', 'set', 'has', 'delete']) { Map.prototype[name] = evil; WeakMap.prototype[name] = evil }
JSON.stringify = () => '"evil"'
JSON.parse = () => 'evil'
Object.keys = Object.entries = Object.getOwnPropertyNames = () => ['evil']
Object.defineProperty = Reflect.apply = Reflect.ownKeys = Array.isArray = evil
for (const proto of [Object.prototype, Array.prototype, String.prototype, Number.prototype, Boolean.prototype]) proto.toJSON = () => 'evil'
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = evil
const d = Reflect.defineProperty
for (const name of ['0', '1', '2']) d(Array.prototype, name, { set() {}, get() { return 'evil' } })
for (const name of ['model', 'schema', 'prompt', 'cache', 'salt', 'key', 'json', 'cause', 'value', 'writable', 'enumerable', 'get', 'set']) d(Object.prototype, name, { __proto__: null, get() { return undefined }, set() {}, enumerable: false })
Array.prototype[Symbol.iterator] = evil
globalThis.Map = globalThis.WeakMap = globalThis.Array = globalThis.Promise = globalThis.Error = evil
`;

it('B-114: patched built-ins change neither prompts nor keys nor answers: every call hits', async () => {
  const project = makeProject({
    files: { 'plain.js': workflow(CALLS), 'patched.js': workflow(PATCHES + CALLS) },
  });
  const backend = makeFakeBackend(project, { rules: { two: { value: { a: [1] } } } });
  expect(await runWf(['run', 'plain.js', ...backend.flags], { project })).toMatchObject({ code: 0, stdout: 'done\n' });
  const first = newestRun(project);
  const patched = await runWf(['run', 'patched.js', '--resume-from', first], { project });
  expect(readState(project).counts).toMatchObject({ calls: 4, reused: 4, executed: 0 });
  expect(patched).toMatchObject({ code: 0 });

  // And live: the agents are asked the very same.
  const live = await runWf(['run', 'patched.js', ...backend.flags], { project });
  expect(live).toMatchObject({ code: 0 });
  const asked = backend.ledger.starts().map(({ prompt, model, schema }) => JSON.stringify([prompt, model, schema]));
  expect(asked.slice(4).toSorted()).toEqual(asked.slice(0, 4).toSorted());
});

const CLOCK = /^threw \w*Error: The clock is not available/;
const CHANCE = /^threw \w*Error: Math\.random\(\) is not available/;
const NO_CODE = /^threw EvalError/;

const DETERMINISM: Record<string, [code: string, outcome: RegExp]> = {
  'Date.now of an alias': ['const D = Date; return D.now()', CLOCK],
  'new of an alias': ['const D = Date; return new D().getTime()', CLOCK],
  'call of an alias': ['const D = Date; return D()', CLOCK],
  'constructor of the prototype': ['return new (Date.prototype.constructor)().getTime()', CLOCK],
  'constructor of an instance': ['return new Date(0).constructor.now()', CLOCK],
  'Reflect.construct': ['return Reflect.construct(Date, []).getTime()', CLOCK],
  'Reflect.construct with another target': [
    'return Object.prototype.toString.call(Reflect.construct(Date, [], Object))',
    CLOCK,
  ],
  'a class that extends Date': ['return new (class extends Date {})().getTime()', CLOCK],
  bind: ['return new (Date.bind(null))().getTime()', CLOCK],
  'a Proxy of Date': ['return new (new Proxy(Date, {}))().getTime()', CLOCK],
  'the descriptor': ['return Object.getOwnPropertyDescriptor(globalThis, "Date").value.now()', CLOCK],
  'text as code': ['return (() => {}).constructor("return Date.now()")()', NO_CODE],
  'indirect eval': ['const e = globalThis.eval; return e("Date.now()")', NO_CODE],
  'replacing Date': ['globalThis.Date = 1; return typeof Date', /^threw TypeError/],
  'redefining Date': ['Object.defineProperty(globalThis, "Date", { value: 1 })', /^threw TypeError/],
  'deleting Date': ['delete globalThis.Date', /^threw TypeError/],
  'Intl format()': ['return new Intl.DateTimeFormat("en", { timeStyle: "full" }).format()', CLOCK],
  'Intl format(undefined)': ['return new Intl.DateTimeFormat("en").format(undefined)', CLOCK],
  'Intl formatToParts()': ['return JSON.stringify(new Intl.DateTimeFormat("en").formatToParts())', CLOCK],
  'Intl formatRange': ['return new Intl.DateTimeFormat("en").formatRange(undefined, undefined)', /^threw /],
  'Intl by the descriptor': [
    'return Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, "format").get.call(new Intl.DateTimeFormat())()',
    CLOCK,
  ],
  'Intl subclass': ['class X extends Intl.DateTimeFormat {}; return new X("en").format()', CLOCK],
  'Math.random of an alias': ['const M = Math; return M.random()', CHANCE],
  'replacing Math.random': ['Object.defineProperty(Math, "random", { value: () => 1 })', /^threw TypeError/],
  'Temporal.Now': ['return typeof Temporal === "undefined" ? "undefined" : typeof Temporal.Now', /^undefined$/],
  'what sees collection or threads': [
    'return [typeof WeakRef, typeof FinalizationRegistry, typeof Atomics, typeof SharedArrayBuffer, typeof WebAssembly]',
    /^(undefined,?){5}$/,
  ],
  'clocks elsewhere': ['return [typeof performance, typeof setInterval, typeof setImmediate]', /^(undefined,?){3}$/],
  'time zone': [
    'return Intl.DateTimeFormat().resolvedOptions().timeZone + " " + new Date(2020, 0, 1).getTimezoneOffset()',
    /^UTC 0$/,
  ],
  locale: ['return (1234.5).toLocaleString() + " " + Intl.NumberFormat().resolvedOptions().locale', /^1,234\.5 en-US$/],
  collation: ['return ["ä", "z", "a"].sort((a, b) => a.localeCompare(b)).join()', /^a,ä,z$/],
  'a fixed date': [
    'return new Date(0).toISOString() + (new Date(0) instanceof Date) + Date.name + Date.length',
    /^1970-01-01T00:00:00\.000ZtrueDate7$/,
  ],
  'a date by its parts': [
    'return Date.UTC(2020, 1) + " " + new Date("2020-02-01").getTime() + " " + Date.parse("2020-02-01")',
    /^(1580515200000 ?){3}$/,
  ],
};

describe('determinism', () => {
  it('neither clock nor chance can be had, and nothing depends on zone, locale or run', async () => {
    const project = makeProject({
      files: {
        'flow.js': table(Object.fromEntries(Object.entries(DETERMINISM).map(([name, [code]]) => [name, code]))),
      },
    });
    const run = (env: Record<string, string>) => runWf(['run', 'flow.js', ...MOCK], { project, env });
    const first = await run({});
    expect(first.code).toBe(0);
    const seen = JSON.parse(first.stdout) as Record<string, string>;
    const wrong = Object.entries(DETERMINISM).filter(([name, [, outcome]]) => !outcome.test(seen[name] ?? 'missing'));
    expect(wrong.map(([name]) => [name, seen[name]])).toEqual([]);
    const second = await run({ TZ: 'Asia/Tokyo', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' });
    expect(second.stdout).toBe(first.stdout);
  });
});
