/** From the command line to the script's `args`: parsed once, kept with the run, the same in every way to start. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { MOCK, newestRun, workflow } from './cli-kit.js';

const SHOW = workflow('return [typeof args, Array.isArray(args), args]', 'show');
const makeShow = (files: Record<string, string> = {}) => makeProject({ files: { 'show.js': SHOW, ...files } });

describe('B-096: exactly one parse', () => {
  it.each<[string, string[], unknown[]]>([
    ['an object', ['--args', '{"a":1}'], ['object', false, { a: 1 }]],
    ['a list', ['--args', '[1]'], ['object', true, [1]]],
    ['a text in JSON', ['--args', '"x"'], ['string', false, 'x']],
    ['JSON in a text in JSON', ['--args', '"{\\"a\\":1}"'], ['string', false, '{"a":1}']],
    ['a number', ['--args', '5'], ['number', false, 5]],
    ['null', ['--args', 'null'], ['object', false, null]],
    ['false', ['--args', 'false'], ['boolean', false, false]],
    ['nothing', [], ['undefined', false, null]],
    ['plain text', ['--args-text', 'not json'], ['string', false, 'not json']],
    ['plain text that looks like JSON', ['--args-text', '{"a":1}'], ['string', false, '{"a":1}']],
    ['empty text', ['--args-text', ''], ['string', false, '']],
    ['a file', ['--args-file', 'args.json'], ['object', false, { from: 'file' }]],
    ['stdin', ['--args-file', '-'], ['object', false, { from: 'stdin' }]],
    [
      'single values: text stays text',
      ['--arg', 'n=5', '--arg', 'url=http://x/?a=b', '--arg', 'empty=', '--arg', 'lines=a\nb'],
      ['object', false, { n: '5', url: 'http://x/?a=b', empty: '', lines: 'a\nb' }],
    ],
    [
      'single values: typed ones are typed',
      ['--arg', 'n:=5', '--arg', 'list:=[1,{"a":null}]', '--arg', 'text:="5"', '--arg', 'plain=:=x'],
      ['object', false, { n: 5, list: [1, { a: null }], text: '5', plain: ':=x' }],
    ],
    [
      'single values whose names hold a colon',
      ['--arg', 'ns:key=text', '--arg', 'ns:n:=5', '--arg', 'a:b:c=http://x:=y'],
      ['object', false, { 'ns:key': 'text', 'ns:n': 5, 'a:b:c': 'http://x:=y' }],
    ],
    [
      'odd names',
      ['--args', '{"__proto__":1,"constructor":2}'],
      ['object', false, JSON.parse('{"__proto__":1,"constructor":2}')],
    ],
  ])('%s', async (_, flags, expected) => {
    const project = makeShow({ 'args.json': '{"from":"file"}\n' });
    const { code, stdout, stderr } = await runWf(['run', 'show.js', ...MOCK, ...flags], {
      project,
      ...(flags.includes('-') ? { input: '{"from":"stdin"}' } : {}),
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(expected);
  });

  it.each<[string, string[], RegExp]>([
    ['text that is no JSON', ['--args', 'not json'], /WF_ARGS.*--args.*\n.*--args-text/],
    ['a file in the way of other tools', ['--args', '@args.json'], /WF_ARGS.*\n.*--args-file/],
    ['nothing', ['--args', ''], /WF_ARGS/],
    ['a missing file', ['--args-file', 'missing.json'], /WF_ARGS.*missing\.json/],
    ['a file that is no JSON', ['--args-file', 'show.js'], /WF_ARGS.*show\.js/],
    ['a typed value that does not parse', ['--arg', 'n:=five'], /WF_ARGS.*--arg n/],
    ['a value without a name', ['--arg', '=x'], /WF_ARGS.*--arg "=x" is not name=text\./],
    ['a typed value without a name', ['--arg', ':=5'], /WF_ARGS.*--arg ":=5" is not name=text\./],
    ['a name without a value', ['--arg', 'x'], /WF_ARGS.*--arg/],
    ['two ways at once', ['--args', '{}', '--arg', 'a=1'], /WF_ARGS.*--args and --arg/],
    ['two ways at once, text and file', ['--args-text', 'x', '--args-file', 'args.json'], /WF_ARGS/],
  ])('%s is refused before anything starts', async (_, flags, words) => {
    const project = makeShow();
    const { code, stdout, stderr } = await runWf(['run', 'show.js', ...MOCK, ...flags], { project });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(words);
    expect(project.runIds()).toEqual([]);
  });
});

describe('B-098: args are part of the run', () => {
  it('B-098 R13: by path, by name, from stdin, nested and resumed the value is the same, and it is stored', async () => {
    const project = makeShow({
      '.claude/workflows/saved.js': SHOW.replace("'show'", "'saved-show'"),
      'nest.js': workflow(`return await workflow('saved-show', args)`, 'nest'),
    });
    const given = ['--args', '{"files":["a","b"],"deep":{"n":1}}'];
    const expected = ['object', false, { files: ['a', 'b'], deep: { n: 1 } }];
    for (const way of ['show.js', 'saved-show', 'saved', '-', 'nest.js']) {
      const { code, stdout } = await runWf(['run', way, ...MOCK, ...given], { project, input: SHOW });
      expect({ way, code }).toEqual({ way, code: 0 });
      expect(JSON.parse(stdout)).toEqual(expected);
    }
    const record = JSON.parse(readFileSync(join(project.runDir(newestRun(project)), 'run.json'), 'utf8'));
    expect(record.args).toEqual(expected[2]);
    const resumed = await runWf(['run', '--resume-from', newestRun(project), '-q'], { project });
    expect(JSON.parse(resumed.stdout)).toEqual(expected);
  });

  it('B-098 R8: args given again on a resume win, and that is said; equal prompts still hit', async () => {
    const project = makeProject({
      files: { 'flow.js': workflow(`return [await agent('same', { label: 'same' }), await agent('by ' + args.who)]`) },
    });
    const backend = makeFakeBackend(project);
    await runWf(['run', 'flow.js', '--arg', 'who=one', ...backend.flags], { project });
    const first = newestRun(project);
    const second = await runWf(['run', '--resume-from', first, '--arg', 'who=two'], { project });
    expect(JSON.parse(second.stdout)).toEqual(['same answered #1', 'by two answered #3']);
    expect(second.stderr).toMatch(/args differ/);
    const third = await runWf(['run', '--resume-from', newestRun(project), '-q'], { project });
    expect(JSON.parse(third.stdout)).toEqual(['same answered #1', 'by two answered #3']);
    expect(third.stderr).toBe('');
    expect(backend.ledger.starts()).toHaveLength(3);
  });

  it('args may be changed by the script, and are the same at the next start', async () => {
    const project = makeProject({
      files: {
        'flow.js': workflow('args.list.push(1)\nconst seen = args\nargs = { other: true }\nreturn [seen, args]'),
      },
    });
    const run = await runWf(['run', 'flow.js', '--arg', 'list:=[]', ...MOCK], { project });
    const again = await runWf(['run', '--resume-from', newestRun(project), '-q'], { project });
    expect(JSON.parse(run.stdout)).toEqual([{ list: [1] }, { other: true }]);
    expect(again.stdout).toBe(run.stdout);
  });

  it('args of 16 MB arrive whole; larger ones are refused with their size', async () => {
    const project = makeProject({ files: { 'flow.js': workflow('return args.text.length') } });
    const text = 'x'.repeat(16 * 2 ** 20 - 100);
    project.write('large.json', JSON.stringify({ text }));
    const large = await runWf(['run', 'flow.js', '--args-file', 'large.json', ...MOCK], { project });
    expect(large).toMatchObject({ code: 0, stdout: `${text.length}\n` });
    project.write('larger.json', JSON.stringify({ text: `${text}${'x'.repeat(200)}` }));
    const larger = await runWf(['run', 'flow.js', '--args-file', 'larger.json', ...MOCK], { project });
    expect(larger.code).toBe(2);
    expect(larger.stderr).toMatch(/WF_ARGS.*16777\d{3}.*16777216/);
  });
});

it('B-097: what is no list is refused by name, and no agent is started', async () => {
  const project = makeProject({
    files: {
      'flow.js': workflow(`const tries = [
  () => pipeline(args, (x) => agent(x)),
  () => pipeline(undefined, (x) => agent(x)),
  () => parallel('abc'),
  () => pipeline([1], 'notfn'),
]
const told = []
for (const one of tries) {
  try { await one(); told.push('accepted') } catch (error) { told.push(error.name + ': ' + error.message) }
}
return told`),
    },
  });
  const backend = makeFakeBackend(project);
  const { stdout } = await runWf(['run', 'flow.js', '--args-text', 'a'.repeat(60), ...backend.flags], { project });
  const told = JSON.parse(stdout) as string[];
  expect(told[0]).toMatch(/^TypeError: pipeline\(.*array.*string of 60 characters \("a{40}"\)/);
  expect(told[1]).toMatch(/^TypeError: pipeline\(.*array.*undefined/);
  expect(told[2]).toMatch(/^TypeError: parallel\(.*array.*string of 3 characters \("abc"\)/);
  expect(told[3]).toMatch(/^TypeError: pipeline\(.*stage 1.*not a function.*"notfn"/);
  expect(backend.ledger.starts()).toEqual([]);
});
