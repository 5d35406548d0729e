/** An agent that no signal reaches (it runs as another user, or is stuck in the kernel) does not keep `wf` from its end. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { DoctorReport } from '../../src/index.js';
import { isAlive, sendSignal } from '../support/processes.js';
import { requireBuild, runWf, startWf, type WfOptions } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { newestRun, workflow } from './cli-kit.js';
import { needTool } from './support/need-tool.js';

const ENTRY = pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'index.js')).href;

it.each(['command', 'acp'])(
  'of the backend %s',
  async (backend) => {
    requireBuild();
    const project = makeProject({
      files: {
        'flow.js': workflow("return await agent('x', { timeoutMs: 1000 })"),
        agent: 'echo $$ > "$HOME/agent.pid"\nexec sleep 120\n',
      },
      leavesProcesses: true,
    });
    // To this process every other one is somebody else's.
    const program = `import { runWorkflow } from ${JSON.stringify(ENTRY)};
const kill = process.kill;
process.kill = (pid, signal) => {
  if (pid === process.pid) return kill.call(process, pid, signal);
  throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
};
const { status, result, notices } = await runWorkflow({ script: 'flow.js', backend: '${backend}', command: ['sh', ${JSON.stringify(project.path('agent'))}], retries: 0 });
console.log(status, result, notices.filter((notice) => / could not be ended: /.test(notice)).length);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      cwd: project.dir,
      env: { ...project.env },
      // The agent lives far longer.
      timeout: 40_000,
      killSignal: 'SIGKILL',
    });
    expect(stdout).toBe('completed null 1\n');
    expect(isAlive(Number(readFileSync(join(project.home, 'agent.pid'), 'utf8')))).toBe(true);
  },
  60_000,
);

/** The agent that notes its number, and then does whatever `work` says for far longer than the test. */
function makeLastingAgent(work: string, limit = ', timeoutMs: 1000'): { project: TestProject; agentPid: () => number } {
  const project = makeProject({
    files: {
      'flow.js': workflow(`return await agent('x', { label: 'mine'${limit} })`),
      agent: `${work}\n`,
    },
    leavesProcesses: true,
  });
  return { project, agentPid: () => Number(readFileSync(join(project.home, 'agent.pid'), 'utf8')) };
}

const FLAGS = (project: TestProject): string[] => [
  ...['--backend', 'command', '--command', JSON.stringify(['sh', project.path('agent')]), '--retries', '0'],
];

const survivorsOf = async (project: TestProject, flags: string[] = [], options: Partial<WfOptions> = {}) => {
  const { code, stdout } = await runWf(['doctor', '--json', ...flags], {
    ...options,
    project,
    env: { WF_BACKEND: 'mock' },
  });
  const found = (JSON.parse(stdout) as DoctorReport).findings.filter(({ check }) => check === 'survivors');
  return { code, found };
};

/** For `wf` with a signal to any process but itself done in this way. */
function withSignals(project: TestProject, send: string): Pick<WfOptions, 'nodeArgs'> {
  const file = project.write(
    'signals.mjs',
    `const kill = process.kill;
process.kill = (pid, signal) => {
  if (pid === process.pid) return kill.call(process, pid, signal);
  ${send};
};`,
  );
  return { nodeArgs: ['--import', pathToFileURL(file).href] };
}

/** Everywhere where a person may look. */
async function expectTold(project: TestProject, pid: number, stderr: string, why: RegExp): Promise<string> {
  const id = newestRun(project);
  const told = stderr.split('\n').filter((line) => line.includes('WF_AGENT_LEFT'));
  expect(told).toHaveLength(1);
  expect(told[0]).toMatch(new RegExp(`warning: WF_AGENT_LEFT: Process ${pid} of call #1 mine could not be ended`));
  expect(told[0]).toMatch(why);
  expect(told[0]).toContain(`kill -KILL ${pid}`);
  const read = (name: string): string => readFileSync(join(project.runDir(id), name), 'utf8');
  const events = read('events.jsonl')
    .split('\n')
    .filter((line) => line.includes('WF_AGENT_LEFT'))
    .map((line) => JSON.parse(line));
  expect(events).toMatchObject([{ type: 'warning', message: expect.stringContaining(`Process ${pid} `) }]);
  const { message } = events[0];
  expect(JSON.parse(read('state.json')).notices).toContain(message);
  expect((await runWf(['show', id], { project })).stdout).toContain(message);
  expect(JSON.parse((await runWf(['show', id, '--json'], { project })).stdout).notices).toContain(message);
  return id;
}

