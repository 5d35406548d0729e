/** How runs end, and how errors of scripts are told: file, line, column and a frame of the user's own source. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { waitForJournalLines } from '../support/journal.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { eventsOf, META, runFile, runScript } from './support/run-script.js';

describe('ends', () => {
  it('C190 B-058 every agent failed: the run completes, but its exit code and its report say so', async () => {
    const project = makeProject();
    const run = await runScript(
      project,
      `${META}return (await parallel([1, 2, 3].map((i) => () => agent('a' + i)))).filter(Boolean)`,
      { rules: [{ error: 'failed', message: 'gone' }], flags: ['--retries', '0'] },
    );
    expect(run).toMatchObject({ code: 3, result: [], state: { status: 'completed', counts: { failed: 3, ok: 0 } } });
  });

  it('C191 B-065 calls that nobody awaits are ended with the script and are no failure', async () => {
    const run = await runScript(makeProject(), `${META}agent('slow'); agent('fails'); return 1`, {
      rules: [{ when: { prompt: 'slow' }, hang: true }, { error: 'failed' }],
    });
    expect(run).toMatchObject({ code: 0, result: 1, state: { counts: { calls: 2, abandoned: 2, failed: 0 } } });
    const later = await runScript(makeProject(), `${META}agent('slow'); await agent('other'); return 1`, {
      rules: [{ when: { prompt: 'slow' }, hang: true }, { reply: 'x' }],
    });
    expect(later).toMatchObject({ code: 0, state: { counts: { calls: 2, abandoned: 1, ok: 1 } } });
  });

  it('C192 a script that waits for what cannot come fails at once', async () => {
    const run = await runScript(makeProject(), `${META}await agent('x')\nawait new Promise(() => {})`);
    expect(run).toMatchObject({ code: 1, state: { status: 'failed', error: { code: 'WF_DEADLOCK' } } });
  });

  it('C193 probe 70 SIGINT: agents are ended, the run is cancelled and can be resumed', async () => {
    const project = makeProject({
      files: { 'fan.js': `${META}return await parallel(['A', 'B'].map((word) => () => agent(word, { label: word })))` },
    });
    const backend = makeFakeBackend(project, { gated: ['B'] });
    const run = startWf(['run', 'fan.js', ...backend.flags], { project });
    await backend.waitForStart('B');
    await waitForJournalLines(project, 1);
    run.kill('SIGINT');
    expect((await run.done).code).toBe(130);
    const [runId = ''] = project.runIds();
    const state = JSON.parse(readFileSync(join(project.runDir(runId), 'state.json'), 'utf8'));
    expect(state).toMatchObject({ status: 'cancelled', counts: { ok: 1, noResult: 1 } });
    backend.openAllGates();
    const two = await runFile(project, undefined, ['--resume-from', runId]);
    expect(two.code).toBe(0);
    expect([backend.ledger.starts('A').length, backend.ledger.starts('B').length]).toEqual([1, 2]);
  });

  it('C080 probe 31 a call that a person skips is null, in a slot and awaited alone', async () => {
    const project = makeProject({
      files: {
        'skip.js': `${META}const [slot, alone] = await Promise.all([
  parallel([() => agent('A', { label: 'A' })]),
  agent('B', { label: 'B' }),
])
return { slot, alone, after: await agent('C', { label: 'C' }) }`,
      },
    });
    const backend = makeFakeBackend(project, { gated: ['A', 'B'] });
    const run = startWf(['run', 'skip.js', ...backend.flags], { project });
    await Promise.all(['A', 'B'].map((label) => backend.waitForStart(label)));
    const [runId = ''] = project.runIds();
    for (const label of ['A', 'B']) expect((await runWf(['skip', runId, label], { project })).code).toBe(0);
    const { code, stdout } = await run.done;
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toEqual({ slot: [null], alone: null, after: 'C answered #3' });
  });

  it('C081 probe 32 a running call is started again, and its promise gets the second answer', async () => {
    const project = makeProject({ files: { 'retry.js': `${META}return await agent('A', { label: 'A' })` } });
    const backend = makeFakeBackend(project, {
      rules: [
        { when: { label: 'A', nth: 1 }, behaviour: { hang: true } },
        { when: { label: 'A' }, behaviour: { value: 'second' } },
      ],
    });
    const run = startWf(['run', 'retry.js', ...backend.flags], { project });
    await backend.waitForStart('A');
    const [runId = ''] = project.runIds();
    expect((await runWf(['retry', runId, 'A'], { project })).code).toBe(0);
    expect(await run.done).toMatchObject({ code: 0, stdout: 'second\n' });
  });
});

describe('errors of the script', () => {
  const SOURCE = `${META}async function inner(x) {
  await agent('a')
  throw new TypeError('deep ' + x)
}
async function outer() {
  phase('P'); log('one')
  return await inner(2)
}
await outer()
`;

  it('C194 B-064 file, line, column, a frame, the async callers; logs, phases and answers are kept', async () => {
    const project = makeProject();
    const run = await runScript(project, SOURCE);
    expect(run.code).toBe(1);
    expect(run.state.error).toMatchObject({
      code: 'WF_SCRIPT_THREW',
      name: 'TypeError',
      message: 'TypeError: deep 2',
      file: 'probe.js',
      line: 4,
      column: 9,
      frame: expect.stringContaining("> 4 |   throw new TypeError('deep ' + x)\n    |         ^"),
      stack: '    at inner (probe.js:4:9)\n    at async outer (probe.js:8:10)\n    at async probe.js:10:1',
    });
    expect(run.told).toEqual(['log: one']);
    expect(eventsOf(run, 'phase')).toEqual([expect.objectContaining({ title: 'P' })]);
    const mended = project.write('mended.js', SOURCE.replace('throw new TypeError', 'return String'));
    const two = await runFile(project, mended, ['--resume-from', run.runId, '--backend', 'mock']);
    expect(two).toMatchObject({ code: 0, state: { counts: { reused: 1, executed: 0 } } });
  });

  it('C194 they stand on stderr for people, with the frame and without frames of the engine', async () => {
    const project = makeProject({ files: { 'probe.js': SOURCE } });
    const { stderr } = await runWf(['run', 'probe.js', '--backend', 'mock'], { project });
    expect(stderr).toContain('cause    WF_SCRIPT_THREW: TypeError: deep 2 (probe.js:4:9)');
    expect(stderr).toMatch(/> 4 \| {3}throw new TypeError/);
    expect(stderr).toContain('at async outer (probe.js:8:10)');
    expect(stderr).not.toMatch(/engine:|prelude|node:internal/);
  });

  it('C194 X001 columns of TypeScript are the user’s own, in children too', async () => {
    const child = `export const meta = { name: 'typed', description: 'd' }
interface Item { name: string; size: number }
const measure = async <T extends Item>(item: T): Promise<number> => {
  const any = item as unknown as { deep: { er: number } }; return any.deep.er
}
return await measure({ name: 'x', size: 1 } satisfies Item)
`;
    const project = makeProject({ files: { 'child.ts': child } });
    const alone = await runFile(project, 'child.ts', ['--backend', 'mock']);
    const fourth = child.split('\n')[3] ?? '';
    const place = { file: 'child.ts', line: 4, column: fourth.lastIndexOf('er') + 1 };
    expect(alone.state.error).toMatchObject({ ...place, message: expect.stringMatching(/^TypeError: .*'er'/) });
    const parent = await runScript(
      project,
      `${META}const go = async () => {\n  await workflow({ scriptPath: 'child.ts' })\n}\nawait go()\n`,
    );
    expect(parent.state.error).toMatchObject({
      ...place,
      code: 'WF_WORKFLOW_FAILED',
      frame: expect.stringContaining('> 4 |'),
      stack: expect.stringMatching(
        /^ {4}at measure \(child\.ts:4:\d+\)\n[\s\S]*at async go \(probe\.js:3:3\)\n {4}at async probe\.js:5:1$/,
      ),
    });
  });

  it('C195 B-061 an error that became null in a slot is told with its place, and counted apart from failed calls', async () => {
    const project = makeProject({ files: { 'child.js': `${META}await agent('c')\nnull.x\n` } });
    const source = `${META}await parallel([() => agent(oops), () => agent('b'), async () => { await agent('a'); null.x }])
await parallel([1, 2, 3].map(() => () => { undefined.y }))
await pipeline([1], (x) => x.nope.deep)
await parallel([() => workflow({ scriptPath: 'child.js' })])
return 'done'
`;
    const run = await runScript(project, source);
    expect(run).toMatchObject({ code: 0, result: 'done' });
    expect(run.told.filter((line) => line.startsWith('warn'))).toEqual([
      'warn: parallel[0] failed: ReferenceError: oops is not defined (probe.js:2:29)',
      expect.stringMatching(/^warn: parallel\[2\] failed: TypeError: .*'x'\) \(probe\.js:2:91\)$/),
      ...[0, 1, 2].map((i) =>
        expect.stringMatching(new RegExp(`^warn: parallel\\[${i}\\] failed: .*'y'\\) \\(probe\\.js:3:54\\)$`)),
      ),
      expect.stringMatching(/^warn: pipeline\[0\] failed: TypeError: .*'deep'\) \(probe\.js:4:35\)$/),
      expect.stringMatching(/^warn: parallel\[0\] failed: TypeError: .*'x'\) \(child\.js:3:6\)$/),
    ]);
    // Equal ones stand there once; all are counted.
    expect(run.state.scriptErrors).toMatchObject({
      count: 7,
      first: Array(5).fill({ frame: expect.stringContaining('^') }),
    });
    expect(run.state.counts).toMatchObject({ calls: 3, ok: 3, failed: 0 });
    const told = await runWf(['run', 'probe.js', '--backend', 'mock'], { project });
    expect(told.stderr).toMatch(/script +7 errors in the script/);
    expect(told.stderr).toContain('> 2 | await parallel([() => agent(oops)');
  });

  it('C196 B-065 a rejection that nobody handles and a timer that throws are warnings with their place; the run goes on', async () => {
    const source = `${META}async function lose() {
  throw new TypeError('stray')
}
lose()
setTimeout(() => {
  throw new Error('late')
}, 1)
await new Promise((resolve) => setTimeout(resolve, 40))
return await agent('still there')
`;
    const run = await runScript(makeProject(), source, { rules: [{ reply: 'yes' }] });
    expect(run).toMatchObject({ code: 0, result: 'yes' });
    expect(eventsOf(run, 'warning')).toEqual([
      expect.objectContaining({
        code: 'WF_STRAY_REJECTION',
        message: expect.stringContaining('TypeError: stray (probe.js:3:9)'),
        error: expect.objectContaining({
          line: 3,
          frame: expect.stringContaining("> 3 |   throw new TypeError('stray')"),
        }),
      }),
      expect.objectContaining({
        code: 'WF_TIMER_THREW',
        message: expect.stringContaining('late (probe.js:7:9)'),
        error: expect.objectContaining({ line: 7, frame: expect.any(String) }),
      }),
    ]);
    expect(run.state.scriptErrors).toMatchObject({ count: 2 });
  });

  it('C197 causes are told; the code of an error is the engine’s own, whatever a script writes there', async () => {
    const project = makeProject();
    const of = async (body: string) => (await runScript(project, META + body)).state;
    const caused = await of("try { null.x } catch (cause) {\n  throw new Error('outer', { cause })\n}");
    expect(caused.error).toMatchObject({
      message: 'outer',
      line: 3,
      cause: { message: expect.stringMatching(/^TypeError/), line: 2 },
    });
    const several = await of("await Promise.any([Promise.reject(new RangeError('first')), Promise.reject(1)])");
    expect(several.error).toMatchObject({ name: 'AggregateError', cause: { message: 'RangeError: first', line: 2 } });
    const faked = await of("throw Object.assign(new Error('fake'), { code: 'WF_AUTH' })");
    expect(faked).toMatchObject({ exitCode: 1, error: { code: 'WF_SCRIPT_THREW' } });
    const plain = await of(
      "await parallel([() => { throw 'words' }, () => { throw null }])\nthrow { code: 'WF_AUTH', message: 'fake' }",
    );
    expect(plain).toMatchObject({
      exitCode: 1,
      error: { code: 'WF_SCRIPT_THREW', message: expect.stringContaining('fake') },
      scriptErrors: {
        first: [{ message: expect.stringContaining('words') }, { message: expect.stringContaining('null') }],
      },
    });
  });

  it('C042 B-108 B-113 a name that a workflow does not have: the report says what to use instead', async () => {
    const source = `${META}try { require('fs') } catch (e) { log(e.name + ': ' + e.message) }
await parallel([() => fetch('http://x'), () => process.env.HOME, () => Buffer.from('x'), () => crypto.randomUUID(), () => agnet('x')])
require('fs')
`;
    const run = await runScript(makeProject(), source);
    // A script that catches it sees the plain error of the language.
    expect(run.told[0]).toBe('log: ReferenceError: require is not defined');
    expect(run.told.slice(1)).toEqual([
      expect.stringMatching(/fetch is not defined in a workflow\..*agent/),
      expect.stringMatching(/process is not defined in a workflow\..*args/),
      expect.stringMatching(/Buffer is not defined in a workflow\..*TextEncoder/),
      expect.stringMatching(/crypto is not defined in a workflow\..*args/),
      expect.stringMatching(/agnet is not defined\. Did you mean `agent`\?/),
    ]);
    expect(run.state.error).toMatchObject({
      message: expect.stringMatching(/require is not defined in a workflow\..*one file.*agent/),
      line: 4,
      column: 1,
    });
  });

  it('C092 a call’s error that nobody catches names the line that awaited it', async () => {
    const run = await runScript(
      makeProject(),
      `${META}const ask = async () => {\n  return await agent('x', { effort: 'super' })\n}\nawait ask()`,
    );
    expect(run.state.error).toMatchObject({
      code: 'WF_AGENT_OPTIONS',
      line: 3,
      stack: expect.stringContaining('at async ask (probe.js:3:10)'),
    });
  });
});
