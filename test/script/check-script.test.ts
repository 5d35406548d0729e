import { describe, expect, test } from 'vitest';
import { type CheckOptions, checkScript } from '../../src/script/check-script.js';
import { META } from './scripts.js';

/** Checks META and a body in which ⟦…⟧ marks where the one expected fault stands. */
async function check(body: string, options: Partial<CheckOptions> = {}, meta = META) {
  const marked = `${meta}\n${body}`;
  const source = marked.replace(/[⟦⟧]/g, '');
  const faults = await checkScript(source, { filename: 'test.js', ...options });
  const at = marked.indexOf('⟦');
  if (at >= 0) {
    const before = marked.slice(0, at).split('\n');
    expect(faults).toMatchObject([{ file: 'test.js', line: before.length, column: (before.at(-1) ?? '').length + 1 }]);
    expect(faults[0]?.frame).toContain('^');
    expect(faults[0]?.message).toMatch(/\.$/);
    expect(faults[0]?.remedy).toBeTruthy();
  }
  return faults.map(({ code, severity, message, remedy }) => ({ code, severity, message, remedy }));
}

const quiet = async (body: string, options: Partial<CheckOptions> = {}, meta = META) =>
  expect(await check(body, options, meta)).toEqual([]);

describe('what a run refuses', () => {
  test('B-105 meta, modules and determinism come together with likely mistakes, by place', async () => {
    const source = `const M = 'x'\nexport const meta = { name: M, description: 'd' }\nagent('a')\nDate.now()\nbudget(5)\nparallel(agent(), agent())`;
    const faults = await checkScript(source, { filename: 'a.js' });
    expect(faults.map(({ code, line, column, severity }) => `${code} ${line}:${column} ${severity}`)).toEqual([
      'WF_SCRIPT_META 1:1 error',
      'WF_SCRIPT_META 2:29 error',
      'WF_CHECK_UNAWAITED 3:1 warning',
      'WF_SCRIPT_DETERMINISM 4:1 error',
      'WF_CHECK_BUDGET 5:1 error',
      'WF_CHECK_UNAWAITED 6:1 warning',
      'WF_CHECK_STARTED 6:10 error',
      'WF_CHECK_PROMPT 6:10 error',
      'WF_CHECK_PROMPT 6:19 error',
    ]);
  });
  test('a syntax fault stands alone, worded as a run words it', async () => {
    expect(await checkScript(`${META}\nconst a: string = agent('x')`, { filename: 'a.js' })).toMatchObject([
      {
        code: 'WF_SCRIPT_SYNTAX',
        line: 2,
        column: 8,
        severity: 'error',
        message: expect.stringContaining('plain JavaScript'),
      },
    ]);
    expect(await checkScript(`${META}\nenum A { x }`, { filename: 'a.ts' })).toMatchObject([
      { code: 'WF_SCRIPT_SYNTAX', line: 2 },
    ]);
    expect(await checkScript('x'.repeat(600_000), { filename: 'a.js' })).toMatchObject([
      { file: 'a.js', code: 'WF_SCRIPT_SIZE', line: 1, column: 1 },
    ]);
  });
  test('TypeScript is checked with exact places', async () => {
    await check("interface A { b: string }\nconst é: A = 1 as any; ⟦agent⟧('x', { label: 'y' } as Options)", {
      filename: 'test.js',
      language: 'ts',
    });
  });
  test('what meta loses is a warning', async () => {
    const faults = await checkScript("export const meta = { name: 'a', description: 'b', phases: 'x' }", {
      filename: 'a.js',
    });
    expect(faults).toMatchObject([{ code: 'WF_CHECK_META', severity: 'warning', line: 1, column: 60 }]);
  });
});

