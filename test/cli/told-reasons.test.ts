/** Why a call runs, and what was started before: what plan, resume and explain say of it is so. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { ExplainedCall, ResumePlan } from '../../src/index.js';
import { journalFile, waitForJournalLines } from '../support/journal.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { killRun, run } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

const workflow = (body: string): string => `export const meta = { name: 'flow', description: 'A case' }\n${body}\n`;

async function reasonsOf(project: TestProject, args: readonly string[]): Promise<Record<string, string>> {
  const { stdout, stderr } = await runWf([...args, '--json'], { project });
  const told = JSON.parse(stdout) as ExplainedCall[] | { calls: ExplainedCall[] };
  const calls = Array.isArray(told) ? told : told.calls;
  expect(calls.length, stderr).toBeGreaterThan(0);
  return Object.fromEntries(calls.map(({ n, label, reason }) => [`#${n} ${label}`, reason]));
}

const planOf = (project: TestProject, id: string, ...args: string[]): Promise<Record<string, string>> =>
  reasonsOf(project, ['plan', '--resume-from', id, ...args]);

/** What the run said on stderr of calls that were cut off. */
const cutOffIn = (stderr: string): string[] =>
  stderr
    .split('\n')
    .filter((line) => line.includes('no result recorded: '))
    .map((line) => line.replace(/^.*WF_NOTICE: /, '').replace(/\. What they did.*$/, ''));

it('what was cut off is named until it has run again, also when a resume was killed before it came to it', async () => {
  const body = `const [a, b] = await parallel([
  () => agent('do A', { label: 'A' }),
  () => agent('do B', { label: 'B' }),
])
return [a, b]`;
  const project = makeProject({ files: { 'flow.js': workflow(body) } });
  const agent = makeShellAgent(project, { B: { gate: 'b' }, Z: { gate: 'z' } });
  const first = startWf(['run', 'flow.js', ...agent.flags], { project });
  await agent.waitFor('start', 'B');
  await waitForJournalLines(project, 1);
  const one = await killRun(first);

  project.write('flow.js', workflow(`await agent('do Z', { label: 'Z' })\n${body}`));
  const second = startWf(['run', 'flow.js', '--resume-from', one], { project });
  await agent.waitFor('start', 'Z');
  const two = await killRun(second);
  expect(cutOffIn(second.stderr)).toEqual(['1 call of the source run was started and has no result recorded: #2 B']);

  agent.openAllGates();
  const third = await run(project, ['--resume-from', two]);
  expect(cutOffIn(third.stderr)).toEqual([
    '1 call of the source run was started and has no result recorded: #1 Z',
    `1 call of run ${one}, from which the source run went on without coming to them, was started and has no result recorded: #2 B`,
  ]);
  expect(await reasonsOf(project, ['explain', third.id])).toMatchObject({
    '#1 Z': 'no result recorded',
    '#2 A': `recorded in run ${one}`,
    '#3 B': 'no result recorded',
  });
  const fourth = await run(project, ['--resume-from', third.id]);
  expect(cutOffIn(fourth.stderr)).toEqual([]);
  // A and B started beside each other.
  expect(agent.started().sort()).toEqual(['A', 'B', 'B', 'Z', 'Z']);
});

