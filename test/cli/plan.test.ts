/** The plan of a resume and the explanation afterwards: what they name is what happens, and nothing is touched. */
import { expect, it } from 'vitest';
import type { ResumePlan } from '../../src/index.js';
import { waitForJournalLines } from '../support/journal.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { hitsIn, killRun, run, snapshot } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

const meta = (name: string): string => `export const meta = { name: '${name}', description: 'A case' }\n`;

async function planOf(project: TestProject, args: readonly string[]): Promise<ResumePlan> {
  const { code, stdout, stderr } = await runWf(['plan', '--json', ...args], { project });
  expect([code, stderr.includes('WF_')], stderr).toEqual([0, false]);
  return JSON.parse(stdout) as ResumePlan;
}

/** All but the cache of compiled code that Node keeps in the temp folder. */
const snapshotAll = (project: TestProject): unknown => [project.dir, project.home, project.control].map(snapshot);

const definition = (text: string): string => `---\nname: editor\ndescription: Edits\n---\n${text}\n`;

/** Each pair holds the call's options in the first run and in the second; `null`: no such call. */
const PAIRS = `{
  same: [{}, {}],
  prompt: [{ prompt: 'look at it\\nwell enough' }, { prompt: 'look at it\\nwell and long' }],
  both: [{ prompt: 'one' }, { prompt: 'two', model: 'large' }],
  model: [{ model: 'small' }, { model: 'large' }],
  modelAdded: [{}, { model: 'large' }],
  effort: [{ effort: 'low' }, { effort: 'high' }],
  schema: [{ schema: object('a') }, { schema: object('b') }],
  tools: [{ tools: ['Read'] }, { tools: ['Read', 'Bash'] }],
  disallowedTools: [{ disallowedTools: ['Bash'] }, {}],
  agentType: [{ agentType: 'reviewer' }, { agentType: 'writer' }],
  definition: [{ agentType: 'editor' }, { agentType: 'editor' }],
  cwd: [{}, { cwd: 'sub' }],
  salt: [{ salt: 1 }, { salt: 2 }],
  backend: [{}, { backend: 'command' }],
  files: [{ deps: ['data/*.txt'] }, { deps: ['data/*.txt'] }],
  otherFiles: [{ deps: ['sub/*'] }, { deps: ['sub/*'] }],
  off: [{ cache: false }, { cache: false }],
  failing: [{}, {}],
  open: [{}, {}],
  fresh: [null, {}],
}`;

