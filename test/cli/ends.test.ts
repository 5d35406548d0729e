/** How a run may end: each end has its own status, exit code and words, and nothing goes on after it. */
import { appendFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { expectNoProcessesLeft } from '../support/processes.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { answeredLabels, hasState, MOCK, newestRun, readState, THREE, workflow } from './cli-kit.js';
import { startThree } from './support/start-three.js';

const makeFlow = (body: string): TestProject => makeProject({ files: { 'flow.js': workflow(body) } });

describe('B-040: what a workflow may return', () => {
  it.each([
    ['{ a: undefined, b: 1 }', { b: 1 }],
    ['new Date(0)', '1970-01-01T00:00:00.000Z'],
    ['[NaN, -0, 1 / 0]', [null, 0, null]],
    ['[undefined, () => 1][0]', undefined],
    ['{ toJSON() { return "short" } }', 'short'],
    ['null', null],
    ['""', ''],
  ])('%s is stored by the rules of JSON', async (value, expected) => {
    const project = makeFlow(`return ${value}`);
    const { code, stdout } = await runWf(['run', 'flow.js', ...MOCK], { project });
    expect(code).toBe(0);
    const state = readState(project);
    expect(state.status).toBe('completed');
    expect('result' in state).toBe(expected !== undefined);
    expect(state.result).toEqual(expected);
    const text = typeof expected === 'string' ? expected : JSON.stringify(expected, null, 2);
    expect(stdout).toBe(expected === undefined ? '' : `${text}\n`);
  });

  it.each([
    ['{ a: 10n }', 'result.a is a bigint'],
    ['[1, new Map()]', 'result[1] is a Map'],
    ['{ list: [new Set()] }', 'result.list[0] is a Set'],
    ['[1, [() => 1]]', 'result[1][0] is a function'],
    ['Symbol("x")', 'result is a symbol'],
    ['(() => { const a = {}; a.self = a; return a })()', 'result.self is an object that contains itself'],
  ])('%s fails the run with its place: WF_RESULT_NOT_JSON', async (value, words) => {
    const project = makeFlow(`return ${value}`);
    const { code, stdout, stderr } = await runWf(['run', 'flow.js', ...MOCK], { project });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(words);
    expect(readState(project)).toMatchObject({ status: 'failed', cause: 'WF_RESULT_NOT_JSON' });
    expect(readState(project).error?.message).toContain(words);
  });

  it('B-040: the agents need not run again once the return value is mended', async () => {
    const project = makeFlow(`const a = await agent('do A', { label: 'A' })\nreturn { a, more: 10n }`);
    const backend = makeFakeBackend(project);
    expect(await runWf(['run', 'flow.js', ...backend.flags], { project })).toMatchObject({ code: 1 });
    const first = newestRun(project);
    project.write('flow.js', project.read('flow.js').replace('10n', '10'));
    const second = await runWf(['run', 'flow.js', '--resume-from', first], { project });
    expect(JSON.parse(second.stdout)).toEqual({ a: 'A answered #1', more: 10 });
    expect(readState(project).counts).toMatchObject({ reused: 1, executed: 0 });
    expect(backend.ledger.starts()).toHaveLength(1);
  });

  it('B-041: the result is read once: stdout, state.json and --output show the same', async () => {
    const project = makeFlow('let n = 0\nreturn { get v() { return ++n } }');
    const printed = await runWf(['run', 'flow.js', ...MOCK], { project });
    expect(JSON.parse(printed.stdout)).toEqual({ v: 1 });
    expect(readState(project).result).toEqual({ v: 1 });
    const filed = await runWf(['run', 'flow.js', '--output', 'out.json', ...MOCK], { project });
    expect(filed).toMatchObject({ code: 0, stdout: '' });
    expect(JSON.parse(project.read('out.json'))).toEqual({ v: 1 });
    expect(readState(project).result).toEqual({ v: 1 });
  });
});

it('B-042: everything of a run is for its owner alone, whatever the umask, and git does not see it', async () => {
  const project = makeProject({ files: { 'flow.js': THREE }, git: true });
  const { code } = await runWf(['run', 'flow.js', ...MOCK], {
    project,
    under: ['sh', '-c', 'umask 000; exec "$@"', 'sh'],
  });
  expect(code).toBe(0);
  const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
  const folder = project.runDir(newestRun(project));
  expect(mode(folder)).toBe('700');
  const files = ['events.jsonl', 'journal.jsonl', 'run.json', 'script.js', 'state.json'];
  expect(files.map((file) => [file, mode(join(folder, file))])).toEqual(files.map((file) => [file, '600']));
  expect(project.git('status', '--porcelain')).toBe('');
});

describe('B-065: calls that nobody awaits', () => {
  it('B-065: one that still runs when the body returns is ended and counted as abandoned, no failure', async () => {
    const project = makeFlow(`agent('slow', { label: 'slow' })\nawait agent('quick', { label: 'quick' })\nreturn 1`);
    const backend = makeFakeBackend(project, { rules: { slow: { hang: true }, quick: { gate: true } } });
    const wf = startWf(['run', 'flow.js', ...backend.flags], { project });
    await backend.waitForStarts(2);
    backend.openGate('quick');
    await backend.waitForEnd('quick');
    const start = performance.now();
    const { code, stdout, stderr } = await wf.done;
    expect(performance.now() - start).toBeLessThan(4_000);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '1\n' });
    expect(stderr).toMatch(/1 abandoned/);
    expect(stderr).not.toMatch(/unhandled|uncaught/i);
    expect(backend.ledger.ends('slow')).toMatchObject([{ outcome: 'terminated' }]);
    expect(readState(project).counts).toMatchObject({ calls: 2, ok: 1, abandoned: 1, failed: 0, noResult: 0 });
    expect(answeredLabels(project)).toEqual(['quick']);
  });

  it('B-065: one that fails meanwhile, with nobody to hear it, is a failed call and no crash', async () => {
    const project = makeFlow(`agent('fails', { label: 'fails' })
agent('bad', { label: 'bad', schema: { type: 'nonsense' } })
await agent('last', { label: 'last' })
return 1`);
    const backend = makeFakeBackend(project, { rules: { fails: { fail: 1 } }, gated: ['last'] });
    const wf = startWf(['run', 'flow.js', ...backend.flags], { project });
    await wf.waitForStderr(/#1 fails: failed/);
    backend.openGate('last');
    const { code, stdout, stderr } = await wf.done;
    expect({ code, stdout }).toEqual({ code: 3, stdout: '1\n' });
    expect(stderr).not.toMatch(/unhandled|uncaught/i);
    expect(readState(project)).toMatchObject({
      status: 'completed',
      failures: [
        { label: 'bad', code: 'WF_SCHEMA_INVALID' },
        { label: 'fails', code: 'WF_AGENT_FAILED' },
      ],
    });
  });
});