describe('WF_CHECK_UNAWAITED', () => {
  for (const body of [
    "⟦agent('x')⟧",
    "⟦agent.settled('x')⟧;",
    "if (args) { ⟦workflow('x')⟧ }",
    "⟦agent('x').then((x) => log(x)).catch(() => {})⟧",
    "⟦parallel([() => agent('x')])⟧",
    'function f() { ⟦pipeline([1], (x) => agent(`${x}`))⟧ } await f()',
    'for (const x of args) ⟦agent(x)⟧',
    '⟦args.forEach(async (x) => { await agent(x) })⟧',
    // Behind it the script ends.
    "async function main() { return await agent('x') }\n⟦main()⟧",
    "const main = async () => { await agent('x') }; ⟦main().catch((e) => log(e))⟧; log('started'); return { ok: true }",
    "phase('a');\n⟦(async () => { await agent('x') })()⟧",
    "const review = () => agent('x'); async function main() { return await review() }\n⟦main()⟧",
    // A chain is no wait, whatever is behind it.
    "const a = await agent('a'); ⟦agent('x').then(log)⟧",
    "⟦agent('x').catch(log)⟧; return 1",
    "⟦agent.settled('x').then(console.log).finally(log)⟧",
    "⟦parallel([() => agent('x')]).then((all) => { log(all.length) })⟧",
    "const show = (x) => log(x); ⟦workflow('x').then(show)⟧",
    "function show(x) { log(x) }\n⟦agent('x').then((x) => show(x)).catch(show)⟧",
    "const seen = []; ⟦agent('x').then((x) => { seen.push(x) })⟧; return seen",
    // Nobody looks at it again.
    "const p = ⟦agent('x').then(log)⟧; return 1",
    "async function f() { let p = ⟦agent('x')⟧; await agent('y') } await f()",
    // An async function gives a promise, which is always true.
    'const kept = ⟦args.filter(async (x) => await agent(x))⟧; return kept',
    'if (⟦args.some(async (x) => (await agent(x)) === null)⟧) return 1',
    // A promise has no such member.
    "return await ⟦parallel([() => agent('x')]).filter⟧(Boolean)",
    "const r = agent('x'); return ⟦r.trim⟧()",
    'const rs = pipeline(args, (x) => agent(x)); log(⟦rs.length⟧); return await rs',
  ])
    test(body, async () =>
      expect(await check(body)).toMatchObject([{ code: 'WF_CHECK_UNAWAITED', severity: 'warning' }]),
    );
  for (const body of [
    "await agent('x')",
    "const p = agent('x'); return await p",
    "return agent('x')",
    "void agent('x')",
    "const { promise, resolve, reject } = Promise.withResolvers(); agent('x').then(resolve, reject); return promise",
    "return new Promise((done) => { agent('x').then(done).catch(log) })",
    "return new Promise((done) => { agent('x').then((x) => { log(x); done(x) }) })",
    "const later = Promise.withResolvers(); agent('x').then(later.resolve).catch(later.reject); return later.promise",
    "const later = Promise.withResolvers(); agent('x').then((x) => later.resolve(x)); return later.promise",
    "const { promise, resolve } = Promise.withResolvers(); const end = () => resolve(); agent('x').finally(end); return promise",
    "return new Promise((done) => { function end(x) { again(x) } function again(x) { done(x) } agent('x').then(end) })",
    "const jobs = []; jobs.push(agent('x').then(log)); await Promise.all(jobs)",
    "const jobs = [agent('x').then(log), agent('y').catch(log)]; return await Promise.all(jobs)",
    "const p = agent('x').then(log); await p",
    "let p = agent('x').then(log); if (args) { p = agent('y').finally(log) } return p",
    "return agent('x').then((x) => x.trim())",
    "const ask = (x) => agent(x).then(log); await ask('x')",
    "const r = await agent('x').then((x) => x, log)",
    "const p = agent('x'); return { p }",
    "void agent('x').then(log)",
    "const agent = (x) => x; agent('x')",
    "const f = () => agent('x'); f()",
    'args.forEach((x) => log(x)); args.forEach(async (x) => { log(x) })',
    "phase('a'); log('b'); console.log('c')",
    'const r = await Promise.all(args.map((x) => agent(x)))',
    "async function main() { await agent('x') }\nawait main()",
    "async function pump() { await agent('x') }\npump(); await new Promise((done) => setTimeout(done, 5))",
    "async function pump() { await agent('x') }\nconst done = agent('y'); pump(); return done",
    "async function main() { log('x') }\nmain()",
    "const f = () => { const main = async () => agent('x'); main() }; await f()",
    "const r = await agent('x'); return r.trim()",
    "const p = agent('x'); return await p.then((x) => x.trim())",
    "return (await parallel([() => agent('x')])).filter(Boolean)",
    'const found = args.filter((x) => x.isAsync); return found',
  ])
    test(`not: ${body}`, async () => quiet(body));
});