it('a call beside those that stayed is new, wherever it was put in, and nobody is told that something changed', async () => {
  const ask = (names: string[]): string =>
    workflow(`return await parallel(${JSON.stringify(names)}.map((name) => () => agent('Review the file ' + name)))`);
  const steps = workflow("await agent('Plan the work')\nreturn await agent('Do it')");
  const votes = (count: number): string =>
    workflow(`return await parallel(Array.from({ length: ${count} }, () => () => agent('Vote', { label: 'vote' })))`);
  const project = makeProject({ files: { 'ask.js': ask(['a', 'b']), 'steps.js': steps, 'votes.js': votes(3) } });
  const agent = makeShellAgent(project);
  const ids = new Map<string, string>();
  for (const name of ['ask.js', 'steps.js', 'votes.js'])
    ids.set(name, (await run(project, [name, '--concurrency', '8', ...agent.flags])).id);
  project.write('ask.js', ask(['new', 'a', 'b', 'z']));
  project.write('steps.js', steps.replace('await', "await agent('Look around first')\nawait"));
  project.write('votes.js', votes(4));

  const idOf = (name: string): string => ids.get(name) as string;
  expect(await planOf(project, idOf('ask.js'), 'ask.js')).toMatchObject({
    '#1 Review the file new': 'new',
    '#4 Review the file z': 'new',
  });
  expect(await planOf(project, idOf('steps.js'), 'steps.js')).toEqual({ '#1 Look around first': 'new' });
  expect((await planOf(project, idOf('votes.js'), 'votes.js'))['#4 vote']).toBe(
    'new: every recorded answer of this text is taken by another call',
  );
  for (const name of ids.keys()) {
    const { stderr, state } = await run(project, [name, '--resume-from', idOf(name), '--concurrency', '8']);
    expect(stderr, name).not.toContain('had a recorded answer to another text');
    expect(state.counts).toMatchObject({ reused: name === 'steps.js' || name === 'ask.js' ? 2 : 3 });
  }
});

for (const [how, ask] of [
  ['one after the other', "for (const name of '%') await agent('do ' + name + ' well', { label: 'work' })"],
  ['at once', "await parallel([...'%'].map((name) => () => agent('do ' + name + ' well', { label: 'work' })))"],
] as const)
  it(`among calls of one label, asked ${how}, one that was put in is new, and one in the place of another is changed`, async () => {
    const steps = (names: string): string => workflow(ask.replace('%', names));
    const project = makeProject({ files: { 'flow.js': steps('abcd') } });
    // The recorded failure of c is asked for again, and is no text that changed.
    const program = 'read -r t; case $t in *c*) exit 9 ;; esac; echo done';
    const flags = ['--backend', 'command', '--command', JSON.stringify(['/bin/sh', '-c', program]), '--retries', '0'];
    const first = await run(project, ['flow.js', '--allow-failures', ...flags]);
    expect(first.state.counts).toMatchObject({ ok: 3, failed: 1 });
    const reasonsFor = async (names: string): Promise<(string | undefined)[]> => {
      project.write('flow.js', steps(names));
      const { stdout } = await runWf(['plan', '--json', '--resume-from', first.id, 'flow.js'], { project });
      const plan = JSON.parse(stdout) as ResumePlan;
      expect(plan.hits + plan.unreached).toBe(3);
      return plan.calls.filter(({ decision }) => decision === 'live').map(({ reason }) => reason.slice(0, 60));
    };
    const changed = (from: string, to: string) =>
      `prompt changed: line 1, character 4: "do ${from} well" → "do ${to} well"`.slice(0, 60);
    const failed = expect.stringMatching(/^failed before: /);
    const later = how === 'at once' ? [failed] : [];
    expect(await reasonsFor('axbcd')).toEqual(['new', ...later]);
    expect(await reasonsFor('axyzbcd')).toEqual([...(how === 'at once' ? ['new', 'new', 'new'] : ['new']), ...later]);
    expect(await reasonsFor('abcxd')).toEqual([failed, ...(how === 'at once' ? ['new'] : [])]);
    expect(await reasonsFor('abxcd')).toEqual(['new', ...later]);
    expect(await reasonsFor('axcd')).toEqual([changed('b', 'x'), ...later]);
    expect(await reasonsFor('abxd')).toEqual([changed('c', 'x')]);

    // The run says the same afterwards, and before that nothing that it cannot know.
    project.write('flow.js', steps('axbcd'));
    const second = await run(project, ['flow.js', '--resume-from', first.id, '--allow-failures']);
    const told = / had a recorded answer to another text/;
    if (how === 'at once') expect(second.stderr).not.toMatch(told);
    else expect(second.stderr).toMatch(/The call that runs first is new, or had a recorded answer to another text/);
    expect(await reasonsOf(project, ['explain', second.id])).toMatchObject({ '#2 work': 'new', '#4 work': failed });
  });

