/** Signals that come before there is a run: while `wf run` looks for a backend, by asking the programs that may be one. */
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type * as Library from '../../src/index.js';
import { expectNoProcessesLeft, isAlive } from '../support/processes.js';
import { requireBuild, runWf, startWf } from '../support/run-wf.js';
import { makeProject, type ProjectOptions, type TestProject } from '../support/temp-project.js';
import { openTerminal, wfCommand } from '../support/terminal.js';
import { waitFor } from '../support/wait.js';
import { readState, workflow } from './cli-kit.js';
import { needTool } from './support/need-tool.js';

let lib: typeof Library;
beforeAll(async () => {
  requireBuild();
  lib = (await import(pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'index.js')).href)) as typeof Library;
});

const FLOW = workflow('return 1');
/** It is asked for its version and its sign-in, each by a process of its own. */
const SLEEPS = ': > "asked-$1"\nexec sleep 60';
const ASKED = ['asked---version', 'asked-auth'];
const IGNORES = `trap '' TERM\n${SLEEPS}`;
const NOTHING_STARTED = /^wf: WF_CANCELLED: .*nothing was started/m;

/** A program `claude` in front of all others, whose body is a shell script. */
function placeClaude(body: string, options: ProjectOptions = {}) {
  const project = makeProject({ ...options, files: { 'flow.js': FLOW, 'bin/claude': `#!/bin/sh\n${body}\n` } });
  chmodSync(project.path('bin', 'claude'), 0o755);
  return { project, env: { PATH: `${project.path('bin')}:${project.env.PATH}` } };
}

const untilAsked = (project: TestProject): Promise<true> =>
  waitFor('the program to be asked', () => ASKED.every((file) => existsSync(project.path(file))));

describe('while a backend is looked for', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends wf run at once, and the program with it; nothing was started', async (signal, exitCode) => {
    const { project, env } = placeClaude(SLEEPS);
    const wf = startWf(['run', 'flow.js'], { project, env, timeoutMs: 10_000 });
    await untilAsked(project);
    wf.kill(signal);
    const ended = await wf.done;
    expect(ended).toMatchObject({ code: exitCode, stdout: '', stderr: expect.stringMatching(NOTHING_STARTED) });
    expect(existsSync(project.runsDir)).toBe(false);
    await expectNoProcessesLeft(project.root);
  });

  it('a program that takes no notice of SIGTERM is ended too', async () => {
    const { project, env } = placeClaude(IGNORES);
    const wf = startWf(['run', 'flow.js'], { project, env, timeoutMs: 10_000 });
    await untilAsked(project);
    wf.kill('SIGINT');
    expect(await wf.done).toMatchObject({ code: 130, stderr: expect.stringMatching(NOTHING_STARTED) });
    await expectNoProcessesLeft(project.root);
  });

  it('a second signal leaves without waiting for that', async () => {
    const { project, env } = placeClaude(IGNORES);
    const wf = startWf(['run', 'flow.js'], { project, env, timeoutMs: 10_000 });
    await untilAsked(project);
    wf.kill('SIGINT');
    await wf.waitForStderr(/once more leaves at once/);
    wf.kill('SIGTERM');
    const { code, stderr } = await wf.done;
    expect(code).toBe(130);
    expect(stderr).not.toMatch(NOTHING_STARTED);
    await expectNoProcessesLeft(project.root);
    expect(existsSync(project.runsDir)).toBe(false);
  });

  it('an agent of the Agent Client Protocol that does not answer is ended too', async () => {
    const agent = { command: './bin/claude' };
    const { project } = placeClaude(': > asked\nexec sleep 60');
    project.write('.claude/wf.json', JSON.stringify({ backends: { acp: { mine: agent } } }));
    const wf = startWf(['run', 'flow.js'], { project, timeoutMs: 10_000 });
    await waitFor('the agent to be asked', () => existsSync(project.path('asked')));
    wf.kill('SIGTERM');
    expect(await wf.done).toMatchObject({ code: 143, stderr: expect.stringMatching(NOTHING_STARTED) });
    await expectNoProcessesLeft(project.root);
    expect(existsSync(project.runsDir)).toBe(false);
  });

  it('a reporter for machines gets it as its own line of JSON', async () => {
    const { project, env } = placeClaude(SLEEPS);
    const wf = startWf(['run', 'flow.js', '--reporter', 'jsonl'], { project, env, timeoutMs: 10_000 });
    await untilAsked(project);
    wf.kill('SIGINT');
    const { code, stderr } = await wf.done;
    expect(code).toBe(130);
    expect(JSON.parse(stderr)).toMatchObject({ type: 'error', code: 'WF_CANCELLED' });
  });

  it('Ctrl-C in a terminal', async (context) => {
    needTool(context, 'script');
    const { project, env } = placeClaude(SLEEPS);
    const terminal = openTerminal(project, `exec ${wfCommand(['run', 'flow.js'])}`, env);
    await untilAsked(project);
    terminal.type('\x03');
    expect(await terminal.done).toBe(130);
    expect(terminal.output).toMatch(/nothing was started/);
    await expectNoProcessesLeft(project.root);
  });

  it('many of them at once are no matter for a warning of Node', async () => {
    const count = 12;
    const waits = `echo >> asked\nuntil [ "$(wc -l < asked)" -ge ${count} ]; do sleep 0.02; done\nexit 3`;
    const { project, env } = placeClaude('exit 3');
    project.write('bin/agent', `#!/bin/sh\n${waits}\n`);
    chmodSync(project.path('bin/agent'), 0o755);
    const acp = Object.fromEntries(Array.from({ length: count }, (_, i) => [`mine${i}`, { command: './bin/agent' }]));
    project.write('.claude/wf.json', JSON.stringify({ backends: { acp } }));
    const { stdout, stderr } = await runWf(['doctor', '--json'], { project, env });
    expect([stdout.match(/mine\d+ \(/g)?.length, stderr]).toEqual([count, '']);
  });

  it('wf doctor asks them too, and leaves none behind when it is ended', async () => {
    const { project, env } = placeClaude(IGNORES);
    const wf = startWf(['doctor'], { project, env, timeoutMs: 10_000 });
    await untilAsked(project);
    wf.kill('SIGINT');
    expect(await wf.done).toMatchObject({ code: 130, stdout: '' });
    await expectNoProcessesLeft(project.root);
  });
});

