/** What a script finds around it, what it must not find, and what crosses its border. */
import { beforeAll, describe, expect, it } from 'vitest';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { eventsOf, META, PROBE, runProbes, runScript, type ScriptRun, type Thrown } from './support/run-script.js';

const PRESENT = [
  ...['agent', 'parallel', 'pipeline', 'phase', 'log', 'workflow', 'setTimeout', 'clearTimeout'],
  ...[
    'Array',
    'Object',
    'Map',
    'Set',
    'WeakMap',
    'Promise',
    'RegExp',
    'Symbol',
    'Proxy',
    'BigInt',
    'Uint8Array',
    'Date',
  ],
  ...['Error', 'AggregateError', 'escape', 'unescape', 'encodeURIComponent', 'parseInt'],
];
const OBJECTS = ['budget', 'args', 'console', 'JSON', 'Math', 'Intl', 'Reflect', 'globalThis'];
const LAZY = ['URL', 'URLSearchParams', 'structuredClone', 'TextEncoder', 'TextDecoder', 'atob', 'btoa'];
const ABSENT = [
  ...['require', 'process', 'fetch', 'Buffer', 'module', 'exports', '__dirname', '__filename', 'fs', 'crypto'],
  ...['performance', 'setInterval', 'setImmediate', 'queueMicrotask', 'WebAssembly', 'SharedArrayBuffer', 'Atomics'],
  ...['WeakRef', 'FinalizationRegistry', 'ShadowRealm', 'gc', 'XMLHttpRequest', 'WebSocket', 'navigator', 'window'],
];
const typesOf = (names: string[]): string => `({ ${names.map((name) => `${name}: typeof ${name}`).join(', ')} })`;
const all = (names: string[], type: string): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, type]));

let project: TestProject;
let run: ScriptRun;
let table: Record<string, unknown>;

