/** The journal and the outcome as a run writes them, seen from outside. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { faultOf, journalFile, readJournal, waitForJournalLines } from '../support/journal.js';
import { runWf, startWf, type WfHandle } from '../support/run-wf.js';
import { seededRandom, testSeed } from '../support/seeds.js';
import { makeProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { P3, S3 } from './cli-kit.js';
import { needTool } from './support/need-tool.js';
import { idOf, killRun, linesOf, listRuns, run } from './support/runs.js';
import { readTrace, traced } from './support/trace.js';

it('J1 J4 one new folder named by a UUID with its five files, and a line for each call before the next one starts', async () => {
  const project = makeProject({ files: { 'three.js': S3 } });
  const backend = makeFakeBackend(project);
  const { code, id } = await run(project, ['three.js', ...backend.flags]);
  expect(code).toBe(0);
  expect(project.runIds()).toEqual([id]);
  expect(readdirSync(project.runDir(id)).sort()).toEqual([
    'events.jsonl',
    'journal.jsonl',
    'run.json',
    'script.js',
    'state.json',
  ]);
  expect(statSync(project.runDir(id)).mode & 0o777).toBe(0o700);
  for (const file of readdirSync(project.runDir(id)))
    expect([file, statSync(join(project.runDir(id), file)).mode & 0o777]).toEqual([file, 0o600]);
  expect(backend.ledger.starts().map(({ label, journalLines }) => [label, journalLines])).toEqual([
    ['A', 0],
    ['B', 1],
    ['C', 2],
  ]);
  // Script and records are there before the first agent starts.
  expect(backend.ledger.starts('A')[0]?.runFiles).toEqual(
    expect.arrayContaining(['journal.jsonl', 'run.json', 'script.js']),
  );
});

it('J2 script.js is the script that is executed, byte for byte, also when its source changes meanwhile', async () => {
  // A mark at the start, line ends of both kinds, and characters that have two forms.
  const source = `${S3.replace('\n', '\r\n')}// caf\u00e9 cafe\u0301 \u{1f4b6}`;
  const project = makeProject({ files: { 'three.js': source } });
  const backend = makeFakeBackend(project, { gated: ['A'] });
  const running = startWf(['run', 'three.js', ...backend.flags], { project });
  await backend.waitForStart('A');
  writeFileSync(project.path('three.js'), S3.replace('do C', 'do something else'));
  backend.openGate('A');
  const ended = await running.done;
  expect(ended.code).toBe(0);
  const copy = readFileSync(join(project.runDir(idOf(ended.stderr)), 'script.js'));
  expect(copy).toEqual(Buffer.from(source));
  expect(backend.ledger.starts('C')[0]?.prompt).toBe('do C');
});

it('J3 J4 the journal only grows: each look at it is the beginning of the next, in one file', async () => {
  const project = makeProject({ files: { 'fan.js': P3 } });
  const backend = makeFakeBackend(project, { gated: ['A', 'B', 'C'] });
  const running = startWf(['run', 'fan.js', ...backend.flags], { project });
  await backend.waitForStarts(3);
  const file = journalFile(project) as string;
  const { ino } = statSync(file);
  let before = readFileSync(file);
  expect(before).toHaveLength(0);
  for (const [i, label] of ['C', 'A', 'B'].entries()) {
    backend.openGate(label);
    await waitForJournalLines(project, i + 1);
    const now = readFileSync(file);
    expect(now.subarray(0, before.length)).toEqual(before);
    expect(readJournal(file).map((line) => line.label)).toEqual(['C', 'A', 'B'].slice(0, i + 1));
    before = now;
  }
  await running.done;
  expect(readFileSync(file)).toEqual(before);
  expect(statSync(file).ino).toBe(ino);
});

it('J3 J7 J16 the system calls: lines are appended by one write each, before anybody is told; records are renamed into place', async (context) => {
  needTool(context, 'strace', ['-V']);
  const project = makeProject({ files: { 'three.js': S3 } });
  const backend = makeFakeBackend(project);
  const first = await run(project, ['three.js', '--reporter', 'jsonl', ...backend.flags], { under: traced(project) });
  expect(first.code).toBe(0);
  const trace = readTrace(project);
  const folder = project.runDir(first.id);
  const journal = join(folder, 'journal.jsonl');

  // The fake agents look at it, too; one descriptor writes.
  const writers = trace.opens(journal).filter(({ flags }) => !flags.startsWith('O_RDONLY'));
  expect(writers.map(({ flags }) => flags)).toEqual([expect.stringContaining('O_APPEND')]);
  expect(trace.changes(journal)).toEqual([]);
  const writes = trace.writes(journal);
  expect(writes.map(({ text }) => text)).toEqual(readFileSync(journal, 'utf8').split(/(?<=\n)/));
  for (const [i, { at }] of writes.entries()) {
    const told = trace
      .writesTo(2)
      .find(({ text }) => text.includes('"call.finished"') && text.includes(`"n":${i + 1},`));
    expect(told?.at).toBeGreaterThan(at);
    // The sandbox, too, is given it only then.
    const given = trace.writesWith(`{"t":"deliver","items":[[${i + 1},`);
    expect(given).toHaveLength(1);
    expect(given[0]?.at).toBeGreaterThan(at);
  }
  for (const record of ['state.json', 'run.json']) {
    const place = join(folder, record);
    expect(trace.opens(place).filter(({ flags }) => /O_WRONLY|O_RDWR/.test(flags))).toEqual([]);
    expect(trace.changes(place).length).toBeGreaterThan(0);
    for (const change of trace.changes(place)) expect(change).toMatch(/^rename/);
  }
});

it('J3 the journal of a run is not opened for writing by a resume, also when it is damaged and the script has changed', async (context) => {
  needTool(context, 'strace', ['-V']);
  const project = makeProject({ files: { 'three.js': S3 } });
  const backend = makeFakeBackend(project);
  const first = await run(project, ['three.js', ...backend.flags]);
  const old = journalFile(project, first.id) as string;
  writeFileSync(old, readFileSync(old, 'utf8').replace('"n":2', '"n":7').slice(0, -9));
  project.write('three.js', S3.replace('do A', 'do it'));
  const second = await run(project, ['three.js', '--resume-from', first.id], { under: traced(project) });
  expect(second.code).toBe(0);
  const trace = readTrace(project);
  expect(trace.opens(old).length).toBeGreaterThan(0);
  for (const { flags } of trace.opens(old)) expect(flags).toMatch(/^O_RDONLY/);
  expect(trace.changes(old)).toEqual([]);
  expect(trace.changes(journalFile(project, second.id) as string)).toEqual([]);
});

it('J5 phases, logs and plain code write no line; a call writes one, with its key, place and answer', async () => {
  const project = makeProject({
    files: {
      'plain.js': `export const meta = { name: 'plain', description: 'No calls' }
phase('One')
log('a line')
console.log('another')
await Promise.resolve()
return { sum: [1, 2].reduce((a, b) => a + b) }
`,
      'one.js': `export const meta = { name: 'one', description: 'One call' }
phase('One')
log('before')
const answer = await agent('do A', { label: 'A', schema: { type: 'object' } })
log('after')
return answer
`,
    },
  });
  const backend = makeFakeBackend(project, { rules: { A: { value: { words: 'é "quoted"\n' } } } });
  const plain = await run(project, ['plain.js', ...backend.flags]);
  expect(plain.result).toEqual({ sum: 3 });
  expect(linesOf(project, plain.id)).toEqual([]);
  const one = await run(project, ['one.js', ...backend.flags]);
  expect(linesOf(project, one.id)).toMatchObject([
    {
      v: 1,
      type: 'result',
      seq: 1,
      n: 1,
      nth: 0,
      path: '',
      label: 'A',
      phase: 'One',
      kind: 'ok',
      key: expect.stringMatching(/^[0-9a-f]{64}$/),
      output: { words: 'é "quoted"\n' },
      attempts: 1,
    },
  ]);
});

it('J6 state.json is absent until the end, and there after success, a script error and a cancel', async () => {
  const project = makeProject({
    files: {
      'three.js': S3,
      'throws.js': `${S3.replace('return', 'if (a) throw new Error("of the script")\nreturn')}`,
    },
  });
  const backend = makeFakeBackend(project, { gated: ['B'] });
  const stateFile = (): string => join(project.runDir(project.runIds().at(-1) as string), 'state.json');

  const ok = startWf(['run', 'three.js', ...backend.flags], { project });
  await backend.waitForStart('B');
  expect(existsSync(stateFile())).toBe(false);
  backend.openGate('B');
  expect(await ok.done).toMatchObject({ code: 0 });
  expect(JSON.parse(readFileSync(stateFile(), 'utf8'))).toMatchObject({ status: 'completed' });

  const failed = await run(project, ['throws.js', ...backend.flags]);
  expect(failed.code).toBe(1);
  expect(failed.state).toMatchObject({ status: 'failed', error: { message: 'of the script' } });

  backend.gate('B');
  const cancelled = startWf(['run', 'three.js', ...backend.flags], { project });
  await backend.waitForStart('B', { nth: 3 });
  expect(existsSync(stateFile())).toBe(false);
  cancelled.kill('SIGINT');
  expect(await cancelled.done).toMatchObject({ code: 130 });
  expect(JSON.parse(readFileSync(stateFile(), 'utf8'))).toMatchObject({ status: 'cancelled' });
});

it('J7 thirty runs killed at random moments, many while they write their outcome: a reader sees none of it or all of it', async () => {
  // A result of this size takes the disk a moment, so that a half-written outcome would be seen.
  const size = 4_000_000;
  const project = makeProject({
    files: {
      'large.js': `export const meta = { name: 'large', description: 'A large result' }
await agent('do A', { label: 'A' })
return 'x'.repeat(${size})
`,
    },
  });
  const random = seededRandom(testSeed());
  let looks = 0;
  let whole = 0;

  const readTightly = async (wf: WfHandle): Promise<void> => {
    let file: string | undefined;
    do {
      const id = /run ([0-9a-f-]{36})/.exec(wf.stderr)?.[1];
      if (id !== undefined) file ??= join(project.runDir(id), 'state.json');
      if (file !== undefined) whole += expectWholeOrNone(file) ? 1 : 0;
      looks++;
      await new Promise((resolve) => setImmediate(resolve));
    } while (!wf.ended);
    if (file !== undefined) expectWholeOrNone(file);
  };
  const expectWholeOrNone = (file: string): boolean => {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOENT');
      return false;
    }
    const state = JSON.parse(text) as { status: string; result: string };
    expect([state.status, state.result.length]).toEqual(['completed', size]);
    return true;
  };

  const start = performance.now();
  await runWf(['run', 'large.js', '--backend', 'mock', '-q', '--output', 'out.json'], { project });
  const duration = performance.now() - start;
  for (let round = 0; round < 30; round++) {
    const wf = startWf(['run', 'large.js', '--backend', 'mock', '--output', 'out.json'], { project });
    const reading = readTightly(wf);
    if (round % 2 === 0) {
      const wait = duration * (0.3 + 0.8 * random());
      await Promise.race([wf.done, new Promise((resolve) => setTimeout(resolve, wait))]);
    } else {
      // The moment in which the outcome is being written: its temporary file is there.
      await waitFor('the outcome being written', () => wf.ended || temporaryFiles(project.runsDir).length > 0);
    }
    wf.kill('SIGKILL');
    await Promise.all([wf.done, reading]);
  }
  expect(looks).toBeGreaterThan(300);
  console.log(`J7: ${looks} looks, ${whole} of them at a whole outcome`);

  // What a kill may leave is ignored.
  const left = temporaryFiles(project.runsDir);
  const ls = await listRuns(project);
  expect(ls).toHaveLength(project.runIds().length);
  for (const { runId, status } of ls) {
    const isWhole = existsSync(join(project.runDir(runId), 'state.json'));
    expect(isWhole ? ['completed'] : ['interrupted', 'completed']).toContain(status);
  }
  if (left.length > 0) expect(ls.map(({ runId }) => runId)).toContain(left[0]?.split('/')[0]);
}, 180_000);

/** Temporary files of `state.json` in run folders: `<run>/<file>`. */
function temporaryFiles(runsDir: string): string[] {
  if (!existsSync(runsDir)) return [];
  return readdirSync(runsDir)
    .filter((name) => /^[0-9a-f-]{36}$/.test(name))
    .flatMap((run) =>
      readdirSync(join(runsDir, run))
        .filter((name) => /^\.state.*\.tmp$/.test(name))
        .map((name) => `${run}/${name}`),
    );
}