describe('WF_CHECK_STARTED', () => {
  for (const body of [
    "await parallel([() => agent('x'), ⟦agent('y')⟧])",
    "await parallel([⟦agent('y').then((x) => x)⟧])",
    'await parallel([⟦(async () => 1)()⟧])',
    "const p = agent('y'); await parallel([⟦p⟧])",
    'await parallel(⟦args.map((x) => agent(x))⟧)',
    'await parallel(⟦args.map(async (x) => { await agent(x) })⟧)',
    'await parallel(⟦args.flatMap(function (x) { log(x); return workflow(x) })⟧)',
    'const jobs = args.map((x) => agent(x)); await parallel(⟦jobs⟧)',
    'await parallel([() => 1, ⟦...args.map((x) => agent(x))⟧])',
    "await parallel(⟦agent('x')⟧, agent('y'))",
    "await pipeline(args, ⟦agent('x')⟧)",
  ])
    test(`B-061 ${body}`, async () =>
      expect(await check(body)).toMatchObject([{ code: 'WF_CHECK_STARTED', severity: 'error' }]));
  for (const body of [
    'await parallel(args.map((x) => () => agent(x)))',
    "await parallel([() => agent('x'), async () => agent('y'), ...args.map((x) => async () => agent(x))])",
    'await parallel(args.map((x) => makeJob(x))); function makeJob(x) { return () => agent(x) }',
    'const jobs = []; for (const x of args) jobs.push(() => agent(x)); await parallel(jobs)',
    'await parallel(args.map(function (x) { return () => { return agent(x) } }))',
    'await parallel(...args); await parallel(args.jobs); await parallel([])',
    "const parallel = (x) => x; parallel([1, 'x'])",
  ])
    test(`not: ${body}`, async () => quiet(body));
});

describe('WF_CHECK_NOT_ARRAY and WF_CHECK_NOT_FUNCTION', () => {
  for (const body of [
    "await pipeline(⟦'abc'⟧, (x) => agent(x))",
    "const list = 'abc'; await pipeline(⟦list⟧, (x) => agent(x))",
    'await pipeline(⟦{ a: 1 }⟧, (x) => agent(x))',
    'await ⟦pipeline()⟧',
    'await parallel(⟦7⟧)',
    "await parallel(⟦() => agent('x')⟧, () => agent('y'))",
    'await parallel(⟦`abc`⟧)',
  ])
    test(`B-097 ${body}`, async () =>
      expect(await check(body)).toMatchObject([{ code: 'WF_CHECK_NOT_ARRAY', severity: 'error' }]));
  for (const body of [
    "await pipeline([1], ⟦'notfn'⟧)",
    'await pipeline([1], (x) => x, ⟦[(x) => x]⟧)',
    "await parallel([⟦'x'⟧])",
    'await parallel([⟦{ run: 1 }⟧])',
    "await parallel([⟦await agent('x')⟧])",
    'await parallel(⟦[() => 1, , () => 2]⟧)',
  ])
    test(`B-097 ${body}`, async () =>
      expect(await check(body)).toMatchObject([{ code: 'WF_CHECK_NOT_FUNCTION', severity: 'error' }]));
  test('the message says what came', async () => {
    expect((await check("await pipeline('one,two', (x) => agent(x))"))[0]?.message).toBe(
      'pipeline() takes an array of items as its first argument, found the text "one,two".',
    );
  });
  test('not: what is only known at run time', () =>
    quiet(
      'await pipeline(args.files, args.a ? (x) => x : (y) => y, f); await pipeline(split(args), agent); function f() {} function split() {}',
    ));
});

