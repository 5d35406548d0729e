/** `wf test`: a script on scripted answers, held against a file of expectations. */
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type * as Library from '../../src/index.js';
import { requireBuild, runWf, startWf, type WfResult } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { run } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

const ROOT = join(import.meta.dirname, '..', '..');
const SCRIPT = `export const meta = { name: 'flow', description: 'Votes, then sums up' }
const votes = []
phase('Votes')
for (const what of args?.list ?? ['a', 'b']) votes.push(await agent('vote on ' + what, { label: 'vote', backend: 'claude' }))
phase('Sum')
return { votes, sum: await agent('sum up', { label: 'sum' }) }
`;
const RULES = JSON.stringify([
  { when: { label: 'vote', prompt: '/a$/' }, reply: 'yes' },
  { when: { label: 'vote' }, reply: 'no' },
  { when: { label: 'sum' }, reply: 'even' },
]);
const RESULT = { votes: ['yes', 'no'], sum: 'even' };

const makeFlow = (expectations?: unknown, files: Record<string, string> = {}): TestProject =>
  makeProject({
    files: {
      'flow.js': SCRIPT,
      'rules.json': RULES,
      ...(expectations === undefined ? {} : { 'flow.test.json': JSON.stringify(expectations) }),
      ...files,
    },
  });

const test = (project: TestProject, ...flags: string[]): Promise<WfResult> =>
  runWf(['test', 'flow.js', ...flags], { project });

const readExpectations = (project: TestProject): Record<string, unknown> =>
  JSON.parse(project.read('flow.test.json')) as Record<string, unknown>;

/** Temporary runs folders that were left behind. */
const leftBehind = (project: TestProject): string[] =>
  readdirSync(tmpOf(project)).filter((name) => name.startsWith('wf-test-runs-'));
const tmpOf = (project: TestProject): string => project.env.TMPDIR as string;

describe('expectations that are met', () => {
  it('the example beside word-count.js is met: one line a case, exit 0', async () => {
    const project = makeProject();
    cpSync(join(ROOT, 'fixtures/workflows'), project.path('workflows'), { recursive: true });
    const { code, stdout, stderr } = await runWf(['test', 'workflows/word-count.js'], { project });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      'workflows/word-count.test.yaml',
      '  met      the words of two files are added (2 calls)',
      '  met      paths may come as text, parted by | (2 calls)',
      '  met      a file without an answer is told as missing (2 calls)',
      '  met      nothing to count asks nobody (0 calls)',
      '4 cases: 4 met. No agent was asked.',
      '',
    ]);
  });

  it('answers come from --mock, from `mock`, from `answers`, or are made up; no run stays, whatever backend a call names', async () => {
    const result = RESULT;
    const project = makeFlow({ calls: { vote: 2, sum: 1 }, result });
    expect((await test(project, '--mock', 'rules.json')).code).toBe(0);
    project.write('flow.test.json', JSON.stringify({ mock: 'rules.json', result }));
    expect((await test(project)).code).toBe(0);
    project.write('flow.test.json', JSON.stringify({ answers: JSON.parse(RULES), result }));
    expect((await test(project)).code).toBe(0);
    project.write('flow.test.json', JSON.stringify({ calls: [{ label: 'sum', phase: 'Sum' }] }));
    const madeUp = await test(project);
    expect([madeUp.code, madeUp.stdout]).toEqual([0, expect.not.stringContaining('note:')]);
    expect(existsSync(project.runsDir)).toBe(false);
    expect(leftBehind(project)).toEqual([]);
  });

  it('calls are told by number, by label and by expressions', async () => {
    const calls = [
      3,
      { '/^v/': 2, sum: 1 },
      [
        { label: '/^(vote|sum)$/', count: 3 },
        { prompt: 'vote on b', count: 1 },
        { prompt: '/ON A$/i', phase: 'Votes' },
      ],
    ];
    const project = makeFlow({ cases: calls.map((each) => ({ calls: each })) });
    const { code, stdout } = await test(project);
    expect([code, stdout]).toEqual([0, expect.stringContaining('3 cases: 3 met')]);
  });

  it('error rules make calls fail, which is a difference unless it is expected', async () => {
    const answers = [{ when: { label: 'sum' }, error: 'overloaded', message: 'too busy' }];
    const failures = [{ label: 'sum', code: '/^WF_AGENT_/', message: 'busy', count: 1 }];
    const project = makeFlow({
      cases: [
        { answers, failures },
        { answers, failures: 1, exitCode: 3 },
      ],
    });
    expect((await test(project)).code).toBe(0);
    project.write('flow.test.json', JSON.stringify({ answers, calls: 3 }));
    const { code, stdout } = await test(project);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/exitCode\n +expected {2}0\n +received {2}3\n +WF_AGENT_\w+: .*too busy/),
    ]);
  });
});