it('is told with its number wherever a person looks, and named by wf doctor as long as it lives', async () => {
  const { project, agentPid } = makeLastingAgent('echo $$ > "$HOME/agent.pid"\nexec sleep 120');
  // To wf every other process is somebody else's.
  const deaf = withSignals(project, "throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })");
  const { code, stderr } = await runWf(['run', 'flow.js', ...FLAGS(project)], { ...deaf, project });
  expect(code).toBe(3);
  const pid = agentPid();
  expect(isAlive(pid)).toBe(true);
  const id = await expectTold(project, pid, stderr, /no signal of this user ended it/);

  const seen = await survivorsOf(project);
  expect(seen).toMatchObject({ code: 4, found: [{ status: 'warn', runId: id, fixable: true }] });
  expect(seen.found[0]?.message).toContain(`process ${pid}`);
  expect(seen.found[0]?.remedy).toContain(`kill -KILL ${pid}`);
  const kept = await survivorsOf(project, ['--fix'], deaf);
  expect(kept).toMatchObject({ code: 4, found: [{ fixed: null, fixError: expect.stringMatching(/no signal/) }] });
  expect(isAlive(pid)).toBe(true);

  // Its run is all that names it.
  await runWf(['prune', '--keep', '0'], { project });
  expect(project.runIds()).toEqual([id]);

  const mended = await survivorsOf(project, ['--fix']);
  expect(mended).toMatchObject({ code: 0, found: [{ fixed: 'ended 1 process' }] });
  await waitFor('the agent to be gone', () => !isAlive(pid));
  expect(await survivorsOf(project)).toMatchObject({ code: 0, found: [{ status: 'ok' }] });
  await runWf(['prune', '--keep', '0'], { project });
  expect(project.runIds()).toEqual([]);
}, 60_000);

it('is told by wf show and wf doctor while its run goes on, and when that was killed', async () => {
  const body = `await agent('x', { label: 'mine', timeoutMs: 1000 })\nreturn await agent('y', { label: 'next' })`;
  const project = makeProject({
    files: { 'flow.js': workflow(body), agent: 'echo $$ > "$HOME/$WF_CALL_LABEL.pid"\nexec sleep 120\n' },
    leavesProcesses: true,
  });
  const deaf = withSignals(project, "throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })");
  const wf = startWf(['run', 'flow.js', ...FLAGS(project)], { ...deaf, project });
  await wf.waitForStderr(/#2 next: started/);
  const pid = Number(readFileSync(join(project.home, 'mine.pid'), 'utf8'));
  const id = newestRun(project);
  const expectNamed = async (): Promise<void> => {
    const { notices } = JSON.parse((await runWf(['show', id, '--json'], { project })).stdout);
    expect(notices).toEqual([expect.stringContaining(`Process ${pid} of call #1 mine could not be ended`)]);
    const { found } = await survivorsOf(project);
    expect(found.filter(({ message }) => message.includes(`process ${pid}`))).toMatchObject([
      { status: 'warn', runId: id, fixable: true, message: expect.stringContaining('could not end') },
    ]);
  };
  await expectNamed();
  wf.kill('SIGKILL');
  await wf.exited;
  await expectNamed();
}, 60_000);

it('that outlives SIGKILL, as one that is stuck in the kernel, is told before the end of a cancelled run is on record', async () => {
  const { project, agentPid } = makeLastingAgent('echo $$ > "$HOME/agent.pid"\nexec sleep 120', '');
  const wf = startWf(['run', 'flow.js', ...FLAGS(project)], { ...withSignals(project, 'return true'), project });
  await wf.waitForStderr(/#1 mine: started\n/);
  await waitFor('the agent', () => existsSync(join(project.home, 'agent.pid')) && agentPid() > 0);
  wf.kill('SIGINT');
  const { code, stderr } = await wf.done;
  expect(code).toBe(130);
  const pid = agentPid();
  const id = await expectTold(project, pid, stderr, /no signal of this user ended it/);
  expect(stderr.indexOf('WF_AGENT_LEFT')).toBeLessThan(stderr.indexOf('Run cancelled'));
  const { found } = await survivorsOf(project);
  expect(found).toMatchObject([{ status: 'warn', runId: id, message: expect.stringContaining(`process ${pid}`) }]);
}, 60_000);

it('that belongs to another user is told as such, also where it is only a child of the agent', async (context) => {
  needTool(context, 'setpriv');
  if (process.getuid?.() !== 0) context.skip('only root can start a process of another user');
  const { project, agentPid } = makeLastingAgent(
    'setpriv --reuid 65534 --clear-groups sh -c \'echo $$; exec sleep 120\' > "$HOME/agent.pid" &\nwait',
  );
  const { code, stderr } = await runWf(['run', 'flow.js', ...FLAGS(project)], {
    project,
    // Root without the right to send signals to everybody is like any user.
    under: ['setpriv', '--bounding-set', '-kill'],
  });
  expect(code).toBe(3);
  const pid = agentPid();
  project.onDispose(() => void sendSignal(pid, 'SIGKILL'));
  expect(isAlive(pid)).toBe(true);
  await expectTold(project, pid, stderr, /it belongs to user 65534/);
  const { found } = await survivorsOf(project, ['--fix'], { under: ['setpriv', '--bounding-set', '-kill'] });
  expect(found).toMatchObject([{ fixed: null, fixError: expect.stringContaining('it belongs to user 65534') }]);
}, 60_000);