it('a look at what a script asks for further on spends nothing, comes to an end, and changes no other word of the plan', async () => {
  const ask = (text: string): string => `await agent('${text}', { label: 'work' })\n`;
  const project = makeProject({
    files: { 'flow.js': workflow(ask('do a') + ask('do b')), 'child.js': workflow("log('child')") },
  });
  const agent = makeShellAgent(project);
  const first = await run(project, ['flow.js', ...agent.flags]);
  const changed = 'prompt changed: line 1, character 4: "do a" → "do new"';
  for (const [between, reason] of [
    ['', 'new'],
    ["agent('wrong', { isolation: true }).catch(() => {})", 'new'],
    ["await parallel([() => { throw new Error('x') }])", 'new'],
    // Behind an error, a child, and what never ends, nothing is seen: then the texts are compared.
    ["throw new Error('x')", changed],
    ["await workflow({ scriptPath: './child.js' })", changed],
    ["for (;;) await agent('again', { label: 'again' })", changed],
  ] as const) {
    project.write('flow.js', workflow(`${ask('do new')}${between}\n${ask('do a')}${ask('do b')}`));
    const { stdout, stderr } = await runWf(['plan', '--json', '--resume-from', first.id, 'flow.js'], { project });
    const { hits, live, unreached, complete, calls } = JSON.parse(stdout) as ResumePlan;
    expect([hits, live, unreached, complete], between).toEqual([0, 1, 2, false]);
    expect(calls, between).toMatchObject([{ n: 1, label: 'work', decision: 'live', reason }]);
    expect(stderr.trim().split('\n'), between).toEqual([expect.stringContaining('The script differs')]);
  }
  expect(agent.started()).toEqual(['work', 'work']);
});

