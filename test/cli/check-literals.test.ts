/** `wf check` says beforehand what a run would refuse, or quietly leave out, as far as it stands literally in the script. */
import { describe, expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { MOCK, workflow } from './cli-kit.js';

describe('wf check', () => {
  it.each([
    ['isolation: true', 'isolation'],
    ['model: 5', 'model'],
    ["timeoutMs: '10m'", 'timeoutMs'],
    ['retries: 1.5', 'retries'],
    ["tools: 'Read'", 'tools'],
    ["cache: 'no'", 'cache'],
  ])('finds that a run would refuse { %s }, as the run does', async (option, name) => {
    const project = makeProject({ files: { 'flow.js': workflow(`return await agent('x', { ${option} })`) } });
    const run = await runWf(['run', 'flow.js', ...MOCK], { project });
    expect(run.stderr).toContain(`WF_AGENT_OPTIONS: agent(): option ${name} `);
    const { code, stdout } = await runWf(['check', 'flow.js'], { project });
    expect(code).toBe(2);
    expect(stdout).toMatch(new RegExp(`^flow\\.js:2:\\d+: error WF_CHECK_(OPTION|ISOLATION): .*\`?${name}\`? `));
  });

  it('says nothing of values that a run takes, or that are made when it runs', async () => {
    const options =
      "{ timeoutMs: 10 * 60_000, retries: 0, tools: ['Read'], cache: false, model: args?.model, cwd: null }";
    const project = makeProject({ files: { 'flow.js': workflow(`return await agent('x', ${options})`) } });
    expect((await runWf(['check', 'flow.js'], { project })).stdout).toMatch(/nothing to say/);
    expect((await runWf(['run', 'flow.js', ...MOCK], { project })).code).toBe(0);
  });

  it('says nothing of a value that another one replaces in the same options', async () => {
    const body = "const base = { retries: 200 }\nreturn await agent('x', { ...base, retries: 2 })";
    const project = makeProject({ files: { 'flow.js': workflow(body) } });
    expect((await runWf(['check', 'flow.js'], { project })).stdout).toMatch(/nothing to say/);
    expect((await runWf(['run', 'flow.js', ...MOCK], { project })).code).toBe(0);
  });

  it.each([
    "phase('A', async () => { await agent('x') })",
    "phase('A', work); async function work() { await agent('x') }",
  ])('names work that is handed to phase(), which never calls it: %s', async (call) => {
    const body = `${call}\nphase('B')\nreturn await agent('y')`;
    const project = makeProject({ files: { 'flow.js': workflow(body) } });
    const { code, stdout } = await runWf(['check', 'flow.js'], { project });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^flow\.js:2:12: warning WF_CHECK_PHASE: phase\(\) takes a title alone: this function is never called\./,
    );
    expect(stdout.match(/warning/g)).toHaveLength(1);
  });
});

it('an option that is the beginning of a known one is taken for it', async () => {
  const project = makeProject({ files: { 'flow.js': workflow("return await agent('x', { retry: 3, agent: 'y' })") } });
  const { stderr } = await runWf(['run', 'flow.js', ...MOCK], { project });
  expect(stderr).toContain('unknown option "retry" is ignored. Did you mean "retries"?');
  expect(stderr).toContain('unknown option "agent" is ignored. Did you mean "agentType"?');
});
