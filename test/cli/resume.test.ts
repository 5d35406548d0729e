/** What a resume reuses, what it runs, and what it does with ids, damage and the run that it comes from. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { journalFile, waitForJournalLines } from '../support/journal.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { P3, S3 } from './cli-kit.js';
import { needTool } from './support/need-tool.js';
import { copyProject, hitsIn, idOf, killRun, linesOf, listRuns, madeIn, run, snapshot } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

it('J9 J10 J13 K(B), resume, K(C), first folder removed, resume: A ran once, B twice, C twice, answers are the first ones', async () => {
  const project = makeProject({ files: { 'three.js': S3 } });
  const backend = makeFakeBackend(project, { gated: ['B', 'C'] });
  const counts = (): number[] => ['A', 'B', 'C'].map((label) => backend.ledger.starts(label).length);
  const first = startWf(['run', 'three.js', ...backend.flags], { project });
  await backend.waitForStart('B');
  const one = await killRun(first);
  expect(counts()).toEqual([1, 1, 0]);

  backend.openGate('B');
  const second = startWf(['run', '--resume-from', one], { project });
  await backend.waitForStart('C');
  const two = await killRun(second);
  expect(counts()).toEqual([1, 2, 1]);

  rmSync(project.runDir(one), { recursive: true });
  backend.openGate('C');
  const third = await run(project, ['--resume-from', two]);
  expect(third.code).toBe(0);
  expect(counts()).toEqual([1, 2, 2]);
  const nonces = backend.ledger.ends().map(({ label, nonce }) => `${label} answered #${nonce}`);
  expect(third.result).toEqual({ a: nonces[0], b: nonces[1], c: nonces[2] });
  // Hits are named with the run that made them.
  expect(hitsIn(project, third.id)).toHaveLength(2);
  expect(third.state.counts).toMatchObject({ reused: 2, executed: 1 });
  const show = JSON.parse((await runWf(['show', third.id, '--json'], { project })).stdout);
  expect(show.calls.map((call: { reused: boolean; from: string }) => [call.reused, call.from])).toEqual([
    [true, one],
    [true, two],
    [false, null],
  ]);
});

it('J11 reuse works per call, whatever finished first: B and C are done, A was killed', async () => {
  const project = makeProject({ files: { 'fan.js': P3 } });
  const backend = makeFakeBackend(project, { gated: ['A'] });
  const first = startWf(['run', 'fan.js', ...backend.flags], { project });
  await waitForJournalLines(project, 2);
  const id = await killRun(first);
  backend.openGate('A');
  const second = await run(project, ['--resume-from', id]);
  expect(['A', 'B', 'C'].map((label) => backend.ledger.starts(label).length)).toEqual([2, 1, 1]);
  expect(second.result).toEqual([
    expect.stringMatching(/^A answered #\d+$/),
    ...['B', 'C'].map((label) => `${label} answered #${backend.ledger.ends(label)[0]?.nonce}`),
  ]);
});

it('J11 a run that finished in the order C, B, A replays whole and in that order', async () => {
  const project = makeProject({
    files: {
      'fan.js': `export const meta = { name: 'fan', description: 'Three calls at once' }
const order = []
const ask = (x) => agent('do ' + x, { label: x }).then((answer) => (order.push(x), answer))
const all = await parallel(['A', 'B', 'C'].map((x) => () => ask(x)))
return { all, order }
`,
    },
  });
  const backend = makeFakeBackend(project, { gated: ['A', 'B', 'C'] });
  const first = startWf(['run', 'fan.js', ...backend.flags], { project });
  await backend.waitForStarts(3);
  for (const [i, label] of ['C', 'B', 'A'].entries()) {
    backend.openGate(label);
    await waitForJournalLines(project, i + 1);
  }
  const ended = await first.done;
  expect(JSON.parse(ended.stdout).order).toEqual(['C', 'B', 'A']);
  const second = await run(project, ['--resume-from', idOf(ended.stderr)]);
  expect(second.result).toEqual(JSON.parse(ended.stdout));
  expect(backend.ledger.starts()).toHaveLength(3);
  expect(second.state.counts).toMatchObject({ reused: 3, executed: 0 });
});

it.each([
  ['in sequence', "return [await agent('x'), await agent('x'), await agent('x')]"],
  ['in parallel', "return await parallel([1, 2, 3].map(() => () => agent('x')))"],
])('J12 equal calls %s keep their own answers: two old ones once each, and one new', async (_, body) => {
  const project = makeProject({
    files: { 'equal.js': `export const meta = { name: 'equal', description: 'Equal calls' }\n${body}\n` },
  });
  const backend = makeFakeBackend(project, { rules: [{ when: { label: 'x', nth: 3 }, behaviour: { gate: true } }] });
  const first = startWf(['run', 'equal.js', ...backend.flags], { project });
  await backend.waitForStarts(3);
  const file = await waitForJournalLines(project, 2);
  const id = await killRun(first);
  expect(file).toBe(journalFile(project, id));
  const old = madeIn(project, id).map(({ output }) => output);
  const second = await run(project, ['--resume-from', id]);
  expect(backend.ledger.starts()).toHaveLength(4);
  const answers = second.result as string[];
  expect(new Set(answers).size).toBe(3);
  expect(answers.filter((answer) => old.includes(answer)).sort()).toEqual([...old].sort());
});

it('J14 a failed call is not reused; it runs again and its answer is seen', async () => {
  const project = makeProject({ files: { 'three.js': S3 } });
  const backend = makeFakeBackend(project, { rules: { A: { fail: 1, stderr: ['out of paper'] } } });
  const first = await run(project, ['three.js', ...backend.flags]);
  expect(first.code).toBe(3);
  expect(first.result).toMatchObject({ a: null, b: expect.any(String) });
  backend.setRules({});
  const second = await run(project, ['--resume-from', first.id]);
  expect(second.code).toBe(0);
  expect(second.result).toMatchObject({
    a: expect.stringMatching(/^A answered/),
    b: (first.result as { b: string }).b,
  });
  expect(['A', 'B', 'C'].map((label) => backend.ledger.starts(label).length)).toEqual([2, 1, 1]);
  // It is new work for the agent; a call without a result would have kept its key.
  const keys = backend.ledger.starts('A').map(({ key }) => key);
  expect(new Set(keys).size).toBe(2);
});

it('J10 a call that had no result keeps its key over the resume', async () => {
  const project = makeProject({ files: { 'three.js': S3 } });
  const backend = makeFakeBackend(project, { gated: ['B'] });
  const first = startWf(['run', 'three.js', ...backend.flags], { project });
  await backend.waitForStart('B');
  const id = await killRun(first);
  backend.openGate('B');
  await run(project, ['--resume-from', id]);
  const [a, b1, b2, c] = backend.ledger.starts().map(({ key }) => key);
  expect(b1).toBe(b2);
  expect(new Set([a, b1, c]).size).toBe(3);
});

it('J15 a call is reused for what was asked of it: labels, phases and the order of members do not count, all else does', async () => {
  const project = makeProject({
    files: {
      '.claude/agents/reviewer.md': '---\nname: reviewer\ndescription: Reviews\n---\nReview.\n',
      '.claude/agents/writer.md': '---\nname: writer\ndescription: Writes\n---\nWrite.\n',
      '.claude/agents/editor.md': '---\nname: editor\ndescription: Edits\n---\nEdit.\n',
      'sub/keep.txt': '',
      'asks.js': `export const meta = { name: 'asks', description: 'One call for each option' }
const object = (properties) => ({ type: 'object', properties })
const text = { type: 'string' }
const cases = {
  same: [{}, {}],
  label: [{ label: 'label' }, { label: 'label again' }],
  phase: [{ phase: 'One' }, { phase: 'Two' }],
  limits: [{ timeoutMs: 50000, retries: 1 }, { timeoutMs: 60000, retries: 2 }],
  members: [{ schema: { type: 'object', properties: { a: text, b: text } } }, { schema: { properties: { b: text, a: text }, type: 'object' } }],
  absent: [{ model: undefined, tools: null }, {}],
  prompt: [{}, { prompt: 'do prompt!' }],
  space: [{}, { prompt: 'do space ' }],
  model: [{ model: 'small' }, { model: 'large' }],
  modelAdded: [{}, { model: 'large' }],
  effort: [{ effort: 'low' }, { effort: 'high' }],
  schema: [{ schema: object({ a: text }) }, { schema: object({ a: { type: 'number' } }) }],
  tools: [{ tools: ['Read'] }, { tools: ['Read', 'Bash'] }],
  disallowedTools: [{ disallowedTools: ['Bash'] }, { disallowedTools: [] }],
  agentType: [{ agentType: 'reviewer' }, { agentType: 'writer' }],
  definition: [{ agentType: 'editor' }, { agentType: 'editor' }],
  cwd: [{}, { cwd: 'sub' }],
  salt: [{ salt: 1 }, { salt: 2 }],
  backend: [{}, { backend: 'command' }],
}
return await parallel(Object.entries(cases).map(([name, both]) => () => {
  const { prompt = 'do ' + name, label = name, ...options } = both[args.which]
  return agent(prompt, { label, ...options })
}))
`,
    },
  });
  const agent = makeShellAgent(project, { '*': { reply: '{}' } });
  const first = await run(project, ['asks.js', '--arg', 'which:=0', ...agent.flags]);
  expect(first.code).toBe(0);
  expect(agent.started()).toHaveLength(19);
  project.write('.claude/agents/editor.md', '---\nname: editor\ndescription: Edits\n---\nEdit less.\n');
  const second = await run(project, ['--resume-from', first.id, '--arg', 'which:=1']);
  expect(second.code).toBe(0);
  expect(agent.started(second.id).sort()).toEqual(
    [
      ...['prompt', 'space', 'model', 'modelAdded', 'effort', 'schema', 'tools', 'disallowedTools', 'agentType'],
      ...['definition', 'cwd', 'salt', 'backend'],
    ].sort(),
  );
});

it('R1 only a whole UUID names the run of a resume; anything else is exit 2 and touches nothing', async () => {
  const project = makeProject({ files: { 'three.js': S3 } });
  const { id } = await run(project, ['three.js', '--backend', 'mock']);
  const before = snapshot(project.root);
  const bad = [
    'x',
    '',
    '../a',
    `${id}/..`,
    `../${id}`,
    `{${id}}`,
    `urn:uuid:${id}`,
    `${id}0`,
    id.slice(0, 8),
    `${id}\n`,
    id.replaceAll('-', ''),
    '../../../../../../etc/passwd',
  ];
  for (const text of bad) {
    const { code, stderr, stdout } = await runWf(['run', 'three.js', '--resume-from', text, '--backend', 'mock'], {
      project,
    });
    expect([text, code, stdout]).toEqual([text, 2, '']);
    expect(stderr).toContain('WF_RUN_ID');
  }
  const unknown = '0b5ad1c3-6a0e-4c8e-9d53-0f3b8f4b2c11';
  for (const more of [[], ['three.js']]) {
    const { code, stderr } = await runWf(['run', ...more, '--resume-from', unknown, '--backend', 'mock'], { project });
    expect([code, stderr]).toEqual([2, expect.stringContaining(`no run ${unknown}`)]);
  }
  expect(snapshot(project.root)).toEqual(before);
  // Capitals are the same id.
  const upper = await run(project, ['--resume-from', id.toUpperCase()]);
  expect([upper.code, upper.state.counts.reused]).toEqual([0, 3]);
}, 120_000);

it('R2 without a readable journal a resume goes on, says so once, and runs everything', async (context) => {
  const project = makeProject({ files: { 'three.js': S3 } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['three.js', ...agent.flags]);
  const journal = journalFile(project, first.id) as string;
  const bytes = readFileSync(journal);

  const expectAllRun = async (options: Parameters<typeof run>[2] = {}): Promise<void> => {
    const resumed = await run(project, ['--resume-from', first.id], options);
    expect(resumed.code).toBe(0);
    expect(agent.started(resumed.id)).toEqual(['A', 'B', 'C']);
    expect(resumed.stderr.match(/The journal of the source run[^\n]*every call runs/g)).toHaveLength(1);
    expect(linesOf(project, resumed.id)).toHaveLength(3);
  };

  rmSync(journal);
  await expectAllRun();
  mkdirSync(journal);
  await expectAllRun();
  rmSync(journal, { recursive: true });
  writeFileSync(journal, bytes);
  chmodSync(journal, 0);
  if (process.getuid?.() !== 0) return await expectAllRun();
  // Permissions do not bind root, so the resume is run as somebody else.
  const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  const canRun = spawnSync(nobody[0] as string, [...nobody.slice(1), process.execPath, '--version'], {
    stdio: 'ignore',
  });
  if (canRun.status !== 0) return context.skip('root, and no other user can run this Node here');
  spawnSync('chown', ['-R', '65534:65534', project.root]);
  await expectAllRun({ under: nobody });
});

it('R5 R6 a journal that cannot grow for a while: warned once, the run goes on, later lines are sound, nothing is lost', async (context) => {
  needTool(context, 'prlimit');
  const project = makeProject({ files: { 'three.js': S3 } });
  const backend = makeFakeBackend(project, {
    gated: ['A', 'B', 'C'],
    rules: { A: { bytes: 20_000 }, B: { bytes: 20_000 } },
  });
  const running = startWf(['run', 'three.js', ...backend.flags], { project });
  await backend.waitForStart('A');
  const limit = (size: string): void => {
    expect(spawnSync('prlimit', ['--pid', String(running.pid), `--fsize=${size}:`]).status).toBe(0);
  };
  // A fits, B ends in the middle of its line.
  limit('30000');
  backend.openGate('A');
  await backend.waitForStart('B');
  backend.openGate('B');
  await running.waitForStderr(/The journal cannot be written \(EFBIG\)/);
  await backend.waitForStart('C');
  const file = journalFile(project) as string;
  expect(statSync(file).size).toBe(30_000);
  limit('unlimited');
  backend.openGate('C');
  const ended = await running.done;
  expect(ended.code).toBe(0);
  expect(ended.stderr.match(/The journal cannot be written/g)).toHaveLength(1);
  const texts = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  expect(texts).toHaveLength(4);
  const second = await run(project, ['--resume-from', idOf(ended.stderr)]);
  expect(second.result).toEqual(JSON.parse(ended.stdout));
  expect(second.state.counts).toMatchObject({ reused: 3, executed: 0 });
  expect(second.stderr).toContain('1 unreadable line (line 2: torn)');
});

it('R5 a journal that could not be written to the end: exit 0, the right result, and the record says so', async (context) => {
  needTool(context, 'prlimit');
  const project = makeProject({ files: { 'three.js': S3 } });
  const backend = makeFakeBackend(project, { gated: ['B'], rules: { A: { bytes: 20_000 }, B: { raw: 'short' } } });
  const running = startWf(['run', 'three.js', '--output', 'out.json', ...backend.flags], { project });
  await backend.waitForStart('B');
  // Its other files are smaller than the journal is by now; the result, which holds the long answer, is not.
  const size = statSync(journalFile(project) as string).size;
  expect(spawnSync('prlimit', ['--pid', String(running.pid), `--fsize=${size + 10}:`]).status).toBe(0);
  project.write('.keep', '');
  backend.openGate('B');
  const ended = await running.done;
  expect(ended.code).toBe(0);
  expect(ended.stderr.match(/The journal cannot be written/g)).toHaveLength(1);
  expect(ended.stderr).toMatch(/journal +incomplete/);
  const id = idOf(ended.stderr);
  const second = await run(project, ['--resume-from', id]);
  expect(second.state.counts).toMatchObject({ reused: 1, executed: 2 });
});

it('R5 a disk that is full when the run ends and free a moment later: nothing is missing', async (context) => {
  needTool(context, 'prlimit');
  const project = makeProject({ files: { 'three.js': S3 } });
  const backend = makeFakeBackend(project, { gated: ['B'] });
  // The agents must not share the limit.
  const argv = JSON.stringify(['prlimit', '--fsize=unlimited:', ...backend.argv]);
  const running = startWf(['run', 'three.js', '--backend', 'command', '--command', argv], { project });
  await backend.waitForStart('B');
  const limit = (size: string): void => {
    expect(spawnSync('prlimit', ['--pid', String(running.pid), `--fsize=${size}:`]).status).toBe(0);
  };
  limit(String(statSync(journalFile(project) as string).size + 10));
  backend.openGate('B');
  // The last two answers come within milliseconds: the run ends while its lines wait for the disk.
  await running.waitForStderr(/The journal cannot be written/);
  limit('unlimited');
  const ended = await running.done;
  expect(ended.code).toBe(0);
  expect(ended.stderr).not.toMatch(/incomplete|could not be written/);
  const second = await run(project, ['--resume-from', idOf(ended.stderr)]);
  expect(second.state.counts).toMatchObject({ reused: 3, executed: 0 });
});

it('R7 a resume is a new run; the folder of the old one stays as it is, to the nanosecond', async () => {
  const project = makeProject({ files: { 'three.js': S3 } });
  const backend = makeFakeBackend(project, { gated: ['B'] });
  const first = startWf(['run', 'three.js', ...backend.flags], { project });
  await backend.waitForStart('B');
  const old = await killRun(first);
  const before = snapshot(project.runDir(old));
  backend.openGate('B');
  const second = await run(project, ['--resume-from', old]);
  expect(second.code).toBe(0);
  expect(snapshot(project.runDir(old))).toEqual(before);
  expect(second.id).not.toBe(old);
  expect(second.stderr.split('\n')[0]).toContain(second.id);
  const ls = await listRuns(project);
  expect(ls.map(({ runId, resumedFrom }) => [runId, resumedFrom])).toEqual([
    [second.id, old],
    [old, null],
  ]);
  // A second resume of the complete run, and one of the old run: nothing is written there either.
  await run(project, ['--resume-from', second.id]);
  await runWf(['show', old], { project });
  expect(snapshot(project.runDir(old))).toEqual(before);
});

it('R9 before a resume one sees where the run stopped, also in a copy of the folder', async () => {
  const project = makeProject({ files: { 'three.js': S3.replace('const b', "phase('Second')\nconst b") } });
  const backend = makeFakeBackend(project, { gated: ['B'] });
  const first = startWf(['run', 'three.js', ...backend.flags], { project });
  await backend.waitForStart('B');
  // The account for people is written in batches; a kill before the batch is written is not what is asked here.
  const events = join(project.runDir(project.runIds()[0] as string), 'events.jsonl');
  await waitFor('the start of B in the account', () => /"call.started"[^\n]*"B"/.test(readFileSync(events, 'utf8')));
  const id = await killRun(first);
  const before = snapshot(project.dir);
  for (const cwd of [project.dir, copyProject(project)]) {
    const ls = await listRuns(project, { cwd });
    expect(ls).toMatchObject([{ runId: id, workflow: 'three', status: 'interrupted', endedAt: null }]);
    const show = JSON.parse((await runWf(['show', id, '--json'], { project, cwd })).stdout);
    expect(show.status).toBe('interrupted');
    expect(show.phase ?? show.calls.at(-1).phase).toBe('Second');
    expect(show.calls).toMatchObject([
      { label: 'A', status: 'ok', phase: null },
      { label: 'B', status: 'no-result', phase: 'Second' },
    ]);
    const text = (await runWf(['show', id.slice(0, 8)], { project, cwd })).stdout;
    expect(text).toMatch(/B +no result recorded/);
    expect(text).toContain(`wf run --resume-from ${id}`);
    expect(text).not.toMatch(/failed|cancelled|not run\b/);
  }
  expect(snapshot(project.dir)).toEqual(before);
});

it('R13 by its id alone a run goes on with its own script, args, settings and folder', async () => {
  const project = makeProject({
    files: {
      'three.js': S3.replace("'do A'", '`do A for ${args.who}`'),
      // What makes the folder above the project's root.
      '.claude/keep.txt': '',
      'sub/keep.txt': '',
    },
  });
  const backend = makeFakeBackend(project, { gated: ['B'] });
  const flags = ['--arg', 'who=Ada', '--concurrency', '3', '--model', 'small', '--retries', '2', '--timeout', '7m'];
  const first = startWf(['run', '../three.js', ...flags, ...backend.flags], { project, cwd: project.path('sub') });
  await backend.waitForStart('B');
  const id = await killRun(first);
  const options = JSON.parse(readFileSync(join(project.runDir(id), 'run.json'), 'utf8')).options;
  expect(options).toMatchObject({ concurrency: 3, model: 'small', retries: 2, timeoutMs: 420_000 });

  project.write('three.js', S3.replaceAll('do ', 'now do '));
  backend.openGate('B');
  const env = { WF_CONCURRENCY: '9', WF_MODEL: 'large', WF_BACKEND: 'mock', WF_MAX_AGENTS: '1' };
  const second = await run(project, ['--resume-from', id], { env });
  expect(second.code).toBe(0);
  expect(backend.ledger.starts().map(({ prompt, model }) => [prompt, model])).toEqual([
    ['do A for Ada', 'small'],
    ['do B', 'small'],
    ['do B', 'small'],
    ['do C', 'small'],
  ]);
  for (const { cwd } of backend.ledger.starts()) expect(cwd).toBe(project.path('sub'));
  const record = JSON.parse(readFileSync(join(project.runDir(second.id), 'run.json'), 'utf8'));
  expect(record).toMatchObject({ args: { who: 'Ada' }, options, startFolder: 'sub' });
  expect(readFileSync(join(project.runDir(second.id), 'script.js'))).toEqual(
    readFileSync(join(project.runDir(id), 'script.js')),
  );
});

it('R8 what differs from the source run is said, and what stayed equal is reused', async () => {
  const project = makeProject({ files: { 'three.js': S3 } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['three.js', '--arg', 'a=1', ...agent.flags]);
  project.write('three.js', `// a comment\n${S3}`.replace('do B', 'do B well'));
  const second = await run(project, ['three.js', '--resume-from', first.id, '--arg', 'a=2', '--model', 'large']);
  expect(agent.started(second.id)).toEqual(['B']);
  expect(second.stderr).toContain('The script differs');
  expect(second.stderr).toContain('The args differ');
  expect(second.stderr).toContain('The model is now large');
});

it('J13 a run that was killed before it had taken over its source is resumed from the source, and says so', async () => {
  const project = makeProject({ files: { 'three.js': S3 } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['three.js', ...agent.flags]);
  const second = await run(project, ['--resume-from', first.id]);
  // As a kill would leave it: part of the lines, no mark that all are there.
  const folder = project.runDir(second.id);
  const record = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
  writeFileSync(
    join(folder, 'run.json'),
    JSON.stringify({ ...record, copied: false, status: 'running', endedAt: null }),
  );
  rmSync(join(folder, 'state.json'));
  const [line] = readFileSync(join(folder, 'journal.jsonl'), 'utf8').split(/(?<=\n)/);
  writeFileSync(join(folder, 'journal.jsonl'), line as string);
  const third = await run(project, ['--resume-from', second.id]);
  expect(third.state.counts).toMatchObject({ reused: 3, executed: 0 });
  expect(third.stderr).toContain(`the journal of ${first.id} is used`);
  expect(agent.started()).toHaveLength(3);
});

it('J9 answers larger than what is sent ahead are reused whole, in another order, too', async () => {
  const script = (items: string): string => `export const meta = { name: 'large', description: 'Twenty large answers' }
const all = await parallel(${items}.map((i) => () => agent('do ' + i, { label: 'L' + i })))
return all.map((text) => text === null ? null : text.length + text.slice(-5))
`;
  const project = makeProject({ files: { 'large.js': script('[...Array(20).keys()]') } });
  project.write(
    'rules.json',
    JSON.stringify(
      Array.from({ length: 20 }, (_, i) => ({
        when: { label: `L${i}` },
        reply: `${'x'.repeat(1_000_000 + i)}end${i}`,
      })),
    ),
  );
  const first = await run(project, ['large.js', '--backend', 'mock', '--mock', 'rules.json']);
  const second = await run(project, ['--resume-from', first.id]);
  expect(second.result).toEqual(first.result);
  expect(second.state.counts).toMatchObject({ reused: 20, executed: 0 });
  project.write('large.js', script('[...Array(20).keys()].reverse()'));
  const third = await run(project, ['large.js', '--resume-from', second.id]);
  expect(third.result).toEqual([...(first.result as string[])].reverse());
  expect(third.state.counts).toMatchObject({ reused: 20, executed: 0 });
});
