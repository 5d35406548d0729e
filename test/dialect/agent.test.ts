/** `agent()`: answers, options, structured output, and what happens when there is no answer. */
import { beforeAll, describe, expect, it } from 'vitest';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { dispatched, eventsOf, META, runProbes, runScript, type ScriptRun, type Thrown } from './support/run-script.js';

const RULES = [
  { when: { label: 'text' }, reply: '  verbatim\n text ' },
  { when: { label: 'empty' }, reply: '' },
  { when: { label: 'late', attempt: 1 }, reply: { n: 'x' } },
  { when: { label: 'late', attempt: 2 }, reply: 'no json' },
  { when: { label: 'late' }, reply: { n: 5 } },
  { when: { label: 'never' }, reply: { n: 'x' } },
  { when: { label: 'words' }, reply: 'only words' },
  { when: { label: 'broken' }, error: 'failed', message: 'the agent broke' },
  { when: { label: 'refused' }, error: 'refused' },
  { when: { label: 'timeout' }, error: 'timeout' },
  { when: { label: 'hang' }, hang: true },
  { when: { label: 'list' }, reply: [1, 2] },
];

const BODY = `
const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
await probe('text', () => agent('a', { label: 'text' }))
await probe('empty', () => agent('b', { label: 'empty' }))
await probe('late', () => agent('c', { label: 'late', schema }))
await probe('never', () => agent('d', { label: 'never', schema }))
await probe('words', () => agent('e', { label: 'words', schema }))
await probe('slots', () => parallel([() => agent('f', { label: 'never', schema }), () => agent('g', { label: 'broken' })]))
await probe('list', () => agent('h', { label: 'list', schema: { type: 'array', items: { type: 'number' } } }))
await probe('badSchema', () => agent('i', { schema: { type: 'strnig' } }))
await probe('unfillable', () => agent('j', { schema: { type: 'object', properties: {}, required: ['x'], additionalProperties: false } }))
await probe('noSchema', () => agent('k', { schema: 'x' }))
await probe('broken', () => agent('l', { label: 'broken' }))
await probe('refused', () => agent('m', { label: 'refused' }))
await probe('timeout', () => agent('n', { label: 'timeout' }))
await probe('stalled', () => agent('o', { label: 'hang', stallMs: 150 }))
await probe('unknown', async () => [typeof await agent('p', { colour: 1, _predispatch: 2 }), typeof await agent('q', { colour: 1 })])
const base = { model: 'haiku', effort: 'low' }
const make = (label) => ({ ...base, label, model: 'some-model-nobody-checks' })
await probe('options', async () => [typeof await agent('r', make('spread')), typeof await agent('s', null), typeof await agent('t', { model: 'inherit', label: undefined, phase: null, schema: undefined })])
await probe('noPrompt', () => agent())
await probe('emptyPrompt', () => agent(''))
await probe('numberPrompt', () => agent(5))
await probe('textOptions', () => agent('u', 'label'))
await probe('labelObject', () => agent('v', { label: { n: 5 } }))
await probe('modelNumber', () => agent('w', { model: 5 }))
await probe('effort', () => agent('x', { effort: 'super' }))
await probe('isolation', () => agent('y', { isolation: 'remote' }))
await probe('tools', () => agent('z', { disallowedTools: 'Bash' }))
await probe('clamp', () => agent('aa', { bashCommandClamp: [1] }))
await probe('stall', () => agent('ab', { stallMs: -1 }))
await probe('promiseOption', () => agent('ac', { schema: Promise.resolve({}) }))
await probe('synchronous', () => { let threw = false; const promises = []; try { promises.push(agent(), agent('x', 1), agent('ad', { effort: 'no' })) } catch { threw = true } for (const p of promises) p.catch(() => {}); return [threw, promises.map((p) => p instanceof Promise)] })
await probe('labels', () => parallel([() => agent('  Look at\\n\\n   src/a.ts and then at everything else that lies beside it, please'), () => agent('short', { phase: 'Own' })]))
`;

let project: TestProject;
let run: ScriptRun;
let table: Record<string, unknown>;

beforeAll(async () => {
  project = makeProject({ until: 'file' });
  run = await runProbes(project, BODY, { rules: RULES, flags: ['--retries', '0'] });
  table = run.result as typeof table;
});