describe('a recorded run', () => {
  it('gives its answers and args with --from, and --update puts them into the new file', async () => {
    const project = makeFlow(undefined, { 'flow.js': SCRIPT.replace(", backend: 'claude'", '') });
    const agent = makeShellAgent(project, { vote: { reply: 'vote: $prompt' }, sum: { fail: 3 } });
    const real = await run(project, ['flow.js', ...agent.flags, '--arg', 'list:=["x","y","z"]']);
    const written = await test(project, '--from', real.id.slice(0, 8), '--update');
    expect([written.code, written.stdout]).toEqual([0, expect.stringContaining('1 case: 1 written')]);
    expect(readExpectations(project)).toMatchObject({
      args: { list: ['x', 'y', 'z'] },
      calls: { vote: 3, sum: 1 },
      result: real.result,
      failures: [{ label: 'sum', code: 'WF_AGENT_FAILED', count: 1 }],
      exitCode: 3,
    });
    expect(project.runIds()).toEqual([real.id]);
    // The file stands alone from then on.
    expect((await runWf(['prune', '--keep', '0'], { project })).code).toBe(0);
    expect((await test(project)).code).toBe(0);
    project.write('flow.js', project.read('flow.js').replace("'vote on '", "'vote about '"));
    const changed = await test(project);
    expect(changed.code).toBe(1);
    expect(changed.stdout).toMatch(/note: no answer was given for 3 of the calls, so it was made up: vote/);
  });

  it('may be named by a case; an unknown one is refused', async () => {
    const project = makeFlow();
    const real = await run(project, ['flow.js', '--backend', 'mock', '--mock', 'rules.json']);
    project.write('flow.test.json', JSON.stringify({ from: real.id, result: RESULT }));
    expect((await test(project)).code).toBe(0);
    const unknown = await test(project, '--from', '0b5ad1c3-6a0e-4c8e-9d53-0f3b8f4b2c11');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('WF_RUN_UNKNOWN')]);
  });
});

describe('expectations that are not met', () => {
  it('are shown by path, and exit 1', async () => {
    const long = 'word '.repeat(60);
    const project = makeFlow({
      cases: [
        {
          name: 'odd',
          mock: 'rules.json',
          calls: { vote: 3, list: 1 },
          result: { votes: ['yes'], 'a b': null, sum: 'odd' },
        },
        {
          name: 'long',
          answers: [{ reply: `${long}end` }],
          result: { votes: [`${long}End`, `${long}end`], sum: `${long}end` },
        },
        { name: 'fits', calls: 3 },
        { name: 'none', calls: [{ prompt: 'nobody asks this' }], failures: 1 },
      ],
    });
    const { code, stdout } = await test(project);
    expect(code).toBe(1);
    expect(stdout).toBe(`flow.test.json
  differs  odd (3 calls)
    calls.vote
      expected  3
      received  2
    calls.list
      expected  1
      received  0
    calls.sum
      expected  (nothing)
      received  1
    result.votes[1]
      expected  (nothing)
      received  "no"
    result["a b"]
      expected  null
      received  (nothing)
    result.sum
      expected  "odd"
      received  "even"
  differs  long (3 calls)
    result.votes[0]
      expected  …"word word word word End"
      received  …"word word word word end"
  met      fits (3 calls)
  differs  none (3 calls)
    calls[0]
      expected  {"prompt":"nobody asks this"}
      received  "none"
    failures
      expected  1
      received  0
4 cases: 1 met, 3 differ. No agent was asked.
`);
  });

  it('--json tells the same as an object, and the library gives it', async () => {
    const project = makeFlow({ name: 'odd', mock: 'rules.json', result: { ...RESULT, sum: 'odd' } });
    const { code, stdout } = await test(project, '--json');
    const told = JSON.parse(stdout) as object;
    expect({ code, told }).toEqual({
      code: 1,
      told: {
        file: project.path('flow.test.json'),
        ok: false,
        cases: [
          {
            name: 'odd',
            status: 'differs',
            differences: [{ path: 'result.sum', expected: 'odd', received: 'even' }],
            calls: 3,
            exitCode: 0,
            madeUp: [],
          },
        ],
      },
    });
    requireBuild();
    const lib = (await import(pathToFileURL(join(ROOT, 'dist', 'index.js')).href)) as typeof Library;
    const where = { cwd: project.dir, home: project.home, env: project.env };
    expect(await lib.testWorkflow({ script: 'flow.js', ...where })).toEqual(told);
  });

  it('a run that fails differs, with its error, unless that is expected', async () => {
    const script =
      "export const meta = { name: 'flow', description: 'Throws' }\nawait agent('x')\nthrow new Error('no way')\n";
    const project = makeFlow({ calls: 1 }, { 'flow.js': script });
    const { code, stdout } = await test(project);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/exitCode\n.*0\n.*1\n +WF_SCRIPT_THREW: .*no way/)]);
    project.write('flow.test.json', JSON.stringify({ calls: 1, exitCode: 1 }));
    expect((await test(project)).code).toBe(0);
    project.write('flow.test.json', JSON.stringify({ result: 1, exitCode: 1 }));
    expect((await test(project)).stdout).toMatch(/result\n +expected {2}1\n +received {2}\(nothing\)/);
  });
});