describe('B-067: nothing outlives the end', () => {
  it('B-067: a script that gives up at the first rejection: its other agents are ended before the end is recorded', async () => {
    const project =
      makeFlow(`const boom = async () => { await agent('quick', { label: 'quick' }); throw new Error('boom') }
await Promise.all([agent('slow', { label: 'slow' }), boom()])`);
    const backend = makeFakeBackend(project, {
      rules: { slow: { ignoreTerm: true, hang: true }, quick: { gate: true } },
    });
    const wf = startWf(['run', 'flow.js', ...backend.flags], { project });
    await backend.waitForStarts(2);
    backend.openGate('quick');
    await backend.waitForEnd('quick');
    // Its agent takes the whole grace; until then no end is recorded.
    await backend.waitForStarts(2);
    expect(hasState(project)).toBe(false);
    const { code, stderr } = await wf.done;
    await expectNoProcessesLeft(project.root, { timeoutMs: 500 });

    expect(code).toBe(1);
    expect(stderr).toMatch(/WF_SCRIPT_THREW: boom \(flow\.js:2:/);
    const state = readState(project);
    expect(state).toMatchObject({ status: 'failed', cause: 'WF_SCRIPT_THREW', counts: { ok: 1, noResult: 1 } });
    expect(answeredLabels(project)).toEqual(['quick']);
    expect(statSync(join(project.runDir(newestRun(project)), 'journal.jsonl')).size).toBe(state.journal.bytes);
  });
});

describe('C6: every end has its own status, cause and exit code', () => {
  it('C6: completed with every answer is 0; without some it is 3, and 0 with --allow-failures', async () => {
    const project = makeFlow(`return [await agent('a', { label: 'a' }), await agent('b', { label: 'b' })]`);
    const backend = makeFakeBackend(project, { rules: { b: { fail: 1, stderr: ['no luck'] } } });
    const some = await runWf(['run', 'flow.js', ...backend.flags], { project });
    expect(some).toMatchObject({ code: 3, stdout: expect.stringContaining('null') });
    expect(some.stderr).toMatch(/b: WF_AGENT_FAILED: .*no luck/);
    expect(readState(project)).toMatchObject({ status: 'completed', cause: 'calls-failed', exitCode: 3 });
    const allowed = await runWf(['run', '--resume-from', newestRun(project), '--allow-failures'], { project });
    expect(allowed).toMatchObject({ code: 0 });
    expect(readState(project)).toMatchObject({ status: 'completed', counts: { reused: 1, failed: 1 } });
    backend.setRules([]);
    expect(await runWf(['run', '--resume-from', newestRun(project)], { project })).toMatchObject({ code: 0 });
    expect(readState(project)).toMatchObject({
      status: 'completed',
      cause: 'done',
      counts: { reused: 1, executed: 1 },
    });
  });

  it('C6: a script error is 1, its words and its place stand on stderr and in state.json', async () => {
    const project = makeFlow(`log('so far')\n\nconst list = null\nreturn list.length`);
    const { code, stdout, stderr } = await runWf(['run', 'flow.js', ...MOCK], { project });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/TypeError: Cannot read properties of null.*flow\.js:5:13/);
    expect(stderr).toMatch(/return list\.length/);
    expect(readState(project)).toMatchObject({
      status: 'failed',
      cause: 'WF_SCRIPT_THREW',
      exitCode: 1,
      error: { message: expect.stringContaining('Cannot read properties of null'), line: 5, column: 13 },
    });
  });

  it.each(['WF_RUN_BUSY', 'WF_AUTH', 'WF_CANCELLED', 'WF_STRICT', 'ENOENT', '__proto__'])(
    'C6: an error that calls itself %s is still an error of the script',
    async (name) => {
      const project = makeFlow(`throw Object.assign(new RangeError('mine'), { code: '${name}' })`);
      const { code, stderr } = await runWf(['run', 'flow.js', ...MOCK], { project });
      expect(code).toBe(1);
      expect(stderr).toContain('WF_SCRIPT_THREW: RangeError: mine');
      expect(readState(project)).toMatchObject({ status: 'failed', cause: 'WF_SCRIPT_THREW' });
    },
  );

  it('C6: a failure that concerns all calls is 6: what runs is awaited and kept, nothing more starts', async () => {
    const project =
      makeFlow(`const all = await parallel(['slow', 'refused', 'third', 'fourth'].map((label) => () => agent(label, { label })))
log('never')
return all`);
    const backend = makeFakeBackend(project, {
      rules: { slow: { gate: true }, refused: { gate: true, fail: 77, stderr: ['please sign in'] } },
    });
    const wf = startWf(['run', 'flow.js', '--concurrency', '2', ...backend.flags], { project });
    await backend.waitForStarts(2);
    backend.openGate('refused');
    await wf.waitForStderr(/refused.*WF_AUTH/);
    backend.openGate('slow');
    const { code, stdout, stderr } = await wf.done;

    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toMatch(/please sign in/);
    expect(stderr).not.toMatch(/never/);
    expect(
      backend.ledger
        .starts()
        .map(({ label }) => label)
        .toSorted(),
    ).toEqual(['refused', 'slow']);
    expect(answeredLabels(project)).toEqual(['slow']);
    expect(readState(project)).toMatchObject({ status: 'failed', cause: 'WF_AUTH', exitCode: 6 });
    backend.setRules([]);
    const again = await runWf(['run', '--resume-from', newestRun(project)], { project });
    expect(again.code).toBe(0);
    expect(backend.ledger.starts('slow')).toHaveLength(1);
  });

  it('R4 C6: a damaged journal under --strict is 4: a person must decide, and no run is made', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const backend = makeFakeBackend(project);
    await runWf(['run', 'flow.js', ...backend.flags], { project });
    const id = newestRun(project);
    appendFileSync(join(project.runDir(id), 'journal.jsonl'), 'not a line\n');
    const strict = await runWf(['run', '--resume-from', id, '--strict'], { project });
    expect(strict).toMatchObject({ code: 4, stdout: '' });
    expect(strict.stderr).toMatch(/WF_STRICT/);
    expect(project.runIds()).toEqual([id]);
    expect(await runWf(['run', '--resume-from', id], { project })).toMatchObject({ code: 0 });
    expect(backend.ledger.starts()).toHaveLength(3);
  });

  it('O5 C6: a run whose owner lives is 5, and its pid is named', async () => {
    const { project, backend, wf: live } = await startThree('A');
    const [id] = project.runIds() as [string];
    const busy = await runWf(['run', '--resume-from', id], { project });
    expect(busy).toMatchObject({ code: 5, stdout: '' });
    expect(busy.stderr).toMatch(new RegExp(`WF_RUN_BUSY.*${live.pid}`));
    expect(project.runIds()).toEqual([id]);
    backend.openAllGates();
    expect(await live.done).toMatchObject({ code: 0 });
  });
});