describe('the library', () => {
  it('a signal that cancels the run, or gives its start up, ends the look too, and it rejects', async () => {
    const { project, env } = placeClaude(SLEEPS);
    const where = { cwd: project.dir, home: project.home, env: { ...project.env, ...env } };
    for (const name of ['signal', 'startSignal']) {
      const controller = new AbortController();
      const starting = lib.startWorkflow({ script: 'flow.js', ...where, [name]: controller.signal });
      await untilAsked(project);
      controller.abort();
      await expect(starting).rejects.toMatchObject({ code: 'WF_CANCELLED', exitCode: 130 });
      await expectNoProcessesLeft(project.root);
      for (const file of ASKED) rmSync(project.path(file));
    }
    expect(existsSync(project.runsDir)).toBe(false);
  });

  it('a start that was given up makes no run and holds no lineage', async () => {
    const project = makeProject({ files: { 'flow.js': FLOW } });
    const where = { cwd: project.dir, home: project.home, env: project.env, backend: 'mock' };
    const startSignal = AbortSignal.abort();
    const given = { script: 'flow.js', ...where };
    await expect(lib.startWorkflow({ ...given, startSignal })).rejects.toMatchObject({ code: 'WF_CANCELLED' });
    expect(existsSync(project.runsDir)).toBe(false);
    const { runId } = await lib.runWorkflow(given);
    const resume = { ...where, resumeFrom: runId };
    await expect(lib.startWorkflow({ ...resume, startSignal })).rejects.toMatchObject({ code: 'WF_CANCELLED' });
    expect(project.runIds()).toEqual([runId]);
    expect(await lib.runWorkflow(resume)).toMatchObject({ status: 'completed' });
  });
});

describe('a program that is asked', () => {
  it('has answered when it has ended: what it leaves behind with its output is neither waited for nor ended', async () => {
    const answers = 'case $1 in --version) echo "9.8.7 (Claude Code)" ;; *) echo \'{"loggedIn":true}\' ;; esac';
    const { project, env } = placeClaude(`sleep 60 &\necho $! > "left-$1"\n${answers}`, { leavesProcesses: true });
    const ended = await runWf(['run', 'flow.js'], { project, env });
    expect(ended).toMatchObject({ code: 0, stdout: '1\n' });
    expect(ended.stderr).toMatch(/found claude 9\.8\.7 .*signed in by a login/);
    expect(readState(project)).toMatchObject({ status: 'completed', backend: 'claude' });
    for (const file of ['left---version', 'left-auth'])
      expect(isAlive(Number(readFileSync(project.path(file), 'utf8')))).toBe(true);
  });

  it.each([
    ['echo "no such option" >&2; exit 3', /claude: \S+ does not start: no such option;/],
    ['exit 3', /claude: \S+ does not start: it ended with exit code 3;/],
    ['kill -KILL $$', /claude: \S+ does not start: SIGKILL ended it;/],
  ])('and gives no version (%s) is not taken, with the reason', async (body, words) => {
    const { project, env } = placeClaude(body);
    const ended = await runWf(['run', 'flow.js'], { project, env });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(words) });
  });
});
