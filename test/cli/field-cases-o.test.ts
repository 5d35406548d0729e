/** Cases that went wrong elsewhere, across the groups: restarts, races, moved folders, nested stages, and cost of the record. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, test } from 'vitest';
import type * as Library from '../../src/index.js';
import { type Behaviour, type FakeBackend, makeFakeBackend } from '../support/fake-backend.js';
import { waitForJournalLines } from '../support/journal.js';
import { requireBuild, runWf, startWf, type WfHandle } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { newestRun, readState, sandboxOf, workflow } from './cli-kit.js';
import { copyProject, hitsIn, idOf, killRun, linesOf, run } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

const meta = (name: string): string => `export const meta = { name: '${name}', description: 'A case' }\n`;

it('B-149 the script process is killed twice: the run ends by name, nothing starts anew by itself, and all of it costs seven answers', async () => {
  const labels = [...Array(7).keys()].map((i) => `f${i}`);
  const project = makeProject({
    files: {
      'flow.js': `${meta('flow')}const out = []\nfor (const x of ${JSON.stringify(labels)}) out.push(await agent('find ' + x, { label: x }))\nreturn out\n`,
    },
  });
  const agent = makeShellAgent(project, { f4: { gate: 'g4' }, f5: { gate: 'g5' } });
  const kill = async (handle: ReturnType<typeof startWf>, label: string, lines: number): Promise<string> => {
    await agent.waitFor('start', label);
    await waitForJournalLines(project, lines);
    process.kill(sandboxOf(handle.pid).pid, 'SIGKILL');
    const ended = await handle.done;
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('WF_SANDBOX_DIED')]);
    return idOf(ended.stderr);
  };
  const first = startWf(['run', 'flow.js', ...agent.flags], { project });
  const one = await kill(first, 'f4', 4);
  expect(agent.started()).toEqual(['f0', 'f1', 'f2', 'f3', 'f4']);
  agent.openGate('g4');
  const second = startWf(['run', '--resume-from', one], { project });
  const two = await kill(second, 'f5', 4 + 4 + 1);
  agent.openAllGates();
  const third = await run(project, ['--resume-from', two]);
  expect(third.code).toBe(0);
  // Each answer was given once over all runs, whatever was cut off.
  expect(agent.lines('ok').map(({ label }) => label)).toEqual(labels);
  expect((third.result as string[]).map((text) => text.split(' ')[0])).toEqual(labels);
  expect(hitsIn(project, third.id)).toHaveLength(5);
});

describe('B-152 each call has one start and one end, and so has the run', () => {
  const FOUR = '[1, 2, 3, 4].map((i) => agent("do c" + i, { label: "c" + i }))';
  type How = (wf: WfHandle, backend: FakeBackend) => Promise<void>;
  const signal =
    (name: NodeJS.Signals): How =>
    async (wf, backend) => {
      await backend.waitForStart('c1');
      wf.kill(name);
    };
  const gated = { c1: { gate: true, hang: true } } as const;
  test.each<[string, string, Record<string, Behaviour>, How | undefined, number]>([
    ['that ends well', `return await Promise.all(${FOUR})`, {}, undefined, 0],
    ['that nobody waited for', `const calls = ${FOUR}; return await calls[0]`, {}, undefined, 0],
    ['whose script throws', `const calls = ${FOUR}; await calls[0]; throw new Error("no")`, {}, undefined, 1],
    ['that a refused sign-in ends', `return await Promise.all(${FOUR})`, { c1: { fail: 77 } }, undefined, 6],
    ['that is cancelled', `return await Promise.all(${FOUR})`, gated, signal('SIGINT'), 130],
    ['that is drained', `return await Promise.all(${FOUR})`, gated, signal('SIGTERM'), 143],
  ])('in a run %s', async (_what, body, rules, end, code) => {
    const project = makeProject({ files: { 'flow.js': workflow(body) } });
    const backend = makeFakeBackend(project, { rules });
    const wf = startWf(['run', 'flow.js', '--concurrency', '1', '--drain', '0.2s', ...backend.flags], { project });
    await end?.(wf, backend);
    expect((await wf.done).code).toBe(code);
    const events = readFileSync(join(project.runDir(newestRun(project)), 'events.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const numbersOf = (type: string) => events.flatMap((event) => (event.type === type ? [event.n] : [])).sort();
    expect(numbersOf('call.queued')).toEqual([1, 2, 3, 4]);
    expect(numbersOf('call.finished')).toEqual([1, 2, 3, 4]);
    expect(events.filter(({ type }) => type === 'run.started')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'run.finished')).toEqual([events.at(-1)]);
    const answered = readState(project).counts.ok as number;
    expect(events.filter(({ type, status }) => type === 'call.finished' && status === 'ok')).toHaveLength(answered);
  });
});

it("B-154 a run folder holds no absolute place of the project and nothing of the host's separators, and works in another place", async () => {
  const project = makeProject({
    files: {
      '.claude/keep': '',
      'flows/deep/flow.js': `${meta('flow')}return [await agent('do A', { label: 'A', cwd: '../..' }), await workflow('child')]\n`,
      '.claude/workflows/child.js': `${meta('child')}return await agent('do B', { label: 'B' })\n`,
    },
  });
  const first = await run(project, ['flow.js', '--backend', 'mock'], { cwd: project.path('flows', 'deep') });
  expect(first.code).toBe(0);
  const folder = project.runDir(first.id);
  const record = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
  expect([record.script.path, record.startFolder]).toEqual(['flows/deep/flow.js', 'flows/deep']);
  for (const name of ['run.json', 'state.json', 'journal.jsonl']) {
    const text = readFileSync(join(folder, name), 'utf8');
    expect(text.includes(project.root), name).toBe(false);
    expect(text.includes('\\\\'), name).toBe(false);
  }
  expect(linesOf(project, first.id).find(({ type }) => type === 'script')?.path).toBe('.claude/workflows/child.js');
  const copy = copyProject(project);
  const shown = await runWf(['show', first.id, '--json'], { project, cwd: copy });
  expect(JSON.parse(shown.stdout)).toMatchObject({ status: 'completed', result: first.result });
  const resumed = await runWf(['run', '--resume-from', first.id], { project, cwd: copy });
  expect([resumed.code, JSON.parse(resumed.stdout)]).toEqual([0, first.result]);
  expect(resumed.stderr).toContain('2 reused, 0 executed');
});

it('B-156 a race and more calls while its loser runs: each call is started once, and a retry is a counted attempt of its own call', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('flow')}const slow = agent('slow', { label: 'slow' })
const winner = await Promise.race([agent('quick', { label: 'quick' }), slow])
const more = await parallel([...Array(6).keys()].map((i) => () => agent('more ' + i, { label: 'm' + i })))
return [winner, more, await slow]
`,
    },
  });
  const agent = makeShellAgent(project, { slow: { gate: 's' }, m3: { fail: 75 } });
  const first = startWf(['run', 'flow.js', '--retries', '1', ...agent.flags], { project });
  await waitForJournalLines(project, 7);
  agent.openAllGates();
  const ended = await first.done;
  expect(ended.code).toBe(3);
  const starts = agent.lines('start').map(({ label, attempt }) => `${label}.${attempt}`);
  expect(starts.sort()).toEqual(
    ['slow.1', 'quick.1', ...['m0', 'm1', 'm2', 'm3', 'm4', 'm5'].map((label) => `${label}.1`), 'm3.2'].sort(),
  );
  agent.setRules({});
  const second = await run(project, ['--resume-from', idOf(ended.stderr)]);
  expect(agent.started(second.id)).toEqual(['m3']);
});

it('B-158 a pipeline of three stages in a child in a fan-out, killed in the middle: every stage gets what it would have got', async () => {
  const files = {
    '.claude/workflows/inner.js': `${meta('inner')}return await pipeline(['a', 'b', 'c', 'd'],
  (item, original, i) => agent('one ' + item + ' ' + original + ' ' + i + ' ' + args.side, { label: args.side + item + 1 }),
  (one, original, i) => agent('two (' + one + ') ' + original + ' ' + i, { label: args.side + original + 2 }),
  (two, original, i) => agent('three (' + two + ') ' + original + ' ' + i, { label: args.side + original + 3 }))
`,
    'flow.js': `${meta('flow')}return await parallel(['L', 'R'].map((side) => () => workflow('inner', { side })))\n`,
  };
  const project = makeProject({ files });
  const reply = { reply: '<$prompt>' };
  const agent = makeShellAgent(project, {
    Lc2: { ...reply, gate: 'g' },
    La3: { ...reply, gate: 'g' },
    Rd1: { ...reply, gate: 'g' },
    '*': reply,
  });
  const first = startWf(['run', 'flow.js', '--concurrency', '12', ...agent.flags], { project });
  // All but the three that wait and what comes behind them, and the text of the child.
  await waitForJournalLines(project, 24 - 3 - 3 + 1);
  const one = await killRun(first);
  agent.openAllGates();
  const second = await run(project, ['--resume-from', one]);
  expect(agent.started(second.id).sort()).toEqual(['La3', 'Lc2', 'Lc3', 'Rd1', 'Rd2', 'Rd3']);
  const whole = await run(project, ['flow.js', ...agent.flags]);
  expect(second.result).toEqual(whole.result);
});

it('B-037 a thousand answers of 20 kB: 1.3 × their size on the disk, a small state.json, and time that grows with the calls', async () => {
  requireBuild();
  const entry = join(import.meta.dirname, '..', '..', 'dist', 'index.js');
  const lib = (await import(pathToFileURL(entry).href)) as typeof Library;
  const project = makeProject({
    files: {
      'flow.js': `${meta('flow')}await Promise.all(Array.from({ length: args.calls }, (_, i) => agent('do ' + i, { label: 'c' + i })))\n`,
    },
  });
  const text = 'answer "with quotes" '.repeat(1000).slice(0, 20_000);
  const backend = lib.defineBackend({ name: 'large', run: async () => ({ text }) });
  const measure = async (calls: number): Promise<{ ms: number; bytes: number; state: number }> => {
    const started = performance.now();
    const ended = await lib.runWorkflow({
      script: 'flow.js',
      backend,
      args: { calls },
      concurrency: 16,
      cwd: project.dir,
      home: project.home,
      env: project.env,
    });
    expect(ended.status).toBe('completed');
    return { ms: performance.now() - started, ...sizesOf(project, ended.runId) };
  };
  await measure(10);
  const few = await measure(250);
  const many = await measure(1000);
  expect(many.bytes).toBeLessThan(1.3 * 1000 * 20_000);
  expect(many.state).toBeLessThan(5_000);
  // Four times the calls; a cost that grows with the square would be sixteen times.
  expect(many.ms).toBeLessThan(9 * few.ms + 1_000);
});

function sizesOf(project: TestProject, id: string): { bytes: number; state: number } {
  const folder = project.runDir(id);
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), state: statSync(join(folder, 'state.json')).size };
}