beforeAll(async () => {
  project = makeProject({ until: 'file' });
  const body = `
await probe('types', () => ${typesOf([...PRESENT, ...OBJECTS, ...LAZY, 'AbortController', 'AbortSignal', ...ABSENT])})
await probe('viaGlobal', () => ${JSON.stringify([...ABSENT, ...LAZY])}.map((name) => typeof globalThis[name]))
await probe('url', () => { const u = new URL('../b?x=1#h', 'https://Ex.org:443/a/c/'); u.searchParams.append('y', 'a b'); return [u.href, u.host, u instanceof URL, u] })
await probe('badUrl', () => new URL('nope'))
await probe('query', () => [...new URLSearchParams('a=1&b=2')])
await probe('clone', () => {
  const a = { map: new Map([[1, { d: new Date(5) }]]), set: new Set([1]), re: /x/g, error: new TypeError('t'), bytes: new Uint8Array([1, 2]) }
  a.self = a
  const b = structuredClone(a)
  return [b !== a, b.self === b, b.map.get(1).d.getTime(), b.set.has(1), String(b.re), b.error instanceof TypeError, b.bytes[1]]
})
await probe('cloneFunction', () => structuredClone(() => 1))
await probe('base64', () => [btoa('h\\u00e9'), atob('aGk=')])
await probe('text', () => [[...new TextEncoder().encode('a\\u20ac\\ud83d\\ude00\\ud800')], new TextDecoder().decode(new Uint8Array([239, 187, 191, 97, 226, 130, 172, 255]))])
await probe('fatal', () => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])))
await probe('stream', () => { const d = new TextDecoder(); return [d.decode(new Uint8Array([226, 130]), { stream: true }), d.decode(new Uint8Array([172]))] })
await probe('utf16', () => new TextDecoder('utf-16le').decode(new Uint8Array([0x61, 0, 0x3d, 0xd8, 0, 0xde])))
await probe('into', () => new TextEncoder().encodeInto('a\\u20acb', new Uint8Array(4)))
await probe('abort', () => { const c = new AbortController(); let n = 0; c.signal.addEventListener('abort', () => n++, { once: true }); c.abort('why'); c.abort(); return [n, c.signal.aborted, c.signal.reason, AbortSignal.any([c.signal]).aborted] })
await probe('eval', () => eval('1'))
await probe('indirectEval', () => (0, eval)('1'))
await probe('newFunction', () => new Function('return 1')())
await probe('constructors', () => [() => 1, async () => 1, function* () {}, async function* () {}, class {}].map((f) => { try { f.constructor('return 1'); return 'made' } catch (e) { return e.name } }))
await probe('globalConstructor', () => globalThis.constructor.constructor('return process')())
await probe('errorPrototype', () => { try { null.x } catch (e) { return e.constructor.constructor('return typeof process')() } })
await probe('promisePrototype', () => agent('x').constructor.constructor('return typeof process')())
await probe('prepare', () => { const before = Error.prepareStackTrace; let seen; try { Error.prepareStackTrace = (e, frames) => frames.map((f) => [f.getThis() === undefined, f.getFunction() === undefined]); seen = (() => new Error('x').stack)() } finally { Error.prepareStackTrace = before } return seen.flat().every(Boolean) })
await probe('stack', () => { try { parallel.call(null, [() => { throw 1 }]); null.x } catch (e) { return e.stack } })
await probe('alias', () => { const D = Date; return D.now() })
await probe('newDate', () => { const D = Date; return new D() })
await probe('calledDate', () => { const D = Date; return D() })
await probe('reflectDate', () => Reflect.construct(Date, []))
await probe('subDate', () => { class D extends Date {} return new D() })
await probe('pure', () => [new Date(0).toISOString(), Date.parse('2020-01-01'), Date.UTC(2020, 0), new Date(2020, 0, 2).getDate(), new Date(new Date(7)).getTime()])
await probe('random', () => { const M = Math; return M.random() })
await probe('intl', () => new Intl.DateTimeFormat('en').format())
await probe('intlParts', () => new Intl.DateTimeFormat('en').formatToParts())
await probe('zone', () => [Intl.DateTimeFormat().resolvedOptions().timeZone, Intl.DateTimeFormat().resolvedOptions().locale, new Date(0).getHours(), (1234.5).toLocaleString()])
await probe('assign', () => { agent = 1 })
await probe('assignMember', () => { agent.settled = 1 })
await probe('assignBudget', () => { budget.total = 1 })
await probe('then', () => [typeof globalThis.then, typeof Object.getOwnPropertyDescriptor(globalThis, 'then')])
await probe('hidden', () => Reflect.ownKeys(globalThis).filter((name) => /^_|core-js|engine|wf/i.test(String(name))).map(String))
await probe('guarded', () => typeof process !== 'undefined' ? process.env.X : 'default')
args = { changed: true }
await probe('args', () => args)
await probe('guest', async () => { const a = await agent('q', { schema: { type: 'object', properties: { list: { type: 'array', items: { type: 'string' } } }, required: ['list'] } }); return [Array.isArray(a.list), a instanceof Object, a.list instanceof Array, Object.getPrototypeOf(a) === Object.prototype] })
await probe('large', async () => { const r = await workflow({ scriptPath: 'echo.js' }, { list: Array.from({ length: 5000 }, (_, i) => i) }); return r.list.length })
await probe('clonedArgs', () => workflow({ scriptPath: 'echo.js' }, { f() {}, s: Symbol('x'), u: undefined, n: NaN, d: new Date(0), url: new URL('http://a/b'), list: [undefined, () => 1] }))
await probe('mapArgs', () => workflow({ scriptPath: 'echo.js' }, { m: [new Map()] }))
await probe('cycleArgs', () => { const a = {}; a.b = { a }; return workflow({ scriptPath: 'echo.js' }, a) })
console.log('one', { two: 2 }, [3]); console.info('i'); console.debug('d'); console.warn('w'); console.error('e')
log('text'); log({ a: 1 }); log(7); log(undefined); log(null); log(new TypeError('shown'))
const order = []
setTimeout((...given) => order.push(given), 30, 1, 2)
const gone = setTimeout(() => order.push('cleared'), 1)
clearTimeout(gone); clearTimeout(undefined); clearTimeout(1)
await new Promise((resolve) => setTimeout(resolve, 5))
order.push('between')
await new Promise((resolve) => setTimeout(resolve, 60))
await probe('timers', () => order)
await probe('badTimer', () => setTimeout('log(1)', 1))
setTimeout(() => log('never'), 600_000)`;
  const echo = `${META}return args`;
  project.write('echo.js', echo);
  run = await runProbes(project, body, { flags: ['--args', '{"given":[1]}'] });
  table = run.result as typeof table;
});

