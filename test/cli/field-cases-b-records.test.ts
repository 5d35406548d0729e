/** Cases that went wrong elsewhere: what is on record from the first moment, at each change, and where a record cannot be written. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { waitForJournalLines } from '../support/journal.js';
import { readProcess } from '../support/processes.js';
import { startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { newestRun, THREE, workflow } from './cli-kit.js';
import { listRuns, madeIn, run } from './support/runs.js';
import { makeShellAgent, usageLine } from './support/shell-agent.js';

it('B-032 a run whose first agent hangs is on record: who holds it, what it runs, with what, how far; and each change of that', async () => {
  const body =
    "phase('One')\nawait agent('do A', { label: 'A' })\nphase('Two')\nawait agent('do B', { label: 'B' })\nreturn 1";
  const project = makeProject({ files: { 'flow.js': workflow(body) } });
  const backend = makeFakeBackend(project, { gated: ['A', 'B'] });
  const wf = startWf(['run', 'flow.js', '--arg', 'who=Ada', ...backend.flags], { project });
  await backend.waitForStart('A');
  const id = newestRun(project);
  const read = () => JSON.parse(readFileSync(join(project.runDir(id), 'run.json'), 'utf8'));
  const atFirst = read();
  expect(atFirst).toMatchObject({
    version: 1,
    engine: 'wf-engine',
    runId: id,
    workflow: 'flow',
    status: 'running',
    startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    endedAt: null,
    owner: { pid: wf.pid, startTime: readProcess(wf.pid)?.startTime, host: expect.any(String) },
    script: { path: 'flow.js', sha256: createHash('sha256').update(workflow(body)).digest('hex') },
    args: { who: 'Ada' },
    options: { backend: 'command' },
    lineage: { resumedFrom: null, root: id },
    copied: true,
    progress: { counts: { ok: 0 }, journalBytes: 0 },
  });
  // Nobody needs to start the same work a second time: it is seen.
  expect(await listRuns(project)).toMatchObject([{ runId: id, status: 'running', owner: { pid: wf.pid } }]);
  backend.openGate('A');
  await backend.waitForStart('B');
  const then = await waitFor('the second phase in run.json', () => {
    const record = read();
    return record.progress.phase === 'Two' && record.progress.counts.ok === 1 ? record : undefined;
  });
  expect(then.progress.journalBytes).toBeGreaterThan(0);
  expect({ ...then, progress: 0, owner: 0, guard: 0, control: 0 }).toEqual({
    ...atFirst,
    progress: 0,
    owner: 0,
    guard: 0,
    control: 0,
  });
  backend.openAllGates();
  expect((await wf.done).code).toBe(0);
  expect(read()).toMatchObject({
    status: 'completed',
    owner: null,
    endedAt: expect.stringMatching(/Z$/),
    progress: { counts: { ok: 2 } },
  });
});

it('B-043 R5 an outcome that can never be written costs no answer: it is said, and all of it is reused', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  const agent = makeShellAgent(project, { C: { gate: 'c' } });
  const wf = startWf(['run', 'flow.js', ...agent.flags], { project });
  await agent.waitFor('start', 'C');
  await waitForJournalLines(project, 2);
  const id = newestRun(project);
  const state = join(project.runDir(id), 'state.json');
  // A rename onto a folder is refused for ever.
  mkdirSync(join(state, 'in the way'), { recursive: true });
  agent.openAllGates();
  const ended = await wf.done;
  expect(JSON.parse(ended.stdout)).toMatchObject({ a: expect.any(String), c: expect.any(String) });
  expect(ended.stderr).toMatch(/state\.json/);
  expect(madeIn(project, id).map(({ label }) => label)).toEqual(['A', 'B', 'C']);
  const resumed = await run(project, ['--resume-from', id]);
  expect([resumed.code, resumed.result, agent.started(resumed.id)]).toEqual([0, JSON.parse(ended.stdout), []]);
  rmSync(state, { recursive: true });
});

it('B-020 the error of a spent budget has one text, whatever was spent and when: it holds no number that another run would not have', async () => {
  const body = `let why = ''
await agent('first', { label: 'first' })
try { await agent('second', { label: 'second' }) } catch (error) { why = error.name + ': ' + error.message }
return why`;
  const project = makeProject({ files: { 'flow.js': workflow(body) } });
  const texts = [];
  for (const spent of [40, 977]) {
    const agent = makeShellAgent(project, { first: { says: usageLine(spent) } });
    const { id, result, stderr } = await run(project, ['flow.js', '--budget', '30', ...agent.flags]);
    expect(agent.started(id), stderr).toEqual(['first']);
    texts.push(result);
    // The resume spends nothing on the first call, so it has the whole budget for the second.
    const resumed = await run(project, ['--resume-from', id]);
    expect([resumed.result, agent.started(resumed.id)]).toEqual(['', ['second']]);
  }
  expect(texts[0]).toMatch(/budget/i);
  expect(texts[1]).toBe(texts[0]);
  expect(texts[0]).not.toMatch(/977|\b40\b|\/|\bpid\b|attempt|line \d/);
});
