/** Scenarios that need the whole of `wf`: the engine's death, worktrees, and that nobody else is spoken to. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
  const open = async (steps: readonly ModelStep[], options = '', git = false) => {
    const script = flow('Say hello.', `{ model: '${agent.model}'${options} }`);
    const project = makeProject({ git, files: { 'flow.js': script } });
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

  const worktrees = (place: string): string[] => {
    const folder = join(place, '.claude', 'worktrees');
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
  };

  test('worktree, unchanged', async (context) => {
    needAgent(context, agent);
    recordResult(agent.name, agent.runs, 'worktree, unchanged');
    const { project, args, options } = await open([{ text: 'looked' }], ", isolation: 'worktree'", true);
    const { code, stdout, stderr } = await runWf(args, { ...options, timeoutMs: 50_000 });
    expect([code, stdout.trim()], stderr).toEqual([0, 'looked']);
    expect(worktrees(project.dir)).toEqual([]);
    expect(project.git('branch', '--list', 'wf/*')).toBe('');
  });

  test('worktree, changed', async (context) => {
    needAgent(context, agent);
    const cannot = agent.cannot?.['worktree, changed'] ?? agent.cannot?.['tool use'];
    recordResult(agent.name, agent.runs, 'worktree, changed', cannot);
    if (cannot !== undefined) return;
    const write: ModelStep[] = [{ shell: 'echo made > made.txt' }, { text: 'made' }];
    const { project, args, options } = await open(write, ", isolation: 'worktree'", true);
    const { code, stdout, stderr } = await runWf([...args, '--permission', 'full'], { ...options, timeoutMs: 50_000 });
    expect([code, stdout.trim()], stderr).toEqual([0, 'made']);
    const [kept] = worktrees(project.dir);
    expect(project.read(`.claude/worktrees/${kept}/made.txt`)).toBe('made\n');
    expect(project.git('branch', '--list', 'wf/*')).toMatch(/wf\/.+\/1/);
    expect(project.git('status', '--porcelain', '--', 'made.txt')).toBe('');
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
