/** What a program tells of its usage: lines add up, and one that is not understood is said once and taken for no number. */
import { expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';
import { run } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

const TWO = workflow(`return await parallel(['a', 'b'].map((x) => () => agent('do ' + x, { label: x })))`);

it.each([
  ['a name of another program', '{"wf":"usage","input_tokens":10,"output_tokens":20}', 0],
  ['a number in quotes', '{"wf":"usage","in":1,"out":"20"}', 0],
  ['a number below zero', '{"wf":"usage","out":-5}', 0],
  ['no JSON', '{"wf":"usage", out: 20}', 0],
  ['money that is none', '{"wf":"usage","in":1,"out":20,"usd":"0.01"}', 40],
])(
  'a usage line with %s is said once a run, with what it should look like; what it tells well is counted',
  async (_, says, out) => {
    const project = makeProject({ files: { 'flow.js': TWO } });
    const agent = makeShellAgent(project, { '*': { says } });
    const ended = await run(project, ['flow.js', ...agent.flags]);
    expect(ended.code).toBe(0);
    const warnings = ended.stderr.split('\n').filter((line) => line.includes('usage in a line'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(says);
    expect(warnings[0]).toContain('{"wf":"usage","in":10,"out":20,"usd":0.01}');
    expect(ended.state.usage).toMatchObject({ outputTokens: out, usd: null });
  },
);

it('B-062 a usage line without a number does not make an empty answer one of 0 tokens', async () => {
  const project = makeProject({ files: { 'flow.js': TWO } });
  const agent = makeShellAgent(project, { a: { says: '{"wf":"usage"}', reply: '' }, b: { reply: '' } });
  const ended = await run(project, ['flow.js', ...agent.flags]);
  expect([ended.code, ended.result]).toEqual([0, ['', '']]);
});

it('B-062 neither does one that tells no output tokens: the empty text is the answer, and is paid once', async () => {
  const project = makeProject({ files: { 'flow.js': TWO } });
  const agent = makeShellAgent(project, {
    a: { says: '{"wf":"usage","usd":0.01}', reply: '' },
    b: { says: '{"wf":"usage","in":7}', reply: '' },
  });
  const ended = await run(project, ['flow.js', ...agent.flags]);
  expect([ended.code, ended.result]).toEqual([0, ['', '']]);
  expect(agent.started()).toHaveLength(2);
});

it('tokens that no agent told read unknown wherever a person sees them, not 0', async () => {
  const project = makeProject({ files: { 'flow.js': TWO } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['flow.js', ...agent.flags]);
  expect(first.stderr).toMatch(/^ +tokens +unknown$/m);
  expect((await runWf(['show', first.id], { project })).stdout).toMatch(/^tokens +unknown, cost unknown$/m);
  expect((await runWf(['ls'], { project })).stdout).toMatch(/ 2 +0 +0 +0 +unknown +unknown /);
  const plan = await runWf(['plan', '--resume-from', first.id], { project });
  expect(plan.stdout).toMatch(/^saved: tokens unknown, cost unknown$/m);
  const again = await run(project, ['--resume-from', first.id]);
  expect(again.stderr).toMatch(/^ +tokens +0 in, 0 out; saved by reuse: unknown$/m);
});

it('a secret in a usage line that is not understood is masked, wherever in the line it lies', async () => {
  const token = 'tok-0123456789abcdefghijklmnopqrstuvwxyz';
  const config = JSON.stringify({ secrets: ['TOOL_TOKEN'] });
  const project = makeProject({ files: { 'flow.js': TWO, '.claude/wf.json': config } });
  const says = `{"wf":"usage","in":"${'x'.repeat(160)} ${token}"}`;
  const agent = makeShellAgent(project, { '*': { says } });
  const ended = await run(project, ['flow.js', ...agent.flags], { env: { TOOL_TOKEN: token } });
  expect(ended.stderr).toContain('usage in a line');
  expect(ended.stderr).not.toContain(token.slice(0, 12));
});

it('several usage lines of one attempt add up, and a null for money means that it is not known', async () => {
  const project = makeProject({ files: { 'flow.js': TWO } });
  const says = '{"wf":"usage","in":1,"out":2,"usd":null}\n{"wf":"usage","in":10,"out":20}';
  const agent = makeShellAgent(project, { '*': { says } });
  const ended = await run(project, ['flow.js', ...agent.flags]);
  expect(ended.stderr).not.toContain('usage in a line');
  expect(ended.state.usage).toMatchObject({ inputTokens: 22, outputTokens: 44, usd: null });
});
