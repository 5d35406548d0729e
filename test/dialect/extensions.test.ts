/** What goes beyond the original dialect. None of it takes a name that the original has. */
import { mkdirSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { dispatched, eventsOf, META, runFile, runProbes, runScript, type Thrown } from './support/run-script.js';

let project: TestProject;
beforeAll(() => {
  project = makeProject({ until: 'file' });
});

describe('TypeScript', () => {
  it('X001 .ts scripts: types are blanked out; what is more than a type is refused', async () => {
    const source = `export const meta = { name: 'typed', description: 'd' }
import type { Nothing } from './nothing'
interface Item<T = string> { readonly name: T; size?: number }
type Sizes = Record<string, number>
const items = [{ name: 'a' }, { name: 'b', size: 2 }] as const satisfies readonly Item[]
const sizes: Sizes = {}
function note<T extends Item>(this: void, item: T, by = item.size ?? 0): asserts item is T { sizes[item.name] = by! }
for (const item of items) note(item)
const answers = await parallel<string>(items.map((item: Item) => () => agent(\`about \${item.name}\`) as Promise<string>))
return { sizes, answers: answers.length, nothing: undefined as Nothing | undefined }
`;
    const run = await runScript(project, source, { file: 'typed.ts' });
    expect(run.result).toEqual({ sizes: { a: 0, b: 2 }, answers: 2 });
    project.write('enum.ts', `${META}enum Size { Small }\nreturn Size.Small\n`);
    await expect(runFile(project, 'enum.ts', ['--backend', 'mock'])).rejects.toThrow(/WF_SCRIPT_SYNTAX.*enum/s);
  });
});

describe('options of agent()', () => {
  const RULES = [
    { when: { label: 'hang' }, hang: true },
    { when: { label: 'flaky', attempt: 1 }, error: 'network' },
    { when: { label: 'flaky' }, reply: 'second try' },
    { reply: 'fine' },
  ];

  it('X002 timeoutMs limits one call; X003 retries allows so many tries after the first', async () => {
    const run = await runProbes<Record<string, unknown>>(
      project,
      `await probe('late', () => agent('a', { label: 'hang', timeoutMs: 100 }))
await probe('once', () => agent('b', { label: 'flaky', retries: 0 }))
await probe('twice', () => agent('c', { label: 'flaky', retries: 1 }))
await probe('bad', () => parallel([() => agent('d', { timeoutMs: 'long' }), () => agent('e', { retries: 1.5 })]))`,
      { rules: RULES, file: 'limits.js' },
    );
    expect(run.table).toEqual({ late: null, once: null, twice: 'second try', bad: [null, null] });
    expect(run.told).toEqual([
      expect.stringContaining('option timeoutMs must be'),
      expect.stringContaining('option retries must be'),
    ]);
  });

  it('X004 cwd is the agent’s folder, inside the project; X010 backend names another one', async () => {
    mkdirSync(project.path('inner'), { recursive: true });
    const run = await runProbes<Record<string, unknown>>(
      project,
      `await probe('here', () => agent('a'))
await probe('inner', () => agent('a', { cwd: 'inner' }))
await probe('outside', () => agent('a', { cwd: '..' }))
await probe('mock', () => agent('a', { backend: 'mock' }))
await probe('none', () => agent('a', { backend: 'nobody' }))`,
      { otherBackend: true, flags: ['--command', 'pwd'], file: 'cwd.js' },
    );
    expect(run.table.here).toBe(project.dir);
    expect(run.table.inner).toBe(project.path('inner'));
    expect(run.table.outside).toMatchObject({ code: 'WF_AGENT_OPTIONS' });
    expect(run.table.mock).toMatch(/^Made-up answer/);
    expect(run.table.none).toMatchObject({ code: 'WF_BACKEND_UNKNOWN' });
  });

  it('X005 tools, X007 salt, X006 cache: false and X008 deps: what they do to a resume', async () => {
    project.write('src/a.txt', 'one');
    const source = (salt: string, tools: string) => `${META}
const a = await agent('plain')
const b = await agent('salted', { salt: '${salt}' })
const c = await agent('uncached', { cache: false })
const d = await agent('with deps', { deps: ['src/**'] })
const e = await agent('with tools', { tools: ${tools} })
return [a, b, c, d, e]
`;
    const one = await runScript(project, source('1', "['Read']"), { file: 'keys.js' });
    const resume = (from: string) => runFile(project, 'keys.js', ['--resume-from', from, '--backend', 'mock']);
    const same = await resume(one.runId);
    expect(dispatched(same)).toEqual(['uncached']);
    project.write('keys.js', source('2', "['Read', 'Grep']"));
    expect(dispatched(await resume(one.runId))).toEqual(['salted', 'uncached', 'with tools']);
    project.write('keys.js', source('1', "['Read']"));
    project.write('src/a.txt', 'two');
    expect(dispatched(await resume(one.runId))).toEqual(['uncached', 'with deps']);
  });

  it('X005 X006 X008 malformed ones are refused before anything is spent', async () => {
    const run = await runProbes<Record<string, Thrown>>(
      project,
      `await probe('tools', () => agent('a', { tools: 'Read' }))
await probe('cache', () => agent('a', { cache: 'no' }))
await probe('deps', () => agent('a', { deps: 'src' }))
await probe('effect', () => agent('a', { effect: 'external' }))`,
      { file: 'malformed.js' },
    );
    for (const name of ['tools', 'cache', 'deps', 'effect'])
      expect([name, run.table[name]]).toEqual([
        name,
        expect.objectContaining({ thrown: 'TypeError', code: 'WF_AGENT_OPTIONS' }),
      ]);
  });
});

describe('what a script can learn', () => {
  it('X009 agent.settled() says why there is no answer', async () => {
    const run = await runProbes<Record<string, unknown>>(
      project,
      `const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
await probe('ok', () => agent.settled('a', { label: 'good', schema }))
await probe('failed', () => agent.settled('b', { label: 'broken' }))
await probe('schema', () => agent.settled('c', { label: 'odd', schema }))
await probe('options', () => agent.settled('d', { effort: 'super' }))
await probe('prompt', () => agent.settled(5))`,
      {
        rules: [
          { when: { label: 'good' }, reply: { n: 1 } },
          { when: { label: 'broken' }, error: 'failed', message: 'exit 1' },
          { when: { label: 'odd' }, reply: { n: 'x' } },
        ],
        file: 'settled.js',
      },
    );
    expect(run.table.ok).toEqual({ ok: true, value: { n: 1 } });
    expect(run.table.failed).toEqual({
      ok: false,
      cause: { name: 'Error', code: 'WF_AGENT_FAILED', message: 'exit 1' },
    });
    expect(run.table.schema).toMatchObject({
      ok: false,
      cause: { name: 'StructuredOutputError', code: 'WF_SCHEMA_UNMET' },
    });
    expect(run.table.options).toMatchObject({ ok: false, cause: { name: 'TypeError', code: 'WF_AGENT_OPTIONS' } });
    expect(run.table.prompt).toMatchObject({ ok: false, cause: { name: 'TypeError', code: 'WF_AGENT_OPTIONS' } });
  });

  it('X012 args come from flags in a fixed form, text stays text', async () => {
    const of = async (...flags: string[]) =>
      (await runScript(project, `${META}return [typeof args, args ?? null]`, { flags, file: 'args.js' })).result;
    expect(await of()).toEqual(['undefined', null]);
    expect(await of('--args', '[1]')).toEqual(['object', [1]]);
    expect(await of('--args-text', '{"a":1}')).toEqual(['string', '{"a":1}']);
    expect(await of('--arg', 'n=1', '--arg', 'm:=1')).toEqual(['object', { n: '1', m: 1 }]);
  });

  it('C150 C151 args are any JSON value, parsed once, and undefined without them', async () => {
    const run = await runScript(project, `${META}return typeof args === 'string' ? JSON.parse(args) : args`, {
      flags: ['--args', '"{\\"a\\":1}"'],
      file: 'guarded.js',
    });
    expect(run.result).toEqual({ a: 1 });
    expect(eventsOf(run, 'run.finished')).toHaveLength(1);
  });
});