it('in that look a call with a schema gets what a failed one gets, never a text', async () => {
  const ask = (text: string): string => `await agent('${text}', { label: 'work' })\n`;
  const project = makeProject({ files: { 'flow.js': workflow(ask('do a') + ask('do b')) } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['flow.js', ...agent.flags]);
  const asked = "const found = await agent('do new', { label: 'work', schema: { type: 'object' } })";
  project.write(
    'flow.js',
    workflow(`${asked}\nif (found !== null) throw new Error('x')\n${ask('do a')}${ask('do b')}`),
  );
  expect(await planOf(project, first.id, 'flow.js')).toEqual({ '#1 work': 'new' });
});

it('a text that was reworded is compared with what stood in its place', async () => {
  const steps = workflow("await agent('Plan the work')\nreturn await agent('Do it as planned')");
  const project = makeProject({ files: { 'steps.js': steps } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['steps.js', ...agent.flags]);
  project.write('steps.js', steps.replace('Do it', 'Do it well,'));
  expect((await planOf(project, first.id, 'steps.js'))['#2 Do it well, as planned']).toMatch(/^prompt changed: /);
});

it('of several calls of one label each is compared with the one of its own slot', async () => {
  const ask = (verb: string): string =>
    workflow(`return await parallel(['a', 'b', 'c'].map((x) => () => agent('${verb} ' + x, { label: 'look' })))`);
  const project = makeProject({ files: { 'ask.js': ask('read') } });
  const first = await run(project, ['ask.js', '--backend', 'mock']);
  project.write('ask.js', ask('skim'));
  const second = await run(project, ['ask.js', '--resume-from', first.id]);
  const told = await reasonsOf(project, ['explain', second.id]);
  for (const [i, x] of ['a', 'b', 'c'].entries())
    expect(told[`#${i + 1} look`]).toBe(`prompt changed: line 1, character 1: "read ${x}" → "skim ${x}"`);
});

it('of a call that failed again and again the newest cause is told, within a run and over a chain', async () => {
  const twice = "await agent('do A', { label: 'A' })\nreturn await agent('do A', { label: 'A again' })";
  const project = makeProject({ files: { 'flow.js': workflow(twice) } });
  const agent = makeShellAgent(project);
  const failing = (message: string) => ({ fail: 1, says: JSON.stringify({ wf: 'error', kind: 'failed', message }) });
  const reason = (cause: string) => expect.stringMatching(new RegExp(`^failed before: .*${cause}$`));
  let id = '';
  for (const cause of ['one', 'two', 'three']) {
    agent.setRules({ A: failing(`early ${cause}`), '*': failing(`late ${cause}`) });
    id = (await run(project, id === '' ? ['flow.js', '--retries', '0', ...agent.flags] : ['--resume-from', id])).id;
    expect(await planOf(project, id)).toEqual({ '#1 A': reason(`late ${cause}`) });
  }
  expect(await reasonsOf(project, ['explain', id])).toMatchObject({ '#1 A': reason('late two') });
});

it('wf explain tells of the calls of a killed run too: those that had started ran live', async () => {
  const ask = (names: string): string =>
    workflow(`return await parallel([...'${names}'].map((name) => () => agent('do ' + name, { label: name })))`);
  const project = makeProject({ files: { 'flow.js': ask('ab') } });
  const agent = makeShellAgent(project, { b: { gate: 'b' }, c: { gate: 'c' } });
  const first = startWf(['run', 'flow.js', ...agent.flags], { project });
  await agent.waitFor('start', 'b');
  await waitForJournalLines(project, 1);
  const one = await killRun(first);
  expect(await reasonsOf(project, ['explain', one])).toEqual({ '#1 a': 'new', '#2 b': 'new' });
  project.write('flow.js', ask('abc'));
  const second = startWf(['run', 'flow.js', '--resume-from', one, '--concurrency', '4'], { project });
  await agent.waitFor('start', 'b', 2);
  await agent.waitFor('start', 'c');
  second.kill('SIGINT');
  await second.done;
  const two = project.runIds().find((id) => id !== one) as string;

  expect(await reasonsOf(project, ['explain', two])).toEqual({
    '#1 a': `recorded in run ${one}`,
    '#2 b': 'no result recorded',
    '#3 c': 'new or changed: its text is not on record, as it has no result',
  });
  expect((await runWf(['explain', two], { project })).stdout).toMatch(/^1 reused, 2 ran live\n/);
});

it('a refused call has nothing to explain, and that is said', async () => {
  const script = workflow("return await parallel([() => agent('x', { label: 'bad', isolation: true })])");
  const project = makeProject({ files: { 'flow.js': script } });
  const first = await run(project, ['flow.js', ...makeShellAgent(project).flags]);
  const told = await runWf(['explain', first.id, 'bad'], { project });
  expect([told.code, told.stdout]).toEqual([2, '']);
  expect(told.stderr).toContain('wf show');
});

it('an answer that was there and cannot be used is not called a missing one', async () => {
  const script = workflow("return [await agent('do A', { label: 'A' }), await agent('do B', { label: 'B' })]");
  const project = makeProject({ files: { 'flow.js': script } });
  const agent = makeShellAgent(project);
  const mocked = await run(project, ['flow.js', '--backend', 'mock']);
  expect(await planOf(project, mocked.id, ...agent.flags)).toMatchObject({
    '#1 A': 'its recorded answer was made up by mock, and only a run on mock reuses it',
  });
  const real = await run(project, ['flow.js', ...agent.flags]);
  const file = journalFile(project, real.id) as string;
  writeFileSync(file, readFileSync(file, 'utf8').replace('"A by ', '"a by '));
  expect(await planOf(project, real.id)).toEqual({ '#1 A': 'its result was recorded, and is damaged or missing' });
});

it('on mock, too, plan and explain say that an answer is there and that --match prefix alone keeps it back', async () => {
  const fan = (b: string): string =>
    workflow(`return await Promise.all(['A', '${b}', 'C'].map((x) => agent('do ' + x, { label: x })))`);
  const project = makeProject({ files: { 'flow.js': fan('B') } });
  const first = await run(project, ['flow.js', '--backend', 'mock']);
  project.write('flow.js', fan('B2'));
  const words = ['flow.js', '--resume-from', first.id, '--match', 'prefix'];
  const reason = expect.stringMatching(/^its answer is recorded, but --match prefix reuses nothing behind/);
  expect(await reasonsOf(project, ['plan', ...words])).toMatchObject({ '#3 C': reason });
  const second = await run(project, words);
  expect(await reasonsOf(project, ['explain', second.id])).toMatchObject({ '#3 C': reason });
});
