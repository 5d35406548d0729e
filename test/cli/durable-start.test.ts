/** What is on the disk before anything is spent or said, and what a run is worth when it is killed at the worst moment. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { waitForJournalLines } from '../support/journal.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { MOCK, newestRun, readState, THREE, workflow } from './cli-kit.js';
import { needTool } from './support/need-tool.js';
import { idOf, killRun, listRuns, run } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';
import { readThreads, traced } from './support/trace.js';

const ROUNDS = Math.max(10, Number(process.env.WF_SOAK ?? 1));

const readJson = (file: string): Record<string, unknown> => JSON.parse(readFileSync(file, 'utf8'));

it('O1: script, inputs, owner and claim are on the disk, flushed, before the first agent is started', async (context) => {
  needTool(context, 'strace', ['-V']);
  const project = makeProject({ files: { 'flow.js': THREE } });
  const backend = makeFakeBackend(project, { gated: ['A'] });
  const wf = startWf(['run', 'flow.js', '--arg', 'x=1', ...backend.flags], {
    project,
    under: traced(project, 'fsync,execve,rename,openat'),
  });
  const { runId, runFiles } = await backend.waitForStart('A');
  expect(runFiles).toEqual(expect.arrayContaining(['journal.jsonl', 'run.json', 'script.js']));
  const record = readJson(join(project.runDir(runId), 'run.json'));
  expect(record).toMatchObject({ status: 'running', args: { x: '1' }, owner: { startTime: expect.any(String) } });
  const claim = readJson(join(project.runsDir, '.claims', runId, '1.json'));
  expect(claim).toMatchObject({ runId, owner: { pid: (record.owner as { pid: number }).pid } });
  backend.openAllGates();
  expect(await wf.done).toMatchObject({ code: 0 });

  const threads = readThreads(project);
  const all = threads.flat();
  const find = (called: string, wanted: RegExp): number =>
    all.find(({ name, rest }) => name === called && wanted.test(rest))?.at ?? Number.NaN;
  const agent = find('execve', /^(?!.*main\.js).*agent\.mjs/);
  const renamed = find('rename', new RegExp(`/${runId}"`));
  expect(agent).toBeGreaterThan(renamed);
  const flushedAs = (file: string): number => {
    for (const calls of threads) {
      const opened = calls.findIndex(({ rest }) => rest.includes(`${file}", O_WRONLY|O_CREAT|O_EXCL`));
      const fd = / = (\d+)$/.exec(calls[opened]?.rest ?? '')?.[1];
      if (fd === undefined) continue;
      const flush = calls.slice(opened).find(({ name, rest }) => name === 'fsync' && rest.startsWith(`${fd})`));
      return flush?.at ?? Number.NaN;
    }
    return Number.NaN;
  };
  for (const file of ['/run.json', '/script.js', '.claims/'.concat(runId, '/1.json')]) {
    expect([file, flushedAs(file) < agent]).toEqual([file, true]);
  }
  // And the folder's own name, once it has it.
  expect(all.some(({ at, name }) => at > renamed && at < agent && name === 'fsync')).toBe(true);
});

it(`O2: killed on the line that first names it, a run is known, interrupted and whole (${ROUNDS} times)`, {
  timeout: 60_000 + ROUNDS * 15_000,
}, async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  const agent = makeShellAgent(project, { '*': { gate: 'never' } });
  const ids: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const wf = startWf(['run', 'flow.js', '--keep', String(ROUNDS + 1), ...agent.flags], { project });
    await wf.waitForStderr(/[0-9a-f]{8}-[0-9a-f-]{27}/);
    wf.killTree();
    await wf.done;
    ids.push(idOf(wf.stderr));
  }
  const listed = await listRuns(project);
  expect(listed.map(({ runId }) => runId).sort()).toEqual(ids.toSorted());
  for (const one of listed) {
    expect(one).toMatchObject({ status: 'interrupted' });
    expect(one).not.toHaveProperty('damaged');
  }
  agent.openAllGates();
  const resumed = await runWf(['run', '--resume-from', ids[0] as string], { project });
  expect(resumed).toMatchObject({ code: 0 });
});

it('O5 H19 B-051: of eight resumes of one run at once exactly one goes on, the others are told who has it; --fork goes on beside it', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  const agent = makeShellAgent(project, { B: { gate: 'b' } });
  const first = startWf(['run', 'flow.js', ...agent.flags], { project });
  await agent.waitFor('start', 'B');
  await waitForJournalLines(project, 1);
  const id = await killRun(first);
  mkdirSync(join(project.runsDir, '.claims', id, 'owner.lock'), { recursive: true });
  const resumes = Array.from({ length: 8 }, () =>
    startWf(['run', '--resume-from', id], { project, timeoutMs: 120_000 }),
  );
  await agent.waitFor('start', 'B', 2);
  const fork = startWf(['run', '--resume-from', id, '--fork'], { project, timeoutMs: 120_000 });
  await agent.waitFor('start', 'B', 3);
  agent.openGate('b');
  const ends = await Promise.all(resumes.map((resume) => resume.done));
  expect(ends.map(({ code }) => code).sort()).toEqual([0, 5, 5, 5, 5, 5, 5, 5]);
  for (const { code, stderr } of ends) if (code === 5) expect(stderr).toMatch(/WF_RUN_BUSY.*process \d+ on /);
  expect(await fork.done).toMatchObject({ code: 0 });
  // A once and for all; B in each of the three runs; C in the two that were not killed.
  expect(['A', 'B', 'C'].map((label) => agent.started().filter((one) => one === label).length)).toEqual([1, 3, 2]);
});

it('O6: killed between the last answer and the record of the end, a run is finished without any call', async () => {
  const body = `for (const x of ['A', 'B', 'C']) await agent('do ' + x, { label: x })\n`;
  const project = makeProject({ files: { 'flow.js': workflow(`${body}for (;;) {}`) } });
  const agent = makeShellAgent(project);
  const wf = startWf(['run', 'flow.js', ...agent.flags], { project });
  await waitForJournalLines(project, 3);
  const id = await killRun(wf);
  expect(existsSync(join(project.runDir(id), 'state.json'))).toBe(false);
  project.write('flow.js', workflow(`${body}return 'done'`));
  const resumed = await run(project, ['flow.js', '--resume-from', id]);
  expect(resumed).toMatchObject({ code: 0, result: 'done', state: { status: 'completed', counts: { executed: 0 } } });
  expect(agent.started()).toEqual(['A', 'B', 'C']);
});

it('O7: what is for display decides nothing: without events, or with nonsense for them, a resume does the same', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  const agent = makeShellAgent(project, { C: { fail: 1 }, '*': { reply: '$label' } });
  const first = await run(project, ['flow.js', ...agent.flags]);
  expect(first.code).toBe(3);
  const events = join(project.runDir(first.id), 'events.jsonl');
  const damage: Record<string, () => void> = {
    intact: () => {},
    missing: () => rmSync(events),
    nonsense: () => writeFileSync(events, '\0\0{"type":"call.finished","n":1,"status":"failed"}\nnonsense'),
    'a folder': () => {
      rmSync(events);
      mkdirSync(events);
    },
  };
  for (const [name, harm] of Object.entries(damage)) {
    harm();
    const resumed = await run(project, ['--resume-from', first.id, '--fork', '-q']);
    expect([name, resumed.code, resumed.result]).toEqual([name, 3, { a: 'A', b: 'B', c: null }]);
    expect(resumed.state.counts).toMatchObject({ reused: 2, executed: 1, failed: 1 });
  }
});

it('O8: the answers of a run serve no other run of the same prompts, unless it is named', async () => {
  const other = THREE.replace("name: 'flow'", "name: 'other'");
  const project = makeProject({ files: { 'flow.js': THREE, 'other.js': other } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['flow.js', ...agent.flags]);
  const again = await run(project, ['flow.js', ...agent.flags]);
  const elsewhere = await run(project, ['other.js', ...agent.flags]);
  for (const { state } of [again, elsewhere]) expect(state.counts).toMatchObject({ reused: 0, executed: 3 });
  const named = await run(project, ['other.js', '--resume-from', first.id]);
  expect(named.state.counts).toMatchObject({ reused: 3, executed: 0 });
  expect(named.result).toEqual(first.result);
});

it('O9: what a child workflow does belongs to its parent: one folder, one owner, one resume', async () => {
  const child = workflow("return [await agent('do X', { label: 'X' }), await agent('do Y', { label: 'Y' })]", 'child');
  const parent = workflow("return [await agent('do A', { label: 'A' }), await workflow('child')]", 'parent');
  const project = makeProject({ files: { 'parent.js': parent, '.claude/workflows/child.js': child } });
  const agent = makeShellAgent(project, { Y: { gate: 'y' } });
  const wf = startWf(['run', 'parent.js', ...agent.flags], { project });
  await agent.waitFor('start', 'Y');
  await waitForJournalLines(project, 3);
  const id = await killRun(wf);
  expect(project.runIds()).toEqual([id]);
  agent.openAllGates();
  const resumed = await run(project, ['--resume-from', id]);
  expect(resumed).toMatchObject({ code: 0, state: { counts: { calls: 3, reused: 2, executed: 1 } } });
  expect(project.runIds().sort()).toEqual([id, resumed.id].sort());
  expect(agent.started()).toEqual(['A', 'X', 'Y', 'Y']);
});

it('M3: every call has a decision under a stable name with its reason, before a resume and after it', async () => {
  const project = makeProject({ files: { 'flow.js': THREE } });
  const agent = makeShellAgent(project, { C: { fail: 1 } });
  const first = await run(project, ['flow.js', ...agent.flags]);
  project.write('flow.js', THREE.replace('do B', 'do B well'));
  const planned = JSON.parse(
    (await runWf(['plan', 'flow.js', '--resume-from', first.id, '--json'], { project })).stdout,
  );
  expect(planned).toMatchObject({ complete: false, hits: 1, live: 1 });
  expect(planned.calls).toMatchObject([
    { label: 'A', decision: 'hit' },
    { label: 'B', decision: 'live', reason: expect.stringMatching(/^prompt changed/) },
  ]);
  const second = await run(project, ['flow.js', '--resume-from', first.id]);
  const explained = JSON.parse((await runWf(['explain', second.id, '--json'], { project })).stdout);
  expect(explained).toMatchObject([
    { label: 'A', decision: 'hit' },
    { label: 'B', decision: 'live', reason: expect.stringMatching(/^prompt changed/) },
    { label: 'C', decision: 'live', reason: expect.stringMatching(/^failed before/) },
  ]);
  // And one line says so when nothing would be started.
  agent.setRules({});
  const third = await run(project, ['flow.js', '--resume-from', second.id]);
  const nothing = await runWf(['plan', 'flow.js', '--resume-from', third.id], { project });
  expect(nothing.stdout).toMatch(/3 .*(reused|hits?)/i);
  expect(JSON.parse((await runWf(['plan', '--resume-from', third.id, '--json'], { project })).stdout)).toMatchObject({
    complete: true,
    live: 0,
  });
});

it('X7: a resume has the permission and the limits that its run had; wider ones only by a flag, and then it says so', async () => {
  const script = workflow("return await agent('may I?', { label: 'p', cache: false, permission: 'full' })");
  const plain = script.replace(", permission: 'full'", '');
  const project = makeProject({ files: { 'flow.js': plain, 'asks.js': script } });
  const command = ['--command', JSON.stringify(['/bin/sh', '-c', 'cat > /dev/null; echo "$WF_CALL_PERMISSION"'])];
  const limits = [
    '--permission',
    'read',
    '--concurrency',
    '2',
    '--max-agents',
    '7',
    '--budget',
    '5k',
    '--timeout',
    '9m',
  ];
  const first = await run(project, ['flow.js', '--backend', 'command', ...command, ...limits]);
  expect(first.result).toBe('read');
  const stored = readJson(join(project.runDir(first.id), 'run.json')).options;
  expect(stored).toMatchObject({
    permission: 'read',
    concurrency: 2,
    maxAgents: 7,
    budgetTokens: 5000,
    timeoutMs: 540_000,
  });
  const resumed = await run(project, ['--resume-from', first.id], {
    env: { WF_PERMISSION: 'full', WF_CONCURRENCY: '50' },
  });
  expect(resumed.result).toBe('read');
  expect(readJson(join(project.runDir(resumed.id), 'run.json')).options).toEqual(stored);
  const wider = await run(project, ['--resume-from', resumed.id, '--permission', 'edit']);
  expect(wider.result).toBe('edit');
  expect(wider.stderr).toMatch(/permission/);
  // A script cannot take what it was not given.
  const asked = await runWf(['run', 'asks.js', '--resume-from', first.id], { project });
  expect(asked.stdout).not.toContain('full');
});

it('B-045: an ordinary run at the end of 60 others prunes: 50 are left, the new one among them', async () => {
  const project = makeProject({ files: { 'flow.js': workflow('return 1') } });
  expect(await runWf(['run', 'flow.js', ...MOCK], { project })).toMatchObject({ code: 0 });
  const template = newestRun(project);
  const ids = Array.from({ length: 59 }, (_, i) => `00000000-0000-4000-8000-0000000000${String(i).padStart(2, '0')}`);
  for (const id of ids) {
    mkdirSync(project.runDir(id));
    for (const name of ['run.json', 'state.json', 'script.js', 'journal.jsonl']) {
      const text = readFileSync(join(project.runDir(template), name), 'utf8').replaceAll(template, id);
      writeFileSync(join(project.runDir(id), name), text);
    }
  }
  expect(project.runIds()).toHaveLength(60);
  expect(await runWf(['run', 'flow.js', ...MOCK], { project })).toMatchObject({ code: 0 });
  expect(project.runIds()).toHaveLength(50);
  expect(readState(project).status).toBe('completed');
  expect(newestRun(project)).not.toBe(template);
});
