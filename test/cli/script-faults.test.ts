/** Runs that end by what the script itself did wrong: what is told, and how to go on once it is mended. */
import { expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { newestRun, readState, workflow } from './cli-kit.js';

const KID = workflow("throw new Error('oops')", 'kid');
const NEST = workflow("await workflow('kid')", 'nest');
/** A busy machine may need longer than a short turn to fill the memory. */
const limitsOf = (code: string): string[] =>
  code === 'WF_TURN_TIMEOUT' ? ['--turn-timeout', '1s'] : ['--memory', '16'];

it.each<[string, string, RegExp]>([
  ['WF_DEADLOCK', 'await new Promise(() => {})', /\. Look for one that nobody resolves\./],
  ['WF_TURN_TIMEOUT', 'for (;;) {}', /1000 ms.*\. Look for a loop without an end.*--turn-timeout\b/],
  ['WF_SCRIPT_MEMORY', "const a = []\nfor (;;) a.push('x'.repeat(1e5) + a.length)", /16 MB.*\. Keep less.*--memory\b/],
  ['WF_RESULT_NOT_JSON', 'return { a: [1n] }', /result\.a\[0\] is a bigint\. Return plain data\b/],
  ['WF_SCRIPT_THREW', "throw new Error('oops')", /oops \(flow\.js:2:7\)/],
  ['WF_MISUSE', "await parallel([agent('x')])", /\. Wrap it/],
  ['WF_AGENT_OPTIONS', "await agent('x', { effort: 'loud' })", /effort.*low, medium, high, xhigh/],
  ['WF_SCHEMA_INVALID', "await agent('x', { schema: { type: 'nope' } })", /schema.*\/type/],
  ['WF_AGENT_TYPE', "await agent('x', { agentType: 'zork' })", /zork.*known/i],
  ['WF_WORKFLOW_UNKNOWN', "await workflow('kit')", /"kit"\): there is no such workflow\. Saved workflows: kid, nest\./],
  ['WF_WORKFLOW_FAILED', "await workflow('kid')", /oops \(.*kid\.js:2:7\)/],
  ['WF_NESTING', "await workflow('nest')", /workflow\(\)/],
])('%s: the end says what to do, and the command that goes on names the file', async (code, body, words) => {
  const saved = { '.claude/workflows/kid.js': KID, '.claude/workflows/nest.js': NEST };
  const project = makeProject({ files: { 'flow.js': workflow(body), ...saved } });
  const { code: exit, stderr } = await runWf(['run', 'flow.js', '--command', 'cat', '-q', ...limitsOf(code)], {
    project,
  });
  const id = newestRun(project);
  const { cause } = readState(project);
  expect([exit, cause]).toEqual([1, code]);
  const told = stderr.split('\n').find((line) => line.startsWith('  cause ')) ?? '';
  expect(told).toMatch(words);
  expect(stderr).toMatch(new RegExp(`^ {2}go on +wf run flow\\.js --resume-from ${id}$`, 'm'));
  const shown = await runWf(['show', id], { project });
  expect(shown.stdout).toContain(`To go on: wf run flow.js --resume-from ${id}\n`);
});

it('so it does where the run completed without a call that the script had asked for wrongly', async () => {
  const body = "return await parallel([() => agent('x', { effort: 'loud' }), () => agent('y')])";
  const project = makeProject({ files: { 'flow.js': workflow(body) } });
  const { code, stderr } = await runWf(['run', 'flow.js', '--command', 'cat', '-q'], { project });
  const goOn = `wf run flow.js --resume-from ${newestRun(project)}`;
  expect([code, stderr]).toEqual([3, expect.stringMatching(new RegExp(`^ {2}go on +${goOn}$`, 'm'))]);
  expect((await runWf(['show', newestRun(project)], { project })).stdout).toContain(`To go on: ${goOn}\n`);
  project.write('flow.js', workflow(body.replace('loud', 'low')));
  const mended = await runWf(goOn.split(' ').slice(1), { project });
  expect(mended).toMatchObject({ code: 0, stdout: expect.stringContaining('"x"') });
});
