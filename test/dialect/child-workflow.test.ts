/** `workflow()`: which script runs, what it is given, what it shares with its parent, and what comes back. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { dispatched, eventsOf, runFile, runProbes, type ScriptRun, type Thrown } from './support/run-script.js';

const child = (name: string, body: string): string =>
  `export const meta = { name: '${name}', description: 'A child.' }\n${body}\n`;

const FILES = {
  '.claude/workflows/kid.js': child(
    'kid',
    `phase('inner'); log('hello', 1); console.warn('careful')
const answer = await agent('kid asks ' + JSON.stringify(args), { phase: 'X' })
let nested
try { await workflow('kid') } catch (e) { nested = { thrown: e.name, code: e.code, message: e.message } }
return { type: typeof args, args, answer, nested, mark: typeof globalThis.mark, spent: budget.spent(), total: budget.total }`,
  ),
  '.claude/workflows/other-name.mjs': child('by-meta-name', "return 'by meta name'"),
  '.claude/workflows/file-name.ts': child('typed', 'const x: string = `typed ${args as number}`\nreturn x'),
  'sub/parent.js': child(
    'parent',
    "return [await workflow({ scriptPath: './beside.js' }), await workflow({ scriptPath: 'top.js' })]",
  ),
  'sub/beside.js': child('beside', "return 'beside the parent'"),
  'top.js': child('top', "return 'in the start folder'"),
  'throws.js': child(
    'throws',
    "await agent('first')\nfunction inner() {\n  throw new RangeError('child broke')\n}\ninner()",
  ),
  'asks.js': child('asks', "await agent('x', { schema: { type: 'strnig' } })"),
  'waits.js': child('waits', 'await new Promise(() => {})'),
  'syntax.js': child('syntax', 'const x = ;'),
  'meta.js': "export const meta = { name: 'meta' }\n",
  'spends.js': child(
    'spends',
    "const before = budget.spent(); await agent('child'); return [before, budget.spent(), budget.remaining()]",
  ),
  'forgets.js': child('forgets', "agent('forgotten'); setTimeout(() => log('never'), 5000); return 'done'"),
};

const BODY = `
globalThis.mark = 1
phase('Parent')
await probe('none', () => workflow('kid'))
await probe('object', () => workflow('kid', { a: [1] }))
await probe('nullArgs', () => workflow('kid', null))
await probe('text', () => workflow('kid', 'yolo'))
await probe('metaName', () => workflow('by-meta-name'))
await probe('fileName', () => workflow('other-name'))
await probe('typescript', () => workflow('typed', 3))
await probe('absolute', () => workflow({ scriptPath: args.root + '/top.js' }))
await probe('relative', () => workflow({ scriptPath: 'sub/beside.js' }))
await probe('unknown', () => workflow('kidd'))
await probe('missing', () => workflow({ scriptPath: 'none.js' }))
await probe('outside', () => workflow({ scriptPath: '/etc/passwd' }))
await probe('upwards', () => workflow({ scriptPath: '../../../../../../etc/passwd' }))
await probe('throws', () => workflow({ scriptPath: 'throws.js' }))
await probe('asks', () => workflow({ scriptPath: 'asks.js' }))
await probe('waits', () => workflow({ scriptPath: 'waits.js' }))
await probe('syntax', () => workflow({ scriptPath: 'syntax.js' }))
await probe('meta', () => workflow({ scriptPath: 'meta.js' }))
await probe('number', () => workflow(3))
await probe('empty', () => workflow({}))
await probe('forgets', () => workflow({ scriptPath: 'forgets.js' }))
await probe('slots', () => parallel([() => workflow({ scriptPath: 'throws.js' }), () => workflow('by-meta-name')]))
await agent('after')
`;

let project: TestProject;
let run: ScriptRun;
let table: Record<string, unknown>;

beforeAll(async () => {
  project = makeProject({ files: FILES, git: true, until: 'file' });
  run = await runProbes(project, BODY, { flags: ['--args', JSON.stringify({ root: project.dir })] });
  table = run.result as typeof table;
});

const thrown = (name: string): Thrown => table[name] as Thrown;

describe('which script', () => {
  it('C130 probe 50 a saved name (of meta, else of the file), an absolute or a relative path', async () => {
    expect(table.metaName).toBe('by meta name');
    expect(table.fileName).toBe('by meta name');
    expect(table.absolute).toBe('in the start folder');
    expect(table.relative).toBe('beside the parent');
    const nested = await runFile(project, 'sub/parent.js', ['--backend', 'mock']);
    expect(nested.result).toEqual(['beside the parent', 'in the start folder']);
  });

  it('X001 a child may be TypeScript', () => {
    expect(table.typescript).toBe('typed 3');
  });

  it('C133 probe 53 an unknown name throws and lists those that are known', () => {
    expect(thrown('unknown')).toMatchObject({ thrown: 'WorkflowError', code: 'WF_WORKFLOW_UNKNOWN' });
    expect(thrown('unknown').message).toMatch(/"kidd".*by-meta-name, kid, typed/);
    expect(thrown('missing')).toMatchObject({
      code: 'WF_WORKFLOW_UNKNOWN',
      message: expect.stringContaining('none.js'),
    });
    for (const name of ['number', 'empty']) expect(thrown(name)).toMatchObject({ thrown: 'TypeError' });
  });

  it('C137 a child with a fault in its text throws with its place; what lies outside of the project is refused', () => {
    expect(thrown('syntax')).toMatchObject({
      code: 'WF_SCRIPT_SYNTAX',
      message: expect.stringMatching(/\(line 2, column 11\): \S.*\.$/),
      line: 2,
      column: 11,
    });
    expect(thrown('meta')).toMatchObject({ code: 'WF_SCRIPT_META', message: expect.stringContaining('description') });
    for (const name of ['outside', 'upwards'])
      expect(thrown(name)).toMatchObject({ code: 'WF_WORKFLOW_UNKNOWN', message: expect.stringContaining('outside') });
  });
});

describe('what it is given and gives back', () => {
  it('C131 probe 51 args as they are, also none', () => {
    expect(table.none).toMatchObject({ type: 'undefined' });
    expect(table.object).toMatchObject({ type: 'object', args: { a: [1] } });
    expect(table.nullArgs).toMatchObject({ type: 'object', args: null });
    expect(table.text).toMatchObject({ type: 'string', args: 'yolo' });
  });

  it('C132 probe 52 workflow() inside a child throws; that can be caught', () => {
    const { nested } = table.none as { nested: Thrown };
    expect(nested).toMatchObject({ code: 'WF_NESTING', message: expect.stringContaining('one level') });
  });

  it('C134 probe 54 X011 what a child throws reaches the parent, with name, code and place in the child', () => {
    expect(thrown('throws')).toEqual({
      thrown: 'RangeError',
      code: 'WF_WORKFLOW_FAILED',
      message: 'child broke',
      line: 4,
      column: 9,
    });
    expect(thrown('asks')).toMatchObject({ thrown: 'TypeError', code: 'WF_SCHEMA_INVALID', line: 2 });
    expect(thrown('waits')).toMatchObject({ code: 'WF_DEADLOCK' });
    expect(table.slots).toEqual([null, 'by meta name']);
    expect(run.told).toContain('warn: parallel[0] failed: RangeError: child broke (throws.js:4:9)');
  });

  it('C136 B-121 it has globals of its own', () => {
    expect(table.none).toMatchObject({ mark: 'undefined' });
  });

  it('C191 what a child forgets is ended with it', () => {
    expect(table.forgets).toBe('done');
    expect(run.state.counts.abandoned).toBe(1);
    expect(run.told.join()).not.toContain('never');
  });
});

describe('what it shares', () => {
  it('C135 probe 55 C123 calls stand under "▸ name"; logs are prefixed; phase() has no effect', () => {
    const kid = eventsOf(run, 'call.queued').filter(({ label }) => label.startsWith('kid asks'));
    expect(kid).toHaveLength(4);
    expect(new Set(kid.map(({ phase }) => phase))).toEqual(new Set(['▸ kid']));
    expect(eventsOf(run, 'call.queued').at(-1)).toMatchObject({ label: 'after', phase: 'Parent' });
    expect(eventsOf(run, 'phase').map(({ title }) => title)).toEqual(['Parent']);
    expect(run.told).toEqual(expect.arrayContaining(['log: [kid] hello', 'warn: [kid] careful']));
  });

  it('C138 its start and end are told', () => {
    const told = run.told.filter((line) => line.startsWith('info: ▸'));
    expect(told.slice(0, 2)).toEqual(['info: ▸ kid started', 'info: ▸ kid done']);
    expect(told).toContain('info: ▸ throws failed: child broke');
  });

  it('C135 probe 55 C143 cap, budget and concurrency are those of the run', async () => {
    const shared = await runProbes<Record<string, unknown>>(
      project,
      `await agent('parent')
await probe('child', () => workflow({ scriptPath: 'spends.js' }))
await probe('own', () => budget.spent())
await probe('two', () => parallel([1, 2, 3].map(() => () => workflow({ scriptPath: 'spends.js' }))))`,
      {
        rules: [{ reply: 'x', usage: { in: 1, out: 10 }, delayMs: 30 }],
        flags: ['--budget', '1000', '--max-agents', '4', '--concurrency', '1'],
        file: 'shared.js',
      },
    );
    expect(shared.table.child).toEqual([10, 20, 980]);
    expect(shared.table.own).toBe(20);
    expect((shared.table.two as unknown[]).map((one) => one === null)).toEqual([false, false, true]);
    expect(dispatched(shared)).toHaveLength(4);
    let running = 0;
    for (const event of shared.events) {
      if (event.type === 'call.started') expect(++running).toBe(1);
      if (event.type === 'call.finished' && event.attempts > 0) running--;
    }
  });
});

describe('saved workflows', () => {
  it('C200 B-112 the closest folder wins, then the user’s; .js, .mjs, .ts and .mts', async () => {
    const places = makeProject({
      git: true,
      files: {
        '.claude/workflows/same.js': child('same', "return 'root'"),
        'deep/.claude/workflows/same.mjs': child('same', "return 'deep'"),
        'deep/er/keep.txt': '',
        '.claude/workflows/more.mts': child('more', 'const n: number = 1\nreturn n'),
      },
    });
    const saved = join(places.home, '.claude', 'workflows');
    mkdirSync(saved, { recursive: true });
    for (const name of ['same', 'mine']) writeFileSync(join(saved, `${name}.js`), child(name, "return 'user'"));
    const at = async (name: string, cwd = places.dir) =>
      (await runFile(places, name, ['--backend', 'mock'], { cwd })).result;
    expect(await at('same')).toBe('root');
    expect(await at('same', places.path('deep', 'er'))).toBe('deep');
    expect([await at('mine'), await at('more')]).toEqual(['user', 1]);
  });
});
