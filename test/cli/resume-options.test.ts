/** What a person or a script can say about a resume: --strict, --match, --fork, cache, salt, deps; and what is always said. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { journalFile, journalLine, waitForJournalLines } from '../support/journal.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { idOf, killRun, madeIn, run, snapshot } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

const meta = (name: string): string => `export const meta = { name: '${name}', description: 'A case' }\n`;
const THREE = `${meta('three')}const a = await agent('do A', { label: 'A' })
const b = await agent('do B', { label: 'B' })
const c = await agent('do C', { label: 'C' })
return { a, b, c }
`;

it('R4 --strict refuses every journal that is not whole: exit 4, no run folder, nothing runs, nothing changes', async () => {
  const project = makeProject({ files: { 'three.js': THREE } });
  const agent = makeShellAgent(project);
  const { id } = await run(project, ['three.js', ...agent.flags]);
  const journal = journalFile(project, id) as string;
  const whole = readFileSync(journal);
  const lines = whole.toString().split(/(?<=\n)/);
  const edited = (n: number, change: object): string =>
    lines.with(n, journalLine({ ...JSON.parse(lines[n] as string), ...change })).join('');
  const kinds: [string, () => void, RegExp][] = [
    ['missing', () => {}, /is missing/],
    ['a folder', () => mkdirSync(journal), /cannot be read \(EISDIR\)/],
    ['empty', () => writeFileSync(journal, ''), /bytes shorter than its record says/],
    ['cut in its last line', () => writeFileSync(journal, whole.subarray(0, -9)), /bytes shorter/],
    ['a line lost', () => writeFileSync(journal, lines.toSpliced(1, 1).join('')), /bytes shorter/],
    ['garbage', () => writeFileSync(journal, `${whole}garbage\n`), /1 unreadable line \(line 4/],
    ['zero bytes', () => writeFileSync(journal, Buffer.concat([whole, Buffer.alloc(600)])), /1 unreadable line/],
    ['bad UTF-8', () => writeFileSync(journal, Buffer.concat([whole, Buffer.from([0xff, 0xfe, 10])])), /1 unreadable/],
    ['a flipped bit', () => writeFileSync(journal, whole.toString().replace('A by', 'B by')), /1 unreadable line/],
    ['a wrong type', () => writeFileSync(journal, edited(1, { key: 7, pad: 'x'.repeat(70) })), /1 unreadable line/],
    ['an unknown kind', () => writeFileSync(journal, edited(1, { type: 'another' })), /1 unreadable line/],
    ['no answer', () => writeFileSync(journal, edited(1, { output: undefined, pad: 'x'.repeat(30) })), /1 unreadable/],
  ];
  const reset = (): void => {
    rmSync(journal, { recursive: true, force: true });
  };
  const claims = join(project.runsDir, '.claims');
  for (const [name, damage, message] of kinds) {
    reset();
    damage();
    const before = snapshot(project.runDir(id));
    const { code, stderr, stdout } = await runWf(['run', '--resume-from', id, '--strict'], { project });
    expect([name, code, stdout], stderr).toEqual([name, 4, '']);
    expect(stderr, name).toMatch(message);
    expect(stderr, name).toContain('WF_STRICT');
    expect(snapshot(project.runDir(id)), name).toEqual(before);
  }
  const planned = await runWf(['plan', '--resume-from', id, '--strict'], { project });
  expect(planned.code).toBe(4);
  expect(project.runIds()).toEqual([id]);
  expect(agent.started()).toHaveLength(3);
  reset();
  writeFileSync(journal, whole);
  const fine = await run(project, ['--resume-from', id, '--strict']);
  expect([fine.code, fine.state.counts.reused]).toEqual([0, 3]);
  expect(snapshot(claims)).toBeDefined();
}, 120_000);

it('R5 a journal whose name is taken by a folder in the middle of a run: the run ends well, and what cannot be read runs again', async () => {
  const project = makeProject({ files: { 'three.js': THREE } });
  const agent = makeShellAgent(project, { B: { gate: 'b' } });
  const running = startWf(['run', 'three.js', ...agent.flags], { project });
  await agent.waitFor('start', 'B');
  await waitForJournalLines(project, 1);
  const journal = journalFile(project) as string;
  renameSync(journal, `${journal}.away`);
  mkdirSync(journal);
  agent.openAllGates();
  const ended = await running.done;
  expect([ended.code, Object.keys(JSON.parse(ended.stdout))]).toEqual([0, ['a', 'b', 'c']]);
  const id = idOf(ended.stderr);
  const shown = await runWf(['show', id], { project });
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('The journal cannot be read (EISDIR)')]);
  // The descriptor that the run had kept went on in the file.
  rmSync(journal, { recursive: true });
  renameSync(`${journal}.away`, journal);
  const second = await run(project, ['--resume-from', id]);
  expect(second.state.counts).toMatchObject({ reused: 3, executed: 0 });
});

it('R8 R11 R14 a comment, a prompt, the args: what is said, what is reused, what is counted; nothing is rolled back', async () => {
  const script = (b: string, comment = ''): string => `${meta('three')}${comment}
const a = await agent('do A', { label: 'A' })
const b = await agent('${b}', { label: 'B' })
if (args.also) await agent('do D for ' + args.who, { label: 'D' })
return [a, b]
`;
  const project = makeProject({ files: { 'three.js': script('do B') } });
  const backend = makeFakeBackend(project, { rules: { A: { touch: project.path('effect.txt') } } });
  const first = await run(project, ['three.js', '--arg', 'who=x', ...backend.flags]);
  const workspace = snapshot(project.path('effect.txt'));

  project.write('three.js', script('do B', '// a comment'));
  const comment = await run(project, ['three.js', '--resume-from', first.id]);
  expect(comment.state.counts).toMatchObject({ reused: 2, executed: 0 });
  expect(comment.stderr).toContain('The script differs from the one of the source run');
  expect(comment.stderr).toMatch(/calls +2: 2 ok; 2 reused, 0 executed/);
  expect(comment.result).toEqual(first.result);

  project.write('three.js', script('do B well'));
  const prompt = await run(project, ['three.js', '--resume-from', first.id]);
  expect(prompt.state.counts).toMatchObject({ reused: 1, executed: 1 });
  expect(madeIn(project, prompt.id).map(({ label }) => label)).toEqual(['B']);
  expect(prompt.stderr).toMatch(/calls +2: 2 ok; 1 reused, 1 executed/);

  const args = await run(project, ['--resume-from', first.id, '--arg', 'who=y']);
  expect(args.state.counts).toMatchObject({ reused: 2, executed: 0 });
  expect(args.stderr).toContain('The args differ from those of the source run');

  expect(snapshot(project.path('effect.txt'))).toEqual(workspace);
  expect(project.runIds()).toHaveLength(4);
  expect(readFileSync(project.path('effect.txt'), 'utf8').trim().split('\n')).toHaveLength(1);
});

it('R12 B-070 B-071 a resume names the calls that were cut off, and says that what they did outside is not known', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('flow')}return await parallel(['P', 'Q', 'R'].map((x) => () => agent('do ' + x, { label: x })))\n`,
    },
  });
  const agent = makeShellAgent(project, { '*': { gate: 'g' } });
  const first = startWf(['run', 'flow.js', '--concurrency', '3', ...agent.flags], { project });
  await agent.waitForStarts(3);
  await waitForStarted(project.runIds()[0] as string, 3);
  const one = await killRun(first);
  agent.openAllGates();
  const second = await run(project, ['--resume-from', one]);
  expect(agent.started(second.id).sort()).toEqual(['P', 'Q', 'R']);
  expect(second.code).toBe(0);
  expect(second.stderr).toMatch(
    /3 calls of the source run were started and have no result recorded: #1 P, #2 Q, #3 R\. What they did outside \(files, pushes, requests\) is not known, is not taken back/,
  );
  expect(second.state.notices).toContainEqual(expect.stringContaining('#1 P, #2 Q, #3 R'));
  // A run in which nothing was cut off has nothing to say about it.
  const third = await run(project, ['--resume-from', second.id]);
  expect(third.stderr).not.toContain('no result recorded');

  async function waitForStarted(id: string, count: number): Promise<void> {
    const { waitFor } = await import('../support/wait.js');
    const events = join(project.runDir(id), 'events.jsonl');
    await waitFor('the starts in the account', () => {
      return readFileSync(events, 'utf8').split('"call.started"').length > count;
    });
  }
});

it('--match prefix: after the first call that is no hit nothing is; content takes every answer that fits', async () => {
  const script = (b: string): string =>
    `${meta('chain')}const out = []\nfor (const x of ['A', '${b}', 'C', 'D']) out.push(await agent('do ' + x, { label: x }))\nreturn out\n`;
  const project = makeProject({ files: { 'chain.js': script('B') } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['chain.js', ...agent.flags]);
  project.write('chain.js', script('B2'));
  const plan = await runWf(['plan', 'chain.js', '--resume-from', first.id, '--match', 'prefix', '--json'], { project });
  expect(JSON.parse(plan.stdout)).toMatchObject({ hits: 1, live: 1 });
  const prefix = await run(project, ['chain.js', '--resume-from', first.id, '--match', 'prefix']);
  expect(agent.started(prefix.id)).toEqual(['B2', 'C', 'D']);
  const why = await runWf(['explain', prefix.id, 'C'], { project });
  expect(why.stdout).toContain('its answer is recorded, but --match prefix reuses nothing');
  // The rule is the run's own; a resume keeps it. Its answers are whole, so all of it is a prefix now.
  const again = await run(project, ['--resume-from', prefix.id]);
  expect(again.state.counts).toMatchObject({ reused: 4, executed: 0 });
  const content = await run(project, ['chain.js', '--resume-from', first.id]);
  expect(agent.started(content.id)).toEqual(['B2']);
  expect((await runWf(['run', 'chain.js', '--match', 'other', ...agent.flags], { project })).code).toBe(2);
});

it('--fork goes on beside a live owner in a lineage of its own; without it the resume is busy; a plan may always look', async () => {
  const project = makeProject({ files: { 'three.js': THREE } });
  const agent = makeShellAgent(project, { B: { gate: 'b' } });
  const first = startWf(['run', 'three.js', ...agent.flags], { project });
  await agent.waitFor('start', 'B');
  const one = project.runIds()[0] as string;
  await waitForJournalLines(project, 1);
  const busy = await runWf(['run', '--resume-from', one], { project });
  expect([busy.code, busy.stderr]).toEqual([
    5,
    expect.stringMatching(/WF_RUN_BUSY: Run .* holds this lineage: process \d+ on/),
  ]);
  const plan = await runWf(['plan', '--resume-from', one, '--json'], { project });
  expect([plan.code, JSON.parse(plan.stdout)]).toMatchObject([0, { hits: 1, live: 1 }]);
  const forked = startWf(['run', '--resume-from', one, '--fork'], { project });
  await agent.waitFor('start', 'B', 2);
  agent.openAllGates();
  const [a, b] = await Promise.all([first.done, forked.done]);
  expect([a.code, b.code]).toEqual([0, 0]);
  const two = idOf(b.stderr);
  expect(agent.started(two)).toEqual(['B', 'C']);
  const keys = agent.lines('start').filter(({ label }) => label === 'B');
  expect(new Set(keys.map(({ key }) => key)).size).toBe(2);
  const lineage = (id: string) => JSON.parse(readFileSync(join(project.runDir(id), 'run.json'), 'utf8')).lineage;
  expect(lineage(two)).toMatchObject({ resumedFrom: one, root: two });
});

it('cache: false is never answered from a journal, salt by its own value only', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('flow')}return [await agent('now', { label: 'off', cache: false }), await agent('x', { label: 'one', salt: 1 }), await agent('x', { label: 'day', salt: args.day }), await agent('x', { label: 'plain' })]\n`,
    },
  });
  const agent = makeShellAgent(project);
  const first = await run(project, ['flow.js', '--arg', 'day=mon', ...agent.flags]);
  const same = await run(project, ['--resume-from', first.id]);
  expect(agent.started(same.id)).toEqual(['off']);
  const other = await run(project, ['--resume-from', same.id, '--arg', 'day=tue']);
  expect(agent.started(other.id)).toEqual(['off', 'day']);
  const back = await run(project, ['--resume-from', other.id, '--arg', 'day=mon']);
  // What was recorded two runs ago and not asked for since is still there.
  expect(agent.started(back.id)).toEqual(['off']);
  expect((back.result as string[]).slice(1)).toEqual((first.result as string[]).slice(1));
  const offKeys = agent.lines('start').filter(({ label }) => label === 'off');
  expect(new Set(offKeys.map(({ key }) => key)).size).toBe(4);
});

it('deps: a hit while the files stay, a miss that names the file, a warning when the workflow writes them, refusals', async () => {
  const project = makeProject({
    files: {
      '.claude/x': '',
      'data/a.txt': 'a',
      'flow.js': `${meta('flow')}const ask = (label, deps) => agent('read ' + label, { label, deps })
return [await ask('reads', ['data/*.txt']), await ask('writes', ['out/*']), await ask('none', ['nothing/*'])]
`,
      'bad.js': `${meta('bad')}const texts = []
for (const deps of [['../*'], ['many/*'], 'data', ['/etc/hostname']]) {
  try { texts.push(await agent('x', { deps })) } catch (error) { texts.push(error.message) }
}
return texts
`,
    },
  });
  project.write('../outside.txt', 'x');
  const writer = makeFakeBackend(project, { rules: { writes: { touch: project.path('out', 'log.txt') } } });
  mkdirSync(project.path('out'));
  const first = await run(project, ['flow.js', ...writer.flags]);
  expect(first.code).toBe(0);
  expect(first.stderr).toContain('Files that deps of "writes" names changed while it ran');
  expect(first.stderr).not.toContain('deps of "reads"');
  const same = await run(project, ['--resume-from', first.id, '--strict']);
  expect(madeIn(project, same.id).map(({ label }) => label)).toEqual(['writes']);
  // Another time of the file is no change; another content is.
  writeFileSync(project.path('data', 'a.txt'), 'a');
  project.write('data/b.txt', 'new');
  const plan = await runWf(['plan', '--resume-from', first.id, '--json'], { project });
  expect(JSON.parse(plan.stdout).calls[0]).toMatchObject({
    label: 'reads',
    decision: 'live',
    reason: 'file changed: data/b.txt (added)',
  });
  const changed = await run(project, ['--resume-from', first.id]);
  expect(madeIn(project, changed.id).map(({ label }) => label)).toEqual(['reads', 'writes']);

  mkdirSync(project.path('many'));
  for (let i = 0; i < 10_001; i++) writeFileSync(project.path('many', `${i}`), '');
  const bad = await run(project, ['bad.js', ...writer.flags]);
  expect(bad.result).toEqual([
    expect.stringContaining('option deps leaves the project'),
    expect.stringContaining('option deps names 10001 files; the limit is 10000'),
    expect.stringContaining('option deps must be an array'),
    expect.stringContaining('deps leaves the project'),
  ]);
  expect(bad.state.counts.executed).toBe(0);
});

it('X4 WF_CALL_KEY: one over three generations of kills and over retries, another for each equal prompt and after a failure', async () => {
  const project = makeProject({
    files: {
      'flow.js': `${meta('flow')}const first = await agent('do A', { label: 'A' })
const votes = await parallel(['v1', 'v2'].map((label) => () => agent('vote', { label })))
const again = await agent('do F', { label: 'F' })
return [first, votes, again, await agent('do B', { label: 'B' })]
`,
    },
  });
  const backend = makeFakeBackend(project, {
    gated: ['B'],
    rules: { A: { flaky: { times: 1, code: 75 } }, F: { flaky: { times: 1, code: 1 } } },
  });
  const first = startWf(['run', 'flow.js', ...backend.flags], { project });
  await backend.waitForStart('B');
  let id = await killRun(first);
  for (const nth of [2, 3]) {
    const next = startWf(['run', '--resume-from', id], { project });
    await backend.waitForStart('B', { nth });
    id = await killRun(next);
  }
  backend.openAllGates();
  const last = await run(project, ['--resume-from', id]);
  expect(last.code).toBe(0);
  const keys = (label: string): string[] => backend.ledger.starts(label).map(({ key }) => key);
  expect(keys('B')).toHaveLength(4);
  expect(new Set(keys('B')).size).toBe(1);
  expect(keys('A')).toHaveLength(2);
  expect(new Set(keys('A')).size).toBe(1);
  // It failed in the first run; the second attempt is new work and has a key of its own.
  expect(keys('F')).toHaveLength(2);
  expect(new Set(keys('F')).size).toBe(2);
  expect(keys('v1')).toHaveLength(1);
  const all = ['A', 'B', 'v1', 'v2'].map((label) => keys(label)[0]);
  expect(new Set(all).size).toBe(4);
  for (const key of all) expect(key).toMatch(/^[0-9a-f]{64}$/);
}, 120_000);