it('R10 the plan names each reason, and the resume delivers exactly its hits and first dispatches exactly its live calls', async () => {
  const project = makeProject({
    files: {
      'data/a.txt': 'a',
      'data/b.txt': 'b',
      'data/c.txt': 'c',
      'sub/x.txt': 'x',
      ...Object.fromEntries(
        ['reviewer', 'writer'].map((name) => [
          `.claude/agents/${name}.md`,
          `---\nname: ${name}\ndescription: Does it\n---\nDo it.\n`,
        ]),
      ),
      '.claude/agents/editor.md': definition('Edit.'),
      'asks.js': `${meta('asks')}const object = (name) => ({ type: 'object', properties: { [name]: { type: 'string' } } })
const pairs = ${PAIRS}
return await parallel(Object.entries(pairs).filter(([, both]) => both[args.which]).map(([name, both]) => () => {
  const { prompt = 'do ' + name, ...options } = both[args.which]
  return agent(prompt, { label: name, ...options })
}))
`,
    },
  });
  const agent = makeShellAgent(project, { failing: { fail: 3 }, open: { gate: 'open' }, '*': { reply: '{}' } });
  const first = startWf(['run', 'asks.js', '--arg', 'which:=0', '--concurrency', '20', ...agent.flags], { project });
  await agent.waitFor('start', 'open');
  await waitForJournalLines(project, 18);
  const one = await killRun(first);
  project.write('.claude/agents/editor.md', definition('Edit less.'));
  project.write('data/b.txt', 'other');
  project.write('data/d.txt', 'd');

  const before = snapshotAll(project);
  const flags = ['asks.js', '--resume-from', one, '--arg', 'which:=1'];
  const plan = await planOf(project, flags);
  const text = await runWf(['run', '--plan', ...flags], { project });
  expect(snapshotAll(project)).toEqual(before);

  expect(Object.keys(plan)).toEqual([
    'complete',
    'hits',
    'live',
    'unreached',
    'calls',
    'savedOutputTokens',
    'savedUsd',
  ]);
  expect(plan).toMatchObject({ complete: false, hits: 2, live: 18, savedOutputTokens: 0, savedUsd: null });
  for (const call of plan.calls) {
    expect(call).toEqual({
      n: expect.any(Number),
      label: expect.any(String),
      phase: null,
      path: expect.any(String),
      key: expect.stringMatching(/^[0-9a-f]{64}$/),
      decision: expect.stringMatching(/^(hit|live)$/),
      reason: expect.any(String),
    });
  }
  expect(plan.calls.map((call) => call.n)).toEqual(plan.calls.map((_, i) => i + 1));
  const reasons = Object.fromEntries(plan.calls.map((call) => [call.label, call.reason]));
  const recorded = `recorded in run ${one}`;
  expect(reasons).toEqual({
    same: recorded,
    otherFiles: recorded,
    prompt: 'prompt changed: line 2, character 6: " at it\\nwell enough" → " at it\\nwell and long"',
    both: 'prompt changed: line 1, character 1: "one" → "two"; model changed: none → "large"',
    model: 'model changed: "small" → "large"',
    modelAdded: 'model changed: none → "large"',
    effort: 'effort changed: "low" → "high"',
    schema: 'schema changed',
    tools: 'tools changed: ["Read"] → ["Read","Bash"]',
    disallowedTools: 'disallowedTools changed: ["Bash"] → none',
    agentType: 'agentType changed: "reviewer" → "writer"',
    definition: 'agent definition changed',
    cwd: 'cwd changed: none → "sub"',
    salt: 'salt changed: 1 → 2',
    backend: 'backend changed: none → "command"',
    files: 'file changed: data/b.txt, data/d.txt (added)',
    off: 'cache: false: this call is never answered from a journal',
    failing: expect.stringMatching(/^failed before: WF_AGENT_FAILED: .*fake failure of failing/),
    open: 'no result recorded',
    fresh: 'new',
  });

  expect(text.code).toBe(0);
  expect(text.stdout).toContain('2 reused, 18 to run first, ');
  for (const [label, reason] of Object.entries(reasons)) {
    if (typeof reason !== 'string') continue;
    expect(text.stdout).toMatch(new RegExp(`^ +#\\d+ +(hit|live) +${label} +`, 'm'));
  }
  expect(text.stdout).toContain('prompt changed: line 2, character 6');

  agent.openAllGates();
  agent.setRules({ '*': { reply: '{}' } });
  const second = await run(project, flags);
  const labels = (decision: string): string[] =>
    plan.calls
      .filter((call) => call.decision === decision)
      .map((call) => call.label)
      .sort();
  expect(
    hitsIn(project, second.id)
      .map(({ label }) => label)
      .sort(),
  ).toEqual(labels('hit'));
  expect(agent.started(second.id).sort()).toEqual(labels('live'));

  // After the fact the same is said.
  const explained = await runWf(['explain', second.id, '--json'], { project });
  const calls = JSON.parse(explained.stdout) as { label: string; decision: string; reason: string; key: string }[];
  expect(Object.fromEntries(calls.map((call) => [call.label, call.reason]))).toEqual(reasons);
  expect(calls.map((call) => [call.label, call.key])).toEqual(plan.calls.map((call) => [call.label, call.key]));
  const summary = await runWf(['explain', second.id.slice(0, 8)], { project });
  expect(summary.stdout).toMatch(/^2 reused, 18 ran live\n/);
  expect(summary.stdout).toContain('salt changed: 1 → 2');
  const single = await runWf(['explain', second.id, 'same'], { project });
  expect(single.stdout).toMatch(new RegExp(`hit +same +${recorded}`));
  const none = await runWf(['explain', second.id, 'nothing'], { project });
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('WF_USAGE')]);
});