describe('WF_CHECK_PHASE', () => {
  const phased = (...titles: string[]) =>
    `export const meta = { name: 'a', description: 'b', phases: [${titles.map((title) => `{ title: '${title}' }`).join(', ')}] }`;
  test('a title that nothing uses', async () => {
    const meta =
      "export const meta = { name: 'a', description: 'b', phases: [{ title: 'Find' }, { title: ⟦'Judge'⟧ }] }";
    expect(await check("phase('Find'); await agent('x')", {}, meta)).toMatchObject([
      { code: 'WF_CHECK_PHASE', severity: 'warning', message: expect.stringContaining('"Judge"') },
    ]);
  });
  test('a phase that meta does not name, once', async () => {
    expect(
      await check(
        "phase('Find'); phase(⟦'Jugde'⟧); await agent('x', { phase: 'Judge' }); phase('Jugde')",
        {},
        phased('Find', 'Judge'),
      ),
    ).toMatchObject([{ code: 'WF_CHECK_PHASE', remedy: 'Did you mean "Judge"?' }]);
  });
  test('a misspelt one names both', async () => {
    const faults = await check("phase('Reveiw')", {}, phased('Review'));
    expect(faults.map(({ remedy }) => remedy)).toEqual(['Did you mean "Reveiw"?', 'Did you mean "Review"?']);
  });
  for (const body of [
    "phase('Find'); await agent('x', { phase: 'Judge' })",
    "const P = 'Judge'; phase(args ? 'Find' : P)",
    "const opts = { phase: 'Judge' }; phase('Find'); await agent('x', { label: 'y', ...opts })",
    'phase(`Round ${args}`)',
    "await agent('x', { ...args })",
    "await agent('x', args.options)",
    "const go = phase; go('Find')",
    'args.map(agent)',
  ])
    test(`not: ${body}`, () => quiet(body, {}, phased('Find', 'Judge')));
  test('not: without phases in meta', () => quiet("phase('Anything')"));
});

describe('WF_CHECK_SCHEMA', () => {
  const cases: Record<string, [schema: string, message: string]> = {
    'a required name that is not allowed': [
      "{ type: 'object', properties: { a: {} }, required: ['a', 'b'], additionalProperties: false }",
      'requires `b`',
    ],
    'the same inside a required property': [
      "{ type: 'object', required: ['list'], properties: { list: { type: 'array', minItems: 1, items: { type: 'object', required: ['x'], additionalProperties: false } } } }",
      'schema.properties.list.items requires `x`',
    ],
    'no value of its type': [
      "{ type: 'object', properties: { a: { type: 'string', enum: [1, 2] } }, required: ['a'] }",
      'not of its type',
    ],
    'crossed limits': [
      "{ type: 'object', properties: { a: { type: 'number', minimum: 2, maximum: 1 } }, required: ['a'] }",
      'minimum 2 above maximum 1',
    ],
    'a required property that is false': [
      "{ type: 'object', properties: { a: false }, required: ['a'] }",
      'is `false`',
    ],
    'every branch': [
      "{ anyOf: [{ type: 'object', required: ['a'], additionalProperties: false }, false] }",
      'anyOf[0] requires `a`',
    ],
    'an unknown type': ["{ type: 'objekt' }", 'not valid: /type must be one of string, number'],
    'a word instead of a schema': [
      "{ type: 'object', properties: { a: 'string' } }",
      "not valid: /properties/a must be a schema, such as { type: 'string' }.",
    ],
    'required that is no list': ["{ type: 'object', required: 'a' }", 'not valid'],
    'a broken pattern': ["{ type: 'object', properties: { a: { type: 'string', pattern: '(' } } }", 'not valid'],
    'a reference to nowhere': ["{ type: 'object', properties: { a: { $ref: '#/definitions/x' } } }", 'not valid'],
    'types in short': ["{ title: 'string', count: 'number' }", '`count` is no keyword'],
    'no object at all': ["'object'", 'must be a JSON Schema object'],
  };
  for (const [what, [schema, message]] of Object.entries(cases)) {
    test(what, async () => {
      const found = { code: 'WF_CHECK_SCHEMA', severity: 'error', message: expect.stringContaining(message) };
      expect(await check(`return await agent('x', { schema: ⟦${schema}⟧ })`)).toMatchObject([found]);
      expect(
        await check(`const S = ⟦${schema}⟧\nawait agent('x', { schema: S }); await agent('y', { schema: S })`),
      ).toMatchObject([found]);
    });
  }
  test('a root that is no object is wrapped by this engine, but not by others', async () => {
    expect(await check("await agent('x', { schema: ⟦{ type: 'array', items: {} }⟧ })")).toMatchObject([
      { code: 'WF_CHECK_SCHEMA', severity: 'warning', message: expect.stringContaining('an array') },
    ]);
  });
  test('types in short inside of it: other engines let them pass', async () => {
    for (const [schema, path] of [
      ["{ type: 'array', items: { title: 'string', line: 'number' } }", 'schema.items.line'],
      ["{ type: 'object', properties: { user: { name: 'string[]' } } }", 'schema.properties.user.name'],
    ])
      expect(await check(`await agent('x', { schema: ⟦${schema}⟧ })`)).toMatchObject([
        { code: 'WF_CHECK_SCHEMA', severity: 'warning', message: expect.stringContaining(`${path} is no keyword`) },
      ]);
  });
  for (const schema of [
    "{ type: 'object', properties: { a: { 'x-kind': 'our string', description: 'd' }, b: { 'x-n': 1 } } }",
    "{ description: 'anything' }",
    "{ description: 'anything', 'x-order': 1 }",
    "{ type: 'object', properties: { a: { type: ['string', 'null'], enum: ['x', null] } }, required: ['a'], additionalProperties: false }",
    "{ type: 'object', properties: { n: { type: 'integer', const: 1 } }, required: ['n'], examples: [1], 'x-own': true }",
    "{ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', $defs: { a: { prefixItems: [{}] } }, properties: { a: { $ref: '#/$defs/a' } } }",
    "{ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { d: { type: 'string', format: 'date' } } }",
    "{ type: 'object', patternProperties: { '^x': {} }, required: ['xy'], additionalProperties: false }",
    "{ type: 'object', properties: { a: { type: 'string', minLength: 5, maxLength: 1 } } }",
    '{ ...BASE, type: 7 }',
    'args.schema',
    'null',
  ])
    test(`not: ${schema}`, () => quiet(`const BASE = args; await agent('x', { schema: ${schema} })`));
  test('constants that name each other end', async () => {
    await quiet(
      "const a = { type: 'object', properties: { a: b } }; const b = { items: a }; await agent('x', { schema: a })",
    );
  });
});