describe('--update', () => {
  it('writes a missing file, with the rules that were named; then it is met', async () => {
    const project = makeFlow();
    expect((await test(project, '--mock', 'rules.json', '--update')).code).toBe(0);
    expect(readExpectations(project)).toEqual({ mock: 'rules.json', calls: { vote: 2, sum: 1 }, result: RESULT });
    expect((await test(project)).stdout).toContain('1 case: 1 met');
  });

  it('changes only what is not met, keeps comments, and nothing changes without it', async () => {
    const yaml = `# why
cases:
  - name: kept # as it is
    calls: [{ label: /^v/, count: 2 }]
    mock: rules.json
  - name: changed
    mock: rules.json
    calls: 3 # three
    result: { sum: odd }
`;
    const project = makeFlow(undefined, { 'flow.test.yaml': yaml });
    expect((await test(project)).code).toBe(1);
    expect(project.read('flow.test.yaml')).toBe(yaml);
    const { code, stdout } = await test(project, '--update');
    expect([code, stdout]).toEqual([0, expect.stringContaining('1 met, 1 written')]);
    const [head] = yaml.split('    result:');
    const text = project.read('flow.test.yaml');
    for (const line of (head as string).split('\n').filter((each) => !each.includes('[{')))
      expect(text).toContain(line);
    expect(text).toMatch(/calls: \[ ?\{ label: \/\^v\/, count: 2 \} ?\]/);
    expect(text).not.toContain('odd');
    expect((await test(project)).code).toBe(0);
  });

  it('is refused together with answers that the file would contradict', async () => {
    const project = makeFlow({ answers: [], calls: 1 });
    const { code, stderr } = await test(project, '--mock', 'rules.json', '--update');
    expect([code, stderr]).toEqual([2, expect.stringMatching(/WF_USAGE.*names its own answers/)]);
  });
});

describe('what cannot be compared is refused with exit 2', () => {
  it.each<[string, unknown, RegExp]>([
    ['an unknown key', { reslt: 1 }, /WF_TEST_FILE flow\.test\.json: .*unknown key reslt \(did you mean result\?\)/],
    [
      'one further in',
      { cases: [{ calls: [{ lable: 'x' }] }] },
      /unknown key cases\[0\]\.calls\[0\]\.lable \(did you mean label\?\)/,
    ],
    ['one that is like none', { zzzzzz: 1 }, /unknown key zzzzzz \(known here: name, args/],
    ['a wrong value', { calls: 'three' }, /calls must be a number, \{ label: number \} or a list/],
    ['a broken expression', { failures: [{ label: '/(/' }] }, /failures\[0\]\.label is no regular expression/],
    ['no case', { cases: [] }, /cases must hold at least one case/],
    ['a list', [], /the file must hold one object/],
    ['two sources of answers', { mock: 'x', answers: [] }, /has answers and mock/],
    ['a broken rule', { answers: [{ replie: 1 }] }, /WF_MOCK_FILE.*Rule 0/],
    ['a missing rules file', { mock: 'gone.json' }, /WF_MOCK_FILE.*gone\.json/],
  ])('%s', async (_, expectations, told) => {
    const { code, stdout, stderr } = await test(makeFlow(expectations));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(told);
  });

  it('a missing file, two files, broken text, two flags, an unknown script', async () => {
    const project = makeFlow();
    expect((await test(project)).stderr).toMatch(/neither flow\.test\.json nor flow\.test\.yaml[\s\S]*→ .*--update/);
    expect((await test(project, '--expect', 'gone.yaml')).stderr).toMatch(/WF_TEST_FILE: There is no file gone\.yaml/);
    project.write('flow.test.json', '{"calls": 1,}');
    const broken = await test(project);
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringMatching(/it does not parse/)]);
    project.write('flow.test.yaml', 'calls: 1\n');
    expect((await test(project)).stderr).toMatch(/both stand beside the script/);
    const both = await test(project, '--mock', 'rules.json', '--from', 'ab');
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('cannot be given together')]);
    const unknown = await runWf(['test', 'folw.js'], { project });
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('WF_SCRIPT_NOT_FOUND')]);
  });
});

it('a signal ends the run that is going on, and its temporary folder goes with it', async () => {
  const project = makeFlow({ answers: [{ hang: true }], calls: 3 });
  const handle = startWf(['test', 'flow.js'], { project });
  const hasStarted = (): boolean =>
    leftBehind(project).some((name) =>
      readdirSync(join(tmpOf(project), name), { recursive: true, encoding: 'utf8' }).some(
        (file) =>
          file.endsWith('events.jsonl') &&
          readFileSync(join(tmpOf(project), name, file), 'utf8').includes('"call.started"'),
      ),
    );
  await waitFor('the first call to start', () => hasStarted() || undefined);
  handle.kill('SIGINT');
  const { code, stderr } = await handle.done;
  expect([code, stderr]).toEqual([130, expect.stringContaining('WF_CANCELLED')]);
  expect(leftBehind(project)).toEqual([]);
});