it('J8 a call without a result has no line: K(B) leaves A alone', async () => {
  const project = makeProject({ files: { 'three.js': S3 } });
  const backend = makeFakeBackend(project, { gated: ['B'] });
  const running = startWf(['run', 'three.js', ...backend.flags], { project });
  await backend.waitForStart('B');
  const id = await killRun(running);
  expect(linesOf(project, id)).toMatchObject([{ label: 'A', kind: 'ok' }]);
});

it('J16 when an event says that a call is done, its line is in the journal', async () => {
  const project = makeProject({
    files: {
      'many.js': `export const meta = { name: 'many', description: 'Forty calls at once' }
return (await parallel(Array.from({ length: 40 }, (_, i) => () => agent('do ' + i, { label: 'L' + i })))).length
`,
    },
  });
  const running = startWf(['run', 'many.js', '--reporter', 'jsonl', '--backend', 'mock', '--concurrency', '40'], {
    project,
  });
  const seen = new Set<number>();
  await waitFor(
    'forty finished calls',
    () => {
      const events = running.stderr
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as { type: string; n: number; runId: string });
      const done = events.filter((event) => event.type === 'call.finished' && !seen.has(event.n));
      if (done.length > 0) {
        const file = journalFile(project, idOf(running.stderr)) as string;
        const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
        const there = new Set(lines.map((line) => (JSON.parse(line) as { n: number }).n));
        for (const { n } of done) expect([n, there.has(n)]).toEqual([n, true]);
        for (const line of lines) expect(faultOf(line)).toBeUndefined();
        for (const { n } of done) seen.add(n);
      }
      return seen.size === 40;
    },
    { watch: [project.dir] },
  );
  expect(await running.done).toMatchObject({ code: 0 });
});