const attemptsOf = (label: string): number =>
  eventsOf(run, 'call.started').filter((event) => event.label === label).length;
const failure = (name: string): Thrown => table[name] as Thrown;

describe('answers', () => {
  it('C070 probe 23 text comes as it is, also an empty one', () => {
    expect(table.text).toBe('  verbatim\n text ');
    expect(table.empty).toBe('');
  });

  it('C071 probe 24 probe 25 C072 two answers that do not fit, then one that does: the object', () => {
    expect(table.late).toEqual({ n: 5 });
    expect(attemptsOf('late')).toBe(3);
  });

  it('C093 the agent gets the prompt and nothing else', async () => {
    const echo = await runProbes<{ a: string }>(
      project,
      "phase('P'); await agent('before'); await probe('a', () => agent('only \"this\" $(id)\\n--help', { label: 'l' }))",
      { otherBackend: true, flags: ['--backend', 'command', '--command', 'cat'], file: 'echo.js' },
    );
    expect(echo.table.a).toBe('only "this" $(id)\n--help');
  });
});

describe('a schema that is not met', () => {
  it('C073 probe 26 throws after three tries, and is null with one line in a slot', () => {
    expect(failure('never')).toMatchObject({ thrown: 'StructuredOutputError', code: 'WF_SCHEMA_UNMET' });
    expect(attemptsOf('never')).toBe(6);
    expect((table.slots as unknown[])[0]).toBeNull();
    expect(run.told.filter((line) => /parallel\[0\] failed: .*schema/.test(line))).toHaveLength(1);
  });

  it('C074 probe 27 words instead of data: asked again twice, then it throws', () => {
    expect(failure('words')).toMatchObject({
      thrown: 'StructuredOutputError',
      message: expect.stringContaining('no JSON'),
    });
    expect(attemptsOf('words')).toBe(3);
  });

  it('C075 probe 28 a root that is no object is accepted', () => {
    expect(table.list).toEqual([1, 2]);
  });

  it('C076 a schema that is wrong or cannot be met throws before anything is spent', () => {
    for (const name of ['badSchema', 'unfillable'])
      expect(failure(name)).toMatchObject({ thrown: 'TypeError', code: 'WF_SCHEMA_INVALID' });
    expect(failure('noSchema')).toMatchObject({ thrown: 'TypeError', code: 'WF_AGENT_OPTIONS' });
    expect(dispatched(run)).not.toEqual(expect.arrayContaining(['i']));
    expect(dispatched(run)).not.toEqual(expect.arrayContaining(['j']));
  });
});

describe('no answer', () => {
  it('C078 probe 30 an error of the agent is null, with its label and cause in the record; the run completes', () => {
    expect(table.broken).toBeNull();
    expect((table.slots as unknown[])[1]).toBeNull();
    expect(run).toMatchObject({ code: 3, state: { status: 'completed' } });
    expect(run.state.failures).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ label: 'broken', code: 'WF_AGENT_FAILED', message: 'the agent broke' }),
      ]),
    );
  });

  it('C079 a refusal and a time limit are null', () => {
    expect([table.refused, table.timeout]).toEqual([null, null]);
  });

  it('C082 probe 33 an agent without any sign of life: StallError', () => {
    expect(failure('stalled')).toMatchObject({ thrown: 'StallError', code: 'WF_AGENT_STALLED' });
  });

  it('C082 probe 33 it is tried twice', async () => {
    const twice = await runProbes<{ stalled: Thrown }>(
      project,
      "await probe('stalled', () => agent('a', { label: 'hang', stallMs: 100 }))",
      { rules: RULES, file: 'twice.js' },
    );
    expect(twice.table.stalled).toMatchObject({ thrown: 'StallError' });
    expect(eventsOf(twice, 'call.started')).toHaveLength(2);
    expect(eventsOf(twice, 'call.retry')).toEqual([expect.objectContaining({ kind: 'stalled', attempt: 2 })]);
  });
});

