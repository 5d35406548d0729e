/** Scenarios that need the whole of `wf`: the engine's death, and that nobody else is spoken to. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { needTool } from '../../cli/support/need-tool.js';
import { expectNoProcessesLeft, processesMarked } from '../../support/processes.js';
import { runWf, startWf } from '../../support/run-wf.js';
import { makeProject } from '../../support/temp-project.js';
import { type AgentUnderTest, needAgent } from './agent-under-test.js';
import { startFakeModel } from './fake-model.js';
import type { ModelStep } from './model-step.js';
import { recordResult } from './results.js';

const flow = (prompt: string, options = '{}') =>
  `export const meta = { name: 'one', description: 'One call' }\nreturn await agent(${JSON.stringify(prompt)}, ${options})\n`;

export function describeThroughCli(agent: AgentUnderTest): void {
  const open = async (steps: readonly ModelStep[]) => {
    const project = makeProject({ files: { 'flow.js': flow('Say hello.', `{ model: '${agent.model}' }`) } });
    const model = await startFakeModel(steps);
    const { flags, env } = agent.cli({ project, model });
    return { project, model, args: ['run', 'flow.js', ...flags], options: { project, ...(env && { env }) } };
  };

  test('engine killed', async (context) => {
    needAgent(context, agent);
    recordResult(agent.name, agent.runs, 'engine killed');
    const { project, model, args, options } = await open([{ silent: true }]);
    const run = startWf(args, options);
    await model.waitForRequest(1);
    expect(processesMarked([project.root]).length).toBeGreaterThan(1);
    // The engine alone: its guard sees that it is gone and ends the agent.
    run.kill('SIGKILL');
    await run.exited;
    await expectNoProcessesLeft(project.root);
  });

  test('loopback only', async (context) => {
    needAgent(context, agent);
    needTool(context, 'strace', ['-V']);
    recordResult(agent.name, agent.runs, 'loopback only');
    const { project, args, options } = await open([{ text: 'hello' }]);
    const trace = project.path('trace');
    const under = ['strace', '-f', '--seccomp-bpf', '-e', 'trace=connect,sendto,sendmsg,sendmmsg', '-o', trace];
    const { code, stdout, stderr } = await runWf(args, { ...options, under, timeoutMs: 60_000 });
    expect([code, stdout.trim()], stderr).toEqual([0, 'hello']);
    const lines = readFileSync(trace, 'utf8').split('\n');
    const addresses = lines.filter((line) => /sa_family=AF_INET6?/.test(line));
    expect(addresses.length).toBeGreaterThan(0);
    expect(
      addresses.filter((line) => !/inet_addr\("127\.|inet_pton\(AF_INET6, "::1"|"::ffff:127\./.test(line)),
    ).toEqual([]);
  });
}
