/** What `wf run` writes where: the result on stdout, everything else on stderr, and closed outputs that end no run. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { readJsonLines } from '../support/json-lines.js';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { needTool } from './support/need-tool.js';
import { answeredLabels, MOCK, newestRun, readState, THREE, workflow } from './cli-kit.js';

describe('the result', () => {
  it.each([
    ['text as it is', '"two\\nlines"', 'two\nlines\n'],
    ['text with its own line end', '"line\\n"', 'line\n'],
    ['text that looks like JSON', '"{}"', '{}\n'],
    ['an object as JSON', '({ a: [1, "ä"] })', '{\n  "a": [\n    1,\n    "ä"\n  ]\n}\n'],
    ['null as JSON', 'null', 'null\n'],
    ['nothing', 'undefined', ''],
  ])('on stdout: %s; all else on stderr', async (_, value, expected) => {
    const project = makeProject({ files: { 'flow.js': workflow(`log('told')\nreturn ${value}`) } });
    const { code, stdout, stderr } = await runWf(['run', 'flow.js', '--backend', 'mock'], { project });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expected });
    expect(stderr).toMatch(/log: told/);
    const place =
      expected === '' ? /result +none, the script returned nothing/ : /result +stdout, also in .*state\.json/;
    expect(stderr).toMatch(place);
  });

  it('--output is always JSON, and stdout stays empty; one that cannot be written is refused before anything runs', async () => {
    const project = makeProject({ files: { 'flow.js': workflow('return "text"') } });
    const { code, stdout, stderr } = await runWf(['run', 'flow.js', '--backend', 'mock', '--output', 'out.json'], {
      project,
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(project.read('out.json')).toBe('"text"\n');
    expect(stderr).toMatch(/result +out\.json, also in/);
    const refused = await runWf(['run', 'flow.js', ...MOCK, '--output', 'missing/out.json'], { project });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/WF_USAGE.*missing\/out\.json/);
    expect(project.runIds()).toHaveLength(1);
    expect(await runWf(['run', 'flow.js', ...MOCK, '--output', '-'], { project })).toMatchObject({
      stdout: '"text"\n',
    });
  });

  it('an output that becomes unwritable during the run is said, and the run is kept', async () => {
    const project = makeProject({ files: { 'flow.js': workflow('return await agent("x")'), 'out/.keep': '' } });
    const remove = ['--command', JSON.stringify(['/bin/sh', '-c', 'rm -r out; printf text'])];
    const wf = await runWf(['run', 'flow.js', ...remove, '-q', '--output', 'out/x.json'], { project });
    expect(wf).toMatchObject({ code: 1, stdout: '' });
    expect(wf.stderr).toMatch(/cannot be written to out\/x\.json.*state\.json/);
    expect(readState(project)).toMatchObject({ status: 'completed', result: 'text' });
  });

  it('-q keeps stderr empty when all is well', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const { code, stderr } = await runWf(['run', 'flow.js', ...MOCK], { project });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('O2: the first line on stderr names id and folder of a run that is on the disk', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const { stderr } = await runWf(['run', 'flow.js', '--backend', 'mock'], { project });
    const id = newestRun(project);
    expect(stderr.split('\n')[0]).toContain(`run ${id} started`);
    expect(stderr.split('\n')[0]).toContain(project.runDir(id));
  });

  it('--run-id sets the id; one that is taken is refused', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const id = '7b0c5ad2-5f4c-4b0e-8a3e-0d9f2c6a1b11';
    expect(await runWf(['run', 'flow.js', '--run-id', id, ...MOCK], { project })).toMatchObject({ code: 0 });
    expect(project.runIds()).toEqual([id]);
    const again = await runWf(['run', 'flow.js', '--run-id', id, ...MOCK], { project });
    expect(again).toMatchObject({ code: 2, stdout: '' });
    expect(again.stderr).toMatch(/WF_RUN_ID.*already taken/);
  });
});

describe('reporters', () => {
  it('jsonl: one event a line and nothing else, in the documented order and shape', async () => {
    const project = makeProject({
      files: { 'flow.js': workflow(`phase('One')\nlog('told')\nreturn await agent('do A', { label: 'A' })`) },
    });
    const { stdout, stderr } = await runWf(['run', 'flow.js', '--backend', 'mock', '--reporter', 'jsonl'], { project });
    expect(stdout).toMatch(/^Made-up answer to A/);
    const events = readJsonLines(stderr);
    expect(events.map(({ type }) => type)).toEqual([
      'run.started',
      'phase',
      'log',
      'call.queued',
      'call.started',
      'call.finished',
      'run.finished',
    ]);
    for (const event of events) expect(event.t).toMatch(/^\d{4}-.*Z$/);
    expect(events[0]).toMatchObject({ runId: newestRun(project), madeUp: true, kept: 0 });
    expect(events[5]).toMatchObject({ n: 1, label: 'A', phase: 'One', status: 'ok', reused: false, attempts: 1 });
    expect(events[6]).toMatchObject({ status: 'completed', exitCode: 0, counts: { calls: 1, ok: 1 }, hasResult: true });
  });

  it('J16: call.finished is written after the journal line', async (context) => {
    needTool(context, 'strace', ['-V']);
    const project = makeProject({ files: { 'flow.js': THREE } });
    const trace = `${project.root}/trace`;
    const strace = ['strace', '-f', '-qq', '-s', '400', '-e', 'trace=write,pwrite64,writev', '-o', trace];
    const { code } = await runWf(['run', 'flow.js', '--backend', 'mock', '--reporter', 'jsonl'], {
      project,
      under: strace,
      timeoutMs: 60_000,
    });
    expect(code).toBe(0);
    const lines = readFileSync(trace, 'utf8').split('\n');
    for (const label of ['A', 'B', 'C']) {
      const named = (line: string, type: string) =>
        line.includes(`\\"type\\":\\"${type}\\"`) && line.includes(`\\"label\\":\\"${label}\\"`);
      const written = lines.findIndex((line) => named(line, 'result'));
      const told = lines.findIndex((line) => named(line, 'call.finished'));
      expect(written).toBeGreaterThan(-1);
      expect(told).toBeGreaterThan(written);
    }
  });

  it('several at once: files and stderr', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const reporters = ['jsonl=out/events.jsonl', 'junit=out/report.xml', 'json=out/run.json'];
    const { code, stderr } = await runWf(
      ['run', 'flow.js', '--backend', 'mock', ...reporters.flatMap((name) => ['--reporter', name])],
      { project },
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(/Run completed/);
    expect(JSON.parse(project.read('out/run.json'))).toMatchObject({ status: 'completed', calls: [{}, {}, {}] });
    expect(project.read('out/report.xml')).toMatch(/^<\?xml[\s\S]*<testcase/);
    expect(readJsonLines(project.read('out/events.jsonl')).at(-1)).toMatchObject({ type: 'run.finished' });
  });

  it('github: annotations on stderr, and the end as markdown behind what stands in the file of GITHUB_STEP_SUMMARY', async () => {
    const project = makeProject({ files: { 'flow.js': THREE, 'step.md': '# Before\n' } });
    const backend = makeFakeBackend(project, { rules: { B: { fail: 1 } } });
    const env = { GITHUB_ACTIONS: 'true', CI: 'true', GITHUB_STEP_SUMMARY: project.path('step.md') };
    const { code, stderr } = await runWf(['run', 'flow.js', '--reporter', 'github', ...backend.flags], {
      project,
      env,
    });
    expect(code).toBe(3);
    expect(stderr).toMatch(/^::(error|warning) .*title=.*B.*::.*WF_AGENT_FAILED/m);
    expect(project.read('step.md')).toMatch(
      new RegExp(
        `^# Before\\n[\\s\\S]*completed[\\s\\S]*WF_AGENT_FAILED[\\s\\S]*wf run --resume-from ${newestRun(project)}`,
      ),
    );
  });

  it.each([
    ['never under NO_COLOR, whatever FORCE_COLOR says', { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    ['never without a terminal', { NO_COLOR: undefined }, false],
    ['when FORCE_COLOR asks', { NO_COLOR: undefined, FORCE_COLOR: '1' }, true],
  ])('colours: %s', async (_, env, expected) => {
    const project = makeProject({ files: { 'flow.js': workflow('return await agent("x")') } });
    const { stdout, stderr } = await runWf(['run', 'flow.js', '--backend', 'mock'], { project, env });
    expect(stderr.includes('\u001b[')).toBe(expected);
    expect(stdout).not.toContain('\u001b');
  });

  it('Node has nothing to say of variables for colours that contradict each other', async () => {
    const project = makeProject({ files: { 'flow.js': workflow('return await agent("x")') } });
    for (const NO_COLOR of ['1', undefined]) {
      const env = { NO_COLOR, FORCE_COLOR: '1', NODE_DISABLE_COLORS: '1' };
      const { stderr } = await runWf(['run', 'flow.js', '--backend', 'mock', '--reporter', 'jsonl'], { project, env });
      expect(readJsonLines(stderr).at(-1)).toMatchObject({ type: 'run.finished' });
      expect(await runWf(['ls', '-q'], { project, env })).toMatchObject({ code: 0, stderr: '' });
    }
  });
});

describe('a closed or full output', () => {
  const BASH = (line: string) => ['bash', '-c', line, 'bash'];

  it('EPIPE on stdout: a reader that has had enough ends the printing, not the run', async () => {
    const project = makeProject({
      files: { 'flow.js': workflow(`await agent('do A', { label: 'A' })\nreturn 'line\\n'.repeat(2_000_000)`) },
    });
    const { code, stdout, stderr } = await runWf(['run', 'flow.js', ...MOCK], {
      project,
      under: BASH('"$@" | head -1; exit "${PIPESTATUS[0]}"'),
    });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'line\n', stderr: '' });
    expect(readState(project)).toMatchObject({ status: 'completed' });
    const shown = await runWf(['show', newestRun(project), '--json'], {
      project,
      under: BASH('"$@" | head -1; exit "${PIPESTATUS[0]}"'),
    });
    expect(shown).toMatchObject({ code: 0, stdout: '{\n', stderr: '' });
  });

  it('EPIPE on stderr: the run goes on to its end', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const backend = makeFakeBackend(project, { gated: ['B'] });
    const done = runWf(['run', 'flow.js', ...backend.flags], {
      project,
      under: BASH('{ "$@" 2>&1 >out.txt; echo "$?" >code.txt; } | head -1'),
    });
    await backend.waitForStart('B');
    backend.openGate('B');
    expect((await done).stdout).toMatch(/started/);
    expect(project.read('code.txt')).toBe('0\n');
    expect(JSON.parse(project.read('out.txt'))).toMatchObject({ c: 'C answered #3' });
    expect(answeredLabels(project)).toEqual(['A', 'B', 'C']);
  });

  it('a full disk behind stdout is said and is no success; the result is in state.json', async (context) => {
    context.skip(!existsSync('/dev/full'), '/dev/full is not there');
    const project = makeProject({ files: { 'flow.js': workflow('return "text"') } });
    const { code, stderr } = await runWf(['run', 'flow.js', ...MOCK], { project, under: BASH('"$@" >/dev/full') });
    expect(code).toBe(1);
    expect(stderr).toMatch(/stdout cannot be written.*ENOSPC/);
    expect(readState(project)).toMatchObject({ status: 'completed', result: 'text' });
  });
});