describe('names', () => {
  it('C030 probe 19 the functions of the dialect, console, timers and the built-ins of the language are there', () => {
    expect(table.types).toMatchObject({ ...all(PRESENT, 'function'), ...all(OBJECTS, 'object') });
  });

  it('C031 probe 19 URL and URLSearchParams work', () => {
    expect(table.types).toMatchObject(all(LAZY, 'function'));
    const href = 'https://ex.org/a/b?x=1&y=a+b#h';
    expect(table.url).toEqual([href, 'ex.org', true, href]);
    expect(table.badUrl).toMatchObject({ thrown: 'TypeError' });
    expect(table.query).toEqual([
      ['a', '1'],
      ['b', '2'],
    ]);
  });

  it('C032 structuredClone, text and base64 encoders and AbortController work', () => {
    expect(table.clone).toEqual([true, true, 5, true, '/x/g', true, 2]);
    expect(table.cloneFunction).toMatchObject({ thrown: 'DataCloneError' });
    expect(table.base64).toEqual(['aOk=', 'hi']);
    expect(table.text).toEqual([[97, 226, 130, 172, 240, 159, 152, 128, 239, 191, 189], 'a\u20ac\ufffd']);
    expect(table.fatal).toMatchObject({ thrown: 'TypeError' });
    expect(table.stream).toEqual(['', '\u20ac']);
    expect(table.utf16).toBe('a\u{1f600}');
    expect(table.into).toEqual({ read: 2, written: 4 });
    expect(table.abort).toEqual([1, true, 'why', true]);
  });

  it('C033 probe 19 B-113 no require, process, fetch, Buffer, module, crypto, performance', () => {
    expect(table.types).toMatchObject(all(ABSENT, 'undefined'));
    expect(table.guarded).toBe('default');
  });

  it('C034 nothing that observes threads or collection, no other timers; also by way of globalThis', () => {
    const types = table.viaGlobal as string[];
    expect(types.slice(0, ABSENT.length)).toEqual(ABSENT.map(() => 'undefined'));
    expect(types.slice(ABSENT.length)).toEqual(LAZY.map(() => 'function'));
    expect(table.hidden).toEqual([]);
  });

  it('C035 probe 21 no code from text', () => {
    for (const name of ['eval', 'indirectEval', 'newFunction'] as const)
      expect(table[name]).toMatchObject({ thrown: 'EvalError' });
    expect(table.constructors).toEqual(['EvalError', 'EvalError', 'EvalError', 'EvalError', 'EvalError']);
  });

  it('C036 probe 22 B-114 no way to the host by constructors, errors, promises or stack frames', () => {
    for (const name of ['globalConstructor', 'errorPrototype', 'promisePrototype'] as const)
      expect(table[name]).toMatchObject({ thrown: 'EvalError' });
    expect(table.prepare).toBe(true);
    expect(table.stack).not.toMatch(/engine:|node:|\/src\/|\/dist\//);
  });

  it('C037 console goes to the log, with its level', () => {
    expect(run.told).toEqual(
      expect.arrayContaining(['log: one {"two":2} [3]', 'info: i', 'debug: d', 'warn: w', 'error: e']),
    );
  });

  it('C038 timers: order, arguments, clearing; what is left at the end is dropped', () => {
    expect(table.timers).toEqual(['between', [1, 2]]);
    expect(table.badTimer).toMatchObject({ thrown: 'TypeError' });
    expect(run.told).not.toContain('log: never');
    expect(run.journal.filter(({ type }) => type === 'timer').length).toBe(3);
  });

  it('C039 the functions of the dialect cannot be replaced', () => {
    for (const name of ['assign', 'assignMember', 'assignBudget'] as const)
      expect(table[name]).toMatchObject({ thrown: 'TypeError' });
  });

  it('C040 globalThis is the workflow’s own; its `then` is pinned', () => {
    expect(table.then).toEqual(['undefined', 'object']);
  });

  it('C041 B-121 built-ins may be patched, in this workflow alone, and change nothing of calls and results', async () => {
    const other = `${META}return [typeof globalThis.mark, typeof globalThis[Symbol.for('m')], [].extra, typeof [].map]`;
    project.write('other.js', other);
    const patched = await runScript(
      project,
      `${META}globalThis.mark = 1; globalThis[Symbol.for('m')] = 1; Array.prototype.extra = 'patched'
Array.prototype.map = Array.prototype[Symbol.iterator] = () => { throw new Error('patched') }
Object.prototype.toJSON = () => 'patched'; JSON.stringify = () => 'patched'
const then = Promise.prototype.then
Promise.prototype.then = function () { throw new Error('patched') }
const answer = await agent('plain', { schema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } })
const both = await parallel([async () => await agent('one'), async () => await agent('two')])
const child = await workflow({ scriptPath: 'other.js' })
Promise.prototype.then = then; delete Object.prototype.toJSON
return { answer, both, child }`,
      { file: 'patched.js', rules: [{ when: { prompt: 'plain' }, reply: { a: 1 } }, { reply: 'text' }] },
    );
    expect(patched.result).toEqual({
      answer: { a: 1 },
      both: ['text', 'text'],
      child: ['undefined', 'undefined', undefined, 'function'].map((value) => value ?? null),
    });
    expect(patched.journal.map(({ prompt }) => prompt).filter(Boolean)).toEqual(['plain', 'one', 'two']);
  });

  it('C041 what a script puts on the origin of all objects sees nothing of how answers arrive', async () => {
    const patched = await runScript(
      project,
      `${META}const seen = []
const look = (name) => ({ configurable: true, get() { seen.push(Object.keys(this)) }, set(value) { seen.push([name, typeof value]) } })
for (const name of ['then', 'cause', 'lastTry', '1', '2', '3', '4', '5']) Object.defineProperty(Object.prototype, name, look(name))
const answers = [await agent('one'), await agent('two'), (await agent.settled('three')).ok]
for (const name of ['then', 'cause', 'lastTry', '1', '2', '3', '4', '5']) delete Object.prototype[name]
return { answers, seen: seen.filter((keys) => keys.join() !== 'ok,value') }`,
      { file: 'origin.js', rules: [{ reply: 'text' }] },
    );
    expect(patched.result).toEqual({ answers: ['text', 'text', true], seen: [] });
  });
});

describe('the clock and chance', () => {
  it('C052 probe 15 B-108 Date through an alias throws, can be caught, and says what to do', () => {
    for (const name of ['alias', 'newDate', 'calledDate', 'reflectDate', 'subDate'] as const) {
      expect(table[name]).toMatchObject({ thrown: 'Error' });
      expect((table[name] as Thrown).message).toMatch(/through args/);
    }
  });

  it('C053 probe 16 dates from values are fine', () => {
    expect(table.pure).toEqual(['1970-01-01T00:00:00.000Z', 1577836800000, 1577836800000, 2, 7]);
  });

  it('C054 probe 17 Math.random through an alias throws', () => {
    expect(table.random).toMatchObject({ thrown: 'Error', message: expect.stringContaining('index') });
  });

  it('C056 Intl formats no present; zone and language are the same everywhere', async () => {
    expect(table.intl).toMatchObject({ thrown: 'Error' });
    expect(table.intlParts).toMatchObject({ thrown: 'Error' });
    expect(table.zone).toEqual(['UTC', 'en-US', 0, '1,234.5']);
    const elsewhere = await runProbes<{ zone: unknown }>(
      project,
      "await probe('zone', () => [Intl.DateTimeFormat().resolvedOptions().timeZone, Intl.DateTimeFormat().resolvedOptions().locale, new Date(0).getHours(), (1234.5).toLocaleString()])",
      { env: { TZ: 'Asia/Tokyo', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' }, file: 'zone.js' },
    );
    expect(elsewhere.table.zone).toEqual(table.zone);
  });

  it('C057 probe 20 code that does not come back fails the run with its line; C058 waiting has no limit', async () => {
    const waits = await runScript(
      project,
      `${META}await new Promise((resolve) => setTimeout(resolve, 900)); return 'waited'`,
      { file: 'waits.js', flags: ['--turn-timeout', '300ms'] },
    );
    expect(waits.result).toBe('waited');
    const spins = await runScript(project, `${META}await agent('x')\nfunction spin() {\n  for (;;) {}\n}\nspin()`, {
      file: 'spins.js',
      flags: ['--turn-timeout', '300ms'],
    });
    expect(spins.code).toBe(1);
    expect(spins.state.error).toMatchObject({ code: 'WF_TURN_TIMEOUT', file: 'spins.js', line: 4 });
  });
});

describe('the border', () => {
  it('C060 probe 24 args and answers are objects of the script’s own world', () => {
    expect(table.guest).toEqual([true, true, true, true]);
  });

  it('C061 probe 68 B-040 a result follows JSON’s rules; what JSON has no form for fails the run with its path', async () => {
    const fine = await runScript(
      project,
      `${META}return { u: undefined, n: NaN, i: -Infinity, d: new Date(0), list: [undefined, NaN], own: { toJSON: () => 'own' } }`,
      { file: 'fine.js' },
    );
    expect(fine.result).toEqual({ n: null, i: null, d: '1970-01-01T00:00:00.000Z', list: [null, null], own: 'own' });
    const refused: [string, string][] = [
      ['{ a: [new Map()] }', 'result.a[0] is a Map'],
      ['{ a: 5n }', 'result.a is a bigint'],
      ['{ a: [1, () => 1] }', 'result.a[1] is a function'],
      ['new (class extends Set {})()', 'result is a Set'],
      ['{ a: agent("x") }', 'result.a is a promise'],
      [
        '(() => { const a = { list: [] }; a.list.push({ a }); return a })()',
        'result.list[0].a is an object that contains itself',
      ],
    ];
    // One run holds them all as children; the last one is the run's own result.
    for (const [i, [expression]] of refused.entries()) project.write(`refused-${i}.js`, `${META}return ${expression}`);
    const each = `for (let i = 0; i < ${refused.length}; i++) await probe(i, () => workflow({ scriptPath: 'refused-' + i + '.js' }))`;
    const body = `${each}\nawait probe('kept', () => workflow({ scriptPath: 'error.js' }))\nlog(out)\nreturn new Map()`;
    project.write('error.js', `${META}return { e: [new Error('lost')] }`);
    const run = await runScript(project, `${META.trimEnd()}; ${PROBE}\n${body}`, { file: 'refused.js' });
    const table = JSON.parse(run.told.find((line) => line.startsWith('log: '))?.slice(5) ?? '{}') as Record<
      string,
      Thrown
    >;
    for (const [i, [, message]] of refused.entries())
      expect(table[i]).toMatchObject({ code: 'WF_RESULT_NOT_JSON', message: expect.stringContaining(message) });
    expect(table.kept).toEqual({ e: [{}] });
    expect(run.told).toContainEqual(expect.stringMatching(/^warn: \[probe\] result\.e\[0\] is an error/));
    expect(run).toMatchObject({ code: 1, state: { error: { message: expect.stringContaining('result is a Map') } } });
  });

  it('C062 arrays of more than 4096 cross', () => {
    expect(table.large).toBe(5000);
  });

  it('C063 what goes to a child is copied as JSON; what JSON has no form for is refused with its path', () => {
    expect(table.clonedArgs).toEqual({ n: null, d: '1970-01-01T00:00:00.000Z', url: 'http://a/b', list: [null, null] });
    expect(table.mapArgs).toMatchObject({
      thrown: 'TypeError',
      message: expect.stringContaining('args.m[0] is a Map'),
    });
    expect(table.cycleArgs).toMatchObject({ thrown: 'TypeError', message: expect.stringContaining('args.b.a') });
  });

  it('C122 probe 67 log() makes text of anything', () => {
    const lines = eventsOf(run, 'log').map(({ message }) => message);
    expect(lines).toEqual(expect.arrayContaining(['text', '{"a":1}', '7', 'undefined', 'null']));
    expect(lines.find((line) => line.startsWith('TypeError: shown'))).toMatch(/probe\.js:\d+:\d+/);
  });

  it('C152 args is a plain value in a writable binding', () => {
    expect(table.args).toEqual({ changed: true });
  });
});
