/** What a resume reuses and what it runs. */
import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { journalFile, waitForJournalLines } from '../support/journal.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { P3, S3 } from './cli-kit.js';
import { hitsIn, idOf, killRun, madeIn, run } from './support/runs.js';
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
  isolation: [{}, { isolation: 'worktree' }],
}
return await parallel(Object.entries(cases).map(([name, both]) => () => {
  const { prompt = 'do ' + name, label = name, ...options } = both[args.which]
  return agent(prompt, { label, ...options })
}))
`,
    },
    git: true,
  });
  const agent = makeShellAgent(project, { '*': { reply: '{}' } });
  const first = await run(project, ['asks.js', '--arg', 'which:=0', ...agent.flags]);
  expect(first.code).toBe(0);
  expect(agent.started()).toHaveLength(20);
  // Every key can be made again from what its line says, which is what a strict resume looks at.
  const strict = await run(project, ['--resume-from', first.id, '--strict']);
  expect([strict.state.counts, agent.started(strict.id)]).toEqual([expect.objectContaining({ reused: 20 }), []]);
  project.write('.claude/agents/editor.md', '---\nname: editor\ndescription: Edits\n---\nEdit less.\n');
  const second = await run(project, ['--resume-from', first.id, '--arg', 'which:=1']);
  expect(second.code).toBe(0);
  expect(agent.started(second.id).sort()).toEqual(
    [
      ...['prompt', 'space', 'model', 'modelAdded', 'effort', 'schema', 'tools', 'disallowedTools', 'agentType'],
      ...['definition', 'cwd', 'salt', 'backend', 'isolation'],
    ].sort(),
  );
  const other = await run(project, ['--resume-from', second.id, '--strict']);
  expect([other.state.counts, agent.started(other.id)]).toEqual([expect.objectContaining({ reused: 20 }), []]);
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