it('R10 a plan goes to the first rest: what comes behind a live call is not known; a complete run is complete', async () => {
  const script = (b: string): string => `${meta('three')}const a = await agent('do A', { label: 'A' })
const b = await agent('${b}', { label: 'B' })
return await agent('do C', { label: 'C' })
`;
  const project = makeProject({ files: { 'three.js': script('do B') } });
  project.write(
    'rules.json',
    JSON.stringify([
      { when: {}, reply: 'yes', usage: { inputTokens: 5, outputTokens: 10, cacheReadTokens: 0, usd: 0.25 } },
    ]),
  );
  const first = await run(project, ['three.js', '--backend', 'mock', '--mock', 'rules.json']);
  expect(first.code).toBe(0);
  const before = snapshotAll(project);
  const whole = await planOf(project, ['--resume-from', first.id]);
  expect(whole).toMatchObject({
    complete: true,
    hits: 3,
    live: 0,
    unreached: 0,
    savedOutputTokens: 30,
    savedUsd: 0.75,
  });
  expect(snapshotAll(project)).toEqual(before);
  project.write('three.js', script('do B well'));
  const part = await planOf(project, ['three.js', '--resume-from', first.id]);
  expect(part).toMatchObject({ complete: false, hits: 1, live: 1, unreached: 2, savedOutputTokens: 10 });
  expect(part.calls.map(({ label, decision }) => [label, decision])).toEqual([
    ['A', 'hit'],
    ['B', 'live'],
  ]);
  const { stdout, stderr } = await runWf(['plan', 'three.js', '--resume-from', first.id], { project });
  expect(stdout).toMatch(
    /1 reused, 1 to run first, 2 recorded and not asked for yet; what these lead to is known only/,
  );
  expect(stderr).toContain('The script differs');
  const unknown = '0b5ad1c3-6a0e-4c8e-9d53-0f3b8f4b2c11';
  for (const args of [
    ['plan', '--resume-from', unknown],
    ['plan', '--resume-from', 'x'],
    ['plan', 'three.js'],
  ]) {
    expect((await runWf(args, { project })).code).toBe(2);
  }
});

it('B-017 an edited header of twenty prompts: the plan says 0 hits and where the texts part, and spends nothing', async () => {
  const script = (header: string): string =>
    `${meta('many')}return await parallel([...Array(20).keys()].map((i) => () => agent('${header}\\n\\nReview part ' + i, { label: 'part' + i })))\n`;
  const project = makeProject({ files: { 'many.js': script('Be careful.') } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['many.js', '--concurrency', '8', ...agent.flags]);
  project.write('many.js', script('Be careful. Be brief.'));
  const before = snapshotAll(project);
  const plan = await planOf(project, ['many.js', '--resume-from', first.id]);
  expect(plan).toMatchObject({ complete: false, hits: 0, live: 20, unreached: 20 });
  for (const call of plan.calls) expect(call.reason).toMatch(/^prompt changed: line 1, character 12: /);
  const text = await runWf(['plan', 'many.js', '--resume-from', first.id], { project });
  expect(text.stdout).toMatch(/^0 reused, 20 to run first, 20 recorded and not asked for yet/);
  expect(text.stdout).toMatch(/#1 +live +part0 +prompt changed: line 1, character 12: /);
  expect(snapshotAll(project)).toEqual(before);
  expect(agent.started()).toHaveLength(20);
  // Who did not ask for the plan is told when all calls that run first have come.
  const second = await run(project, ['many.js', '--resume-from', first.id, '--concurrency', '8']);
  expect(second.stderr.match(/Of the 20 calls that run first, 20 had a recorded answer to another text/g)).toHaveLength(
    1,
  );
  expect(second.stderr).toContain('#1 part0: prompt changed: line 1, character 12: ');
  expect(second.stderr).toMatch(/from .*, 20 recorded results, 20 not asked for/);
});