describe('options, types, names', () => {
  test('an unknown option, with what was meant', async () => {
    expect(await check("await agent('x', { ⟦lable⟧: 'y', model: 'm' })")).toMatchObject([
      { code: 'WF_CHECK_OPTION', severity: 'warning', remedy: 'Did you mean `label`?' },
    ]);
    expect((await check("await agent('x', { ⟦permissionMode⟧: 'y' })"))[0]?.remedy).toContain('label, phase, schema');
    await check("const base = { ⟦agenttype⟧: 'x' }; await agent('a', { ...base }); await agent.settled('b', base)");
  });
  test('every known option is known', () =>
    quiet(
      "await agent('x', { label: '', phase: '', schema: null, model: 'm', effort: 'xhigh', isolation: 'worktree', agentType: 't', stallMs: 1, disallowedTools: [], bashCommandClamp: [], timeoutMs: 1, retries: 1, cwd: '.', tools: [], cache: true, salt: '', deps: [], backend: 'b' })",
    ));
  test('options that are no object', async () => {
    expect(await check("await agent('x', ⟦'label'⟧)")).toMatchObject([{ code: 'WF_CHECK_OPTION', severity: 'error' }]);
    await quiet("await agent('x', undefined); await agent('y', null); await agent(...args)");
  });
  test('an option that the engine refuses', async () => {
    expect(await check("await agent('x', { effort: ⟦'hihg'⟧ })")).toMatchObject([
      { code: 'WF_CHECK_OPTION', severity: 'error' },
    ]);
    expect(await check("await agent('x', { ⟦effect⟧: 'external' })")).toMatchObject([
      { code: 'WF_CHECK_OPTION', severity: 'error' },
    ]);
  });
  test('an unknown isolation', async () => {
    for (const value of ["'remote'", "'worktre'", '`container`'])
      expect(await check(`await agent('x', { isolation: ⟦${value}⟧ })`)).toMatchObject([
        { code: 'WF_CHECK_ISOLATION', severity: 'error' },
      ]);
    await quiet("await agent('x', { isolation: args.isolation }); await agent('x', { isolation: undefined })");
  });
  test('an unknown agent type, where they are known', async () => {
    const agentTypes = ['reviewer', 'Explore'];
    expect(await check("await agent('x', { agentType: ⟦'reveiwer'⟧ })", { agentTypes })).toMatchObject([
      { code: 'WF_CHECK_AGENT_TYPE', severity: 'error', remedy: 'Did you mean `reviewer`?' },
    ]);
    await quiet("await agent('x', { agentType: 'reviewer' }); await agent('x', { agentType: 'plugin:any' })", {
      agentTypes,
    });
    await quiet("await agent('x', { agentType: 'reveiwer' })");
  });
  test('a saved workflow that is not there', async () => {
    const workflows = ['deep-research'];
    expect(await check("await workflow(⟦'deep-reserch'⟧, 1)", { workflows })).toMatchObject([
      { code: 'WF_CHECK_WORKFLOW', severity: 'error', remedy: 'Did you mean `deep-research`?' },
    ]);
    await quiet(
      "await workflow('deep-research'); await workflow({ scriptPath: './x.js' }); await workflow(args.name)",
      { workflows },
    );
    await quiet("await workflow('deep-reserch')");
  });
  test('a prompt that is none', async () => {
    for (const call of ["agent(⟦''⟧)", 'agent(⟦{ prompt: 1 }⟧)', 'agent(⟦5⟧)', '⟦agent()⟧', 'agent.settled(⟦[]⟧)'])
      expect(await check(`await ${call}`)).toMatchObject([{ code: 'WF_CHECK_PROMPT', severity: 'error' }]);
    await quiet('await agent(args); await agent(`a${args}`); await agent("a" + args); await agent(args.a ?? "b")');
  });
  test('B-105 budget is no function', async () => {
    expect(await check('⟦budget(5)⟧')).toMatchObject([{ code: 'WF_CHECK_BUDGET', severity: 'error' }]);
    await quiet('while (budget.total && budget.remaining() > 50_000) log(budget.spent())');
  });
});