describe('options', () => {
  it('C083 probe 34 unknown ones are ignored, with one warning a name', () => {
    expect(table.unknown).toEqual(['string', 'string']);
    expect(run.told.filter((line) => line.startsWith('WF_UNKNOWN_OPTION'))).toEqual([
      expect.stringContaining('"colour"'),
      expect.stringContaining('"_predispatch"'),
    ]);
  });

  it('C084 built by helpers and spread; the label is the beginning of the prompt on one line', () => {
    expect(table.options).toEqual(['string', 'string', 'string']);
    const labels = eventsOf(run, 'call.queued').map(({ label }) => label);
    expect(labels).toContain('spread');
    expect(labels.find((label) => label.startsWith('Look'))).toBe(
      'Look at src/a.ts and then at everything else that lies besid',
    );
    expect(labels).toContain('s');
  });

  it('C085 the prompt must be a text that is not empty', () => {
    for (const name of ['noPrompt', 'emptyPrompt', 'numberPrompt'])
      expect(failure(name)).toMatchObject({ thrown: 'TypeError', code: 'WF_AGENT_OPTIONS' });
    expect(failure('noPrompt').message).toContain('got undefined');
  });

  it('C086 an isolation that is not known is refused, never ignored', () => {
    expect(failure('isolation')).toMatchObject({ thrown: 'TypeError', message: expect.stringContaining('worktree') });
  });

  it('C087 models are not checked here; `inherit` is the run’s; C088 efforts are; C089 C090 malformed ones are refused', () => {
    const optionsOf = (prompt: string) => run.journal.find((line) => line.prompt === prompt)?.opts ?? {};
    expect(optionsOf('r')).toMatchObject({ model: 'some-model-nobody-checks', effort: 'low' });
    expect(optionsOf('t')).not.toHaveProperty('model');
    for (const name of [
      'textOptions',
      'labelObject',
      'modelNumber',
      'effort',
      'tools',
      'clamp',
      'stall',
      'promiseOption',
    ])
      expect([name, failure(name)]).toEqual([
        name,
        expect.objectContaining({ thrown: 'TypeError', code: 'WF_AGENT_OPTIONS' }),
      ]);
    expect(failure('promiseOption').message).toContain('await it first');
  });

  it('C091 agent() never throws at once: it gives a promise', () => {
    expect(table.synchronous).toEqual([false, [true, true, true]]);
  });

  it('C092 errors have name and code, and tell nothing of this machine', () => {
    for (const value of Object.values(table) as Thrown[]) {
      if (typeof value !== 'object' || value === null || !('thrown' in value)) continue;
      expect(value.code).toMatch(/^WF_/);
      expect(value.message).not.toContain(project.root);
    }
  });

  it('C077 probe 29 an unknown agentType throws before anything is spent and lists those that are known', async () => {
    project.write('.claude/agents/reviewer.md', '---\nname: reviewer\ndescription: Reviews.\n---\nReview.\n');
    const types = await runProbes<Record<string, Thrown | string>>(
      project,
      `await probe('nobody', () => agent('a', { agentType: 'nobody' }))
await probe('reviewer', () => agent('b', { agentType: 'reviewer' }))
await probe('slot', () => parallel([() => agent('c', { agentType: 'nobody' })]))`,
      { otherBackend: true, flags: ['--backend', 'command', '--command', 'cat'], file: 'types.js' },
    );
    expect(types.table.nobody).toMatchObject({ thrown: 'Error', code: 'WF_AGENT_TYPE' });
    expect((types.table.nobody as Thrown).message).toMatch(/"nobody".*reviewer/);
    expect(types.table.reviewer).toContain('b');
    expect(types.table.slot).toEqual([null]);
    expect(dispatched(types)).toEqual(['b']);
  });

  it('C086 isolation worktree: the call works in a worktree of HEAD, and is not run where there can be none', async () => {
    const shell = { otherBackend: true, flags: ['--backend', 'command', '--command', 'sh'] };
    const text = `${META}return await agent('pwd; cat a.txt', { isolation: 'worktree' })`;
    const none = await runScript(project, text, { ...shell, file: 'isolated.js' });
    expect(none.code).toBe(1);
    expect(none.stderr).toMatch(/WF_WORKTREE.*no git repository/);
    expect(none.stderr).not.toMatch(/a\.txt: No such file/);

    const repository = makeProject({ files: { 'a.txt': 'committed' }, git: true });
    repository.write('a.txt', 'not committed');
    const isolated = await runScript(repository, text, { ...shell, file: 'isolated.js' });
    expect(isolated.code).toBe(0);
    expect(isolated.result).toMatch(/^.*\/\.claude\/worktrees\/[0-9a-f-]{36}-1\ncommitted$/);
  });
});
