/** Cases that went wrong elsewhere: keys, failures, stops, and what a resume may not lose. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readRun } from '../../src/index.js';
import { makeFakeBackend } from '../support/fake-backend.js';
import { journalFile, journalLine, waitForJournalLines } from '../support/journal.js';
import { readJsonLines } from '../support/json-lines.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { copyProject, hitsIn, idOf, killRun, linesOf, listRuns, madeIn, run, snapshot } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

const meta = (name: string): string => `export const meta = { name: '${name}', description: 'A case' }\n`;
const FAN = (labels: readonly string[]): string =>
  `${meta('fan')}return await parallel(${JSON.stringify(labels)}.map((x) => () => agent('do ' + x, { label: x })))\n`;

it('B-008 args count by their value: the stored ones are used, another spelling is the same, a change costs what it touches', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('flow')}return [await agent('b ' + args.b, { label: 'b' }), await agent('a ' + args.a[0], { label: 'a' })]\n`,
    },
  });
  const first = await run(project, ['flow.js', '--backend', 'mock', '--args', '{"b":1,"a":[2]}']);
  const stored = await run(project, ['--resume-from', first.id]);
  expect(stored.state.counts).toMatchObject({ reused: 2, executed: 0 });
  expect(stored.result).toEqual(first.result);
  const spelled = await run(project, ['--resume-from', first.id, '--args', '{ "a": [ 2 ],\n "b": 1 }']);
  expect(spelled.state.counts).toMatchObject({ reused: 2, executed: 0 });
  expect([spelled.result, stored.stderr + spelled.stderr]).toEqual([
    first.result,
    expect.not.stringContaining('The args differ'),
  ]);
  const other = await run(project, ['--resume-from', first.id, '--args', '{"a":[3],"b":1}']);
  expect(other.state.counts).toMatchObject({ reused: 1, executed: 1 });
  expect(other.stderr).toContain('The args differ');
  expect(madeIn(project, other.id).map(({ prompt }) => prompt)).toEqual(['a 3']);
});

it('B-012 calls that ask for a worktree are reused like others; one that failed runs again', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('flow')}return await parallel(['x', 'y', 'z'].map((label) => () => agent('do ' + label, { label, isolation: 'worktree' })))\n`,
      'broken.json': JSON.stringify([{ when: { label: 'z' }, error: 'failed' }]),
      'fine.json': '[]',
    },
    git: true,
  });
  const first = await run(project, ['flow.js', '--backend', 'mock', '--mock', 'broken.json', '--retries', '0']);
  expect(first.code).toBe(3);
  const second = await run(project, ['--resume-from', first.id, '--mock', 'fine.json']);
  expect(second.state.counts).toMatchObject({ reused: 2, executed: 1, failed: 0 });
  expect(hitsIn(project, second.id).map(({ label }) => label)).toEqual(['x', 'y']);
});

it('B-013 work handed over through a file: the later call is reused, the report says so; cache: false and another salt make it run', async () => {
  const script = (
    options = '',
  ): string => `${meta('flow')}const done = await agent('write notes.txt', { label: 'write' })
return [done !== null, await agent('summarise notes.txt', { label: 'sum'${options} })]
`;
  const project = makeProject({
    files: { 'flow.js': script(), 'off.js': script(', cache: false'), 'salt.js': script(', salt: args.day') },
  });
  const agent = makeShellAgent(project, { write: { fail: 1 } });
  const firsts = [];
  for (const name of ['flow.js', 'off.js', 'salt.js'])
    firsts.push(await run(project, [name, '--arg', 'day=mon', ...agent.flags]));
  agent.setRules({});
  const [one, two, three] = firsts.map(({ id }) => id) as [string, string, string];
  const plain = await run(project, ['--resume-from', one]);
  expect(agent.started(plain.id)).toEqual(['write']);
  const notice = '1 recorded answer was replayed although an earlier call ran live (#1 write; then reused: #2 sum)';
  expect(plain.stderr).toContain(notice);
  expect(plain.state.notices).toContainEqual(expect.stringContaining(notice));
  const off = await run(project, ['--resume-from', two]);
  expect(agent.started(off.id)).toEqual(['write', 'sum']);
  expect(off.stderr).not.toContain('replayed although');
  const sameDay = await run(project, ['--resume-from', three]);
  expect(agent.started(sameDay.id)).toEqual(['write']);
  const salted = await run(project, ['--resume-from', three, '--arg', 'day=tue']);
  expect(agent.started(salted.id)).toEqual(['write', 'sum']);
  const prefix = await run(project, ['--resume-from', one, '--match', 'prefix']);
  expect(agent.started(prefix.id)).toEqual(['write', 'sum']);
});

it('B-014 a run killed before its first result resumes without a word of damage; one whose records are gone says what runs', async () => {
  const project = makeProject({ files: { 'fan.js': FAN(['A', 'B']) } });
  const agent = makeShellAgent(project, { '*': { gate: 'g' } });
  const first = startWf(['run', 'fan.js', ...agent.flags], { project });
  await agent.waitForStarts(2);
  const one = await killRun(first);
  expect(statSync(journalFile(project, one) as string).size).toBe(0);
  agent.openAllGates();
  const second = await run(project, ['--resume-from', one]);
  expect(second.state.counts).toMatchObject({ reused: 0, executed: 2 });
  expect(second.stderr).not.toMatch(/journal of the source|unreadable/);
  writeFileSync(journalFile(project, second.id) as string, '');
  const third = await run(project, ['--resume-from', second.id]);
  expect(third.stderr).toMatch(
    /The journal of the source run is \d+ bytes shorter than its record says: what is missing runs again/,
  );
  expect(third.state.counts).toMatchObject({ reused: 0, executed: 2 });
});

it('B-015 a run is found from a subdirectory, another shell and a linked worktree; in a moved project with its own folder', async () => {
  const project = makeProject({ files: { 'fan.js': FAN(['A']), 'deep/er/x.txt': '' }, git: true });
  const first = await run(project, ['fan.js', '--backend', 'mock']);
  const reused = { reused: 1, executed: 0 };
  for (const options of [
    { cwd: project.path('deep', 'er') },
    { env: { SHELL: '/bin/other', PWD: '/', TMPDIR: project.control } },
  ]) {
    expect((await run(project, ['--resume-from', first.id], options)).state.counts).toMatchObject(reused);
  }
  const tree = join(project.root, 'tree');
  project.git('worktree', 'add', '--quiet', tree);
  const inTree = await runWf(['run', '--resume-from', first.id], { project, cwd: tree });
  expect([inTree.code, inTree.stderr]).toEqual([0, expect.stringContaining('1 reused, 0 executed')]);
  // A copy stands for a moved project; from a folder that knows nothing of the run it is refused.
  const moved = await runWf(['run', '--resume-from', first.id], { project, cwd: copyProject(project) });
  expect([moved.code, moved.stderr]).toEqual([0, expect.stringContaining('1 reused, 0 executed')]);
  writeFileSync(join(project.home, 'fan.js'), FAN(['A']));
  const elsewhere = await runWf(['run', 'fan.js', '--resume-from', first.id, '--backend', 'mock'], {
    project,
    cwd: project.home,
  });
  expect([elsewhere.code, elsewhere.stderr]).toEqual([
    2,
    expect.stringMatching(new RegExp(`WF_RUN_UNKNOWN: There is no run ${first.id}.*\\n.*→ .wf ls. lists the runs`)),
  ]);
  expect(existsSync(join(project.home, '.claude'))).toBe(false);
  // And where it is moved in earnest.
  const place = join(project.root, 'moved');
  renameSync(project.dir, place);
  const there = await runWf(['run', '--resume-from', first.id], { project, cwd: place });
  expect([there.code, there.stderr]).toEqual([0, expect.stringContaining('1 reused, 0 executed')]);
});

it('B-020 an error that a script puts into a prompt has the same text live, replayed and in another run', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('flow')}const whys = []
const attempt = async (work) => { try { await work() } catch (error) { whys.push(error.name + ': ' + error.message) } }
await attempt(() => workflow('missing'))
await attempt(() => agent('give json', { label: 'json', schema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } }))
await attempt(() => agent('typed', { label: 'typed', agentType: 'nobody' }))
await attempt(() => workflow('broken'))
return await agent('explain ' + whys.join('\\n'), { label: 'explain' })
`,
      '.claude/workflows/broken.js': `${meta('broken')}throw new Error('broken here')\n`,
    },
  });
  const agent = makeShellAgent(project, { json: { reply: 'no json' } });
  const first = await run(project, ['flow.js', ...agent.flags]);
  const again = await run(project, ['flow.js', ...agent.flags]);
  const resumed = await run(project, ['--resume-from', first.id]);
  const promptOf = (id: string): string =>
    String(linesOf(project, id).find(({ label }) => label === 'explain')?.prompt);
  expect(promptOf(first.id).split('\n').length).toBeGreaterThanOrEqual(4);
  expect(promptOf(again.id)).toBe(promptOf(first.id));
  expect(hitsIn(project, resumed.id).map(({ label }) => label)).toEqual(['explain']);
  expect(promptOf(first.id)).not.toContain(project.root);
  expect(promptOf(first.id)).not.toMatch(/\bpid\b|attempt \d|\d\d:\d\d/);
}, 120_000);

it('B-021 an answer that no longer fits its schema, or that has no payload, is a miss with a warning; the others are hits', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('flow')}const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }
return await parallel(['p', 'q', 'r'].map((label) => () => agent('do ' + label, { label, schema })))
`,
    },
  });
  const agent = makeShellAgent(project, { '*': { reply: '{"a": 1}' } });
  const first = await run(project, ['flow.js', ...agent.flags]);
  const file = journalFile(project, first.id) as string;
  const lines = readFileSync(file, 'utf8').split(/(?<=\n)/);
  const change = (label: string, edit: (line: Record<string, unknown>) => Record<string, unknown>): void => {
    const at = lines.findIndex((line) => JSON.parse(line).label === label);
    lines[at] = journalLine(edit(JSON.parse(lines[at] as string)));
  };
  change('p', (line) => ({ ...line, output: { a: 'text' }, size: 12 }));
  change('q', (line) => ({ ...line, output: undefined }));
  writeFileSync(file, lines.join(''));
  const second = await run(project, ['--resume-from', first.id]);
  expect(agent.started(second.id).sort()).toEqual(['p', 'q']);
  expect(second.result).toEqual([{ a: 1 }, { a: 1 }, { a: 1 }]);
  expect(second.stderr).toMatch(/warning: WF_HIT_MISFIT: .*p/);
  expect(second.stderr).toContain('1 unreadable line');
});

it('B-022 whatever way a call failed, it runs again: limit, schema, crash, nothing said, killed', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('flow')}const ask = (label, more) => agent('do ' + label, { label, ...more }).catch(() => null)
return await Promise.all([ask('slow', { timeoutMs: args.limit }), ask('shape', { schema: { type: 'number' } }), ask('crash'), ask('killed'), ask('fine')])
`,
    },
  });
  const backend = makeFakeBackend(project, {
    rules: { slow: { hang: true }, shape: { raw: '{}' }, crash: { fail: 9 }, killed: { dieBy: 'SIGKILL' } },
  });
  const first = await run(project, ['flow.js', '--retries', '0', '--arg', 'limit:=400', ...backend.flags]);
  expect([first.code, (first.result as unknown[]).slice(0, 4)]).toEqual([3, [null, null, null, null]]);
  backend.setRules({ shape: { raw: '5' } });
  const second = await run(project, ['--resume-from', first.id, '--arg', 'limit:=60000']);
  expect(
    madeIn(project, second.id)
      .map(({ label }) => label)
      .sort(),
  ).toEqual(['crash', 'killed', 'shape', 'slow']);
  expect(second.state.counts).toMatchObject({ reused: 1, executed: 4, failed: 0 });
}, 120_000);

it('B-023 labels never identify an answer: an edited prompt runs under its old label, and equal labels keep their own', async () => {
  const script = (text: string): string =>
    `${meta('flow')}return [await agent('${text}', { label: 'review' }), await agent('other', { label: 'review' })]\n`;
  const project = makeProject({ files: { 'flow.js': script('first') } });
  const agent = makeShellAgent(project, { review: { reply: '$prompt by $$' } });
  const first = await run(project, ['flow.js', ...agent.flags]);
  const same = await run(project, ['--resume-from', first.id]);
  expect(same.result).toEqual(first.result);
  project.write('flow.js', script('second'));
  const second = await run(project, ['flow.js', '--resume-from', first.id]);
  expect(second.state.counts).toMatchObject({ reused: 1, executed: 1 });
  expect(second.result).toEqual([expect.stringMatching(/^second by/), (first.result as string[])[1]]);
});

it('B-029 a state.json that is empty, half or a folder takes no other run with it, and no answer', async () => {
  const project = makeProject({ files: { 'fan.js': FAN(['A']) } });
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) ids.push((await run(project, ['fan.js', '--backend', 'mock'])).id);
  const state = (i: number): string => join(project.runDir(ids[i] as string), 'state.json');
  writeFileSync(state(0), '');
  writeFileSync(state(1), readFileSync(state(1), 'utf8').slice(0, 80));
  rmSync(state(2));
  mkdirSync(state(2));
  const before = ids.map((id) => snapshot(project.runDir(id)));
  const ls = await listRuns(project);
  expect(ls.map(({ runId }) => runId).sort()).toEqual([...ids].sort());
  const damaged = (i: number): string | undefined => ls.find(({ runId }) => runId === ids[i])?.damaged;
  expect([0, 1, 2, 3].map(damaged)).toEqual([
    expect.stringContaining('state.json is empty'),
    expect.stringContaining('state.json is not JSON'),
    expect.stringContaining('state.json is not a file'),
    undefined,
  ]);
  for (const id of ids.slice(0, 3)) {
    const shown = await runWf(['show', id, '--json'], { project });
    expect(JSON.parse(shown.stdout)).toMatchObject({ calls: [{ label: 'A', status: 'ok' }] });
    const resumed = await run(project, ['--resume-from', id]);
    expect([resumed.code, resumed.state.counts.reused]).toEqual([0, 1]);
  }
  expect(ids.map((id) => snapshot(project.runDir(id)))).toEqual(before);
}, 120_000);

it.each(['SIGINT', 'SIGKILL', 'wf stop'] as const)(
  'B-030 B-031 twenty agents, ended by %s after seven answers: the journal only grew, the status is seen, seven are hits',
  async (signal) => {
    const labels = [...Array(20).keys()].map((i) => `a${i}`);
    const project = makeProject({ files: { 'fan.js': FAN(labels) } });
    const agent = makeShellAgent(
      project,
      Object.fromEntries(labels.map((label, i) => [label, i % 3 === 0 ? {} : { gate: 'g' }])),
    );
    const first = startWf(['run', 'fan.js', '--concurrency', '20', ...agent.flags], { project });
    await waitForJournalLines(project, 7);
    await agent.waitForStarts(20);
    const journal = journalFile(project) as string;
    const before = readFileSync(journal, 'utf8');
    if (signal === 'SIGINT') first.kill(signal);
    if (signal === 'wf stop') {
      const stopped = await runWf(['stop', project.runIds().at(-1) as string], { project });
      expect([stopped.code, stopped.stderr]).toEqual([0, '']);
    }
    const id = signal === 'SIGKILL' ? await killRun(first) : idOf((await first.done).stderr);
    expect(readFileSync(journal, 'utf8').startsWith(before)).toBe(true);
    const ls = JSON.parse((await runWf(['ls', '--json', '-n', '1'], { project })).stdout);
    expect(ls).toMatchObject([{ runId: id, status: signal === 'SIGKILL' ? 'interrupted' : 'cancelled' }]);
    const shown = await runWf(['show', id], { project });
    expect(shown.stdout).toContain(`To go on: wf run --resume-from ${id}\n`);
    agent.openAllGates();
    const second = await run(project, ['--resume-from', id]);
    expect(second.state.counts).toMatchObject({ reused: 7, executed: 13 });
    expect(second.stderr).toContain('13 calls of the source run were started and have no result recorded');
  },
);

it('B-035 as soon as a resume has started anything, its record says running, with its own process', async () => {
  const project = makeProject({ files: { 'fan.js': FAN(['A', 'B']) } });
  const agent = makeShellAgent(project, { B: { gate: 'b' } });
  const first = startWf(['run', 'fan.js', ...agent.flags], { project });
  await agent.waitFor('ok', 'A');
  await waitForJournalLines(project, 1);
  const one = await killRun(first);
  const second = startWf(['run', '--resume-from', one], { project });
  const start = await agent.waitFor('start', 'B', 2);
  const record = JSON.parse(readFileSync(join(project.runDir(start.runId), 'run.json'), 'utf8'));
  expect(record).toMatchObject({ status: 'running', owner: { pid: second.pid }, copied: true });
  agent.openAllGates();
  expect((await second.done).code).toBe(0);
});

it('B-036 after a crash at any point of the journal the counts are those of its lines', async () => {
  const project = makeProject({ files: { 'fan.js': FAN(['A', 'B', 'C', 'D']) } });
  const agent = makeShellAgent(project, { C: { fail: 1 } });
  const { id } = await run(project, ['fan.js', ...agent.flags]);
  const folder = project.runDir(id);
  const journal = readFileSync(join(folder, 'journal.jsonl'));
  const record = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
  // As a kill would leave it.
  rmSync(join(folder, 'state.json'));
  writeFileSync(join(folder, 'run.json'), JSON.stringify({ ...record, status: 'running', endedAt: null }));
  const events = readFileSync(join(folder, 'events.jsonl'));
  for (let cut = 0; cut <= journal.length; cut += 37) {
    writeFileSync(join(folder, 'journal.jsonl'), journal.subarray(0, cut));
    const whole = readJsonLines(journal.subarray(0, cut).toString());
    for (const account of [events, events.subarray(0, events.length >> 1), Buffer.alloc(0)]) {
      writeFileSync(join(folder, 'events.jsonl'), account);
      const view = readRun(id, { cwd: project.dir, home: project.home, env: project.env });
      const ok = whole.filter(({ kind }) => kind === 'ok').length;
      expect([view.status, view.counts.ok]).toEqual(['interrupted', ok]);
      expect(view.calls.filter(({ status }) => status === 'ok')).toHaveLength(ok);
      const open = view.counts.calls - view.counts.ok - view.counts.failed - view.counts.recovered;
      expect(view.counts.noResult).toBe(open);
    }
  }
});

it('B-039 a result of 2 MB is whole on stdout and in the run folder', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('flow')}return { rows: Array.from({ length: 20000 }, (_, i) => ({ i, text: 'x'.repeat(90) })) }\n`,
    },
  });
  const ended = await run(project, ['flow.js', '--backend', 'mock']);
  expect(ended.stdout.length).toBeGreaterThan(2_000_000);
  expect((ended.result as { rows: unknown[] }).rows).toHaveLength(20_000);
  expect(ended.state.result).toEqual(ended.result);
});

it('B-044 two of three children had ended: they are replayed, the third runs what it lacks, the block has three values', async () => {
  const child = (name: string): string =>
    `${meta(name)}const a = await agent('${name} one', { label: '${name}1' })\nreturn [a, await agent('${name} two ' + a, { label: '${name}2' })]\n`;
  const project = makeProject({
    files: {
      ...Object.fromEntries(['fastA', 'slow', 'fastB'].map((name) => [`.claude/workflows/${name}.js`, child(name)])),
      'flow.js': `${meta('flow')}return await parallel(['fastA', 'slow', 'fastB'].map((name) => () => workflow(name)))\n`,
    },
  });
  const agent = makeShellAgent(project, { slow2: { gate: 's' } });
  const first = startWf(['run', 'flow.js', ...agent.flags], { project });
  await agent.waitFor('start', 'slow2');
  await waitForJournalLines(project, 8);
  const one = await killRun(first);
  agent.openAllGates();
  const second = await run(project, ['--resume-from', one]);
  expect(agent.started(second.id)).toEqual(['slow2']);
  expect((second.result as string[][]).map((pair) => pair.map((text) => text.split(' ')[0]))).toEqual([
    ['fastA1', 'fastA2'],
    ['slow1', 'slow2'],
    ['fastB1', 'fastB2'],
  ]);
});

it('B-068 two calls swapped, one put between, one taken out: the run finishes, moved calls are hits, the unused one is told', async () => {
  const script = (calls: string): string =>
    `${meta('flow')}const out = []\nfor (const x of ${calls}) out.push(await agent('do ' + x, { label: x }))\nreturn out\n`;
  const project = makeProject({ files: { 'flow.js': script("['A', 'B', 'C', 'D']") } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['flow.js', ...agent.flags]);
  project.write('flow.js', script("['B', 'new', 'A', 'D']"));
  const second = await run(project, ['flow.js', '--resume-from', first.id]);
  expect(agent.started(second.id)).toEqual(['new']);
  expect(second.stderr).toMatch(/from .*, 4 recorded results, 1 not asked for/);
  expect(second.state.counts).toMatchObject({ reused: 3, executed: 1 });
  // What was not asked for is not lost.
  const third = await run(project, ['--resume-from', second.id]);
  expect(third.state.counts).toMatchObject({ reused: 4, executed: 0 });
  project.write('flow.js', script("['A', 'B', 'C', 'D']"));
  const back = await run(project, ['flow.js', '--resume-from', third.id]);
  expect(back.state.counts).toMatchObject({ reused: 4, executed: 0 });
  expect(back.result).toEqual(first.result);
});