describe('names from outside', () => {
  for (const [body, hint] of [
    ["const fs = ⟦require⟧('fs')", 'one file'],
    ["const r = await ⟦fetch⟧('https://example.invalid')", 'agent'],
    ['return ⟦process⟧.env.HOME', 'args'],
    ["return ⟦Buffer⟧.from('a')", 'TextEncoder'],
    ['return ⟦crypto⟧.randomUUID()', 'resume'],
    ['return ⟦performance⟧.now()', 'time'],
    ['⟦setInterval⟧(() => {}, 1)', 'setTimeout'],
    ['return new ⟦WeakRef⟧({})', 'thread'],
  ] as const)
    test(`WF_CHECK_ABSENT ${body}`, async () =>
      expect(await check(body)).toMatchObject([
        { code: 'WF_CHECK_ABSENT', severity: 'error', remedy: expect.stringContaining(hint) },
      ]));
  test('inside try it is only likely', async () => {
    expect(await check("let h = ''; try { h = ⟦process⟧.env.HOME } catch { h = '/' }")).toMatchObject([
      { severity: 'warning' },
    ]);
    expect(await check("try { log('x') } catch { ⟦process⟧.exit() }")).toMatchObject([{ severity: 'error' }]);
  });
  for (const body of [
    "return typeof process !== 'undefined' ? process.env.HOME : ''",
    'return [typeof require, typeof fetch, typeof Buffer]',
    'const process = { env: {} }; return process.env',
    'return { process: 1 }.process + args.fetch(1)',
    "return [new URL('a:b'), structuredClone(args), new TextEncoder(), atob(btoa('x')), new AbortController()]",
    'setTimeout(() => clearTimeout(1), 5); console.warn(globalThis, undefined, NaN)',
    'return [Intl, Reflect, Proxy, Symbol.iterator, new Map(), BigInt(1), encodeURIComponent("x"), Iterator, new Float16Array(1)]',
  ])
    test(`not: ${body}`, () => quiet(body));
  test('WF_CHECK_UNDEFINED B-061 a misspelt name, with what was meant', async () => {
    expect(await check("await parallel([() => ⟦agnet⟧('x')])")).toMatchObject([
      { code: 'WF_CHECK_UNDEFINED', severity: 'warning', remedy: 'Did you mean `agent`?' },
    ]);
    await check('await agent(⟦oops⟧)');
    await check('⟦undeclared⟧ = 1');
  });
});

test('the report is short, whatever the script holds', async () => {
  const faults = await checkScript(`${META}\n${'oops;'.repeat(20_000)}`, { filename: 'a.js' });
  expect(faults.length).toBe(200);
});
