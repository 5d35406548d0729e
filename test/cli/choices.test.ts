/** Which backend, folder, workflow and answer a call gets when more than one could be meant. */
import { chmodSync, existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readJournal } from '../support/journal.js';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { newestRun, readState, workflow } from './cli-kit.js';

const AGENT = '#!/bin/sh\ncat >> asked\necho >> asked\necho "worked in $(basename "$(pwd)")"\n';

function makeWith(files: Record<string, string>): TestProject {
  const project = makeProject({ files: { 'agent.sh': AGENT, ...files } });
  chmodSync(project.path('agent.sh'), 0o755);
  return project;
}

const asked = (project: TestProject): string[] => project.read('asked').split('\n').filter(Boolean);
const results = (project: TestProject, runId: string) =>
  readJournal(`${project.runsDir}/${runId}/journal.jsonl`).filter((line) => line.type === 'result');

describe('the backend of a call', () => {
  const NAMED = workflow('return await agent("real work", { backend: "command" })');

  it('a dry run makes up every answer, also where a call names another backend', async () => {
    const project = makeWith({ 'flow.js': NAMED });
    const run = await runWf(['run', 'flow.js', '--dry-run', '--command', './agent.sh'], { project });
    expect(run.code).toBe(0);
    expect(existsSync(project.path('asked'))).toBe(false);
    expect(results(project, newestRun(project))).toMatchObject([{ backend: 'mock', madeUp: true }]);
    expect(run.stderr).toMatch(/^ +cost +\$0\.00$/m);
  });

  it('the one that was chosen for the run beats the one that a call names, and its line says so', async () => {
    const project = makeWith({ 'flow.js': workflow('return await agent("x", { backend: "mock" })') });
    await runWf(['run', 'flow.js', '--backend', 'command', '--command', './agent.sh'], { project });
    expect(asked(project)).toEqual(['x']);
    const [line] = results(project, newestRun(project));
    expect(line).toMatchObject({ backend: 'command' });
    expect(line).not.toHaveProperty('madeUp');
  });

  it('one that a call names and that is not there, or not set up, is told to the script with what to do about it', async () => {
    const project = makeWith({
      'flow.js': workflow(
        `const out = []; for (const backend of ['rve', 'command']) out.push((await agent.settled('x', { backend })).cause); return out`,
      ),
      '.claude/wf.json': JSON.stringify({ backends: { command: { rev: { argv: ['./agent.sh'] } } } }),
    });
    const run = await runWf(['run', 'flow.js'], { project, env: { WF_BACKEND: 'rev' } });
    const [unknown, bare] = JSON.parse(run.stdout);
    expect(unknown).toMatchObject({ code: 'WF_BACKEND_UNKNOWN' });
    expect(unknown.message).toMatch(/^There is no backend named "rve"\. Did you mean rev\? Known backends: .*, rev, /);
    expect(bare.message).toMatch(/^The backend command names no program\. Name it: /);
  });

  it('without such a choice the call has its own, and a made-up answer is marked as one', async () => {
    const project = makeWith({
      'flow.js': workflow('return [await agent("x", { backend: "mock" }), await agent("y")]'),
    });
    await runWf(['run', 'flow.js', '--command', './agent.sh'], { project });
    expect(asked(project)).toEqual(['y']);
    const first = newestRun(project);
    expect(results(project, first)).toMatchObject([{ backend: 'mock', madeUp: true }, { backend: 'command' }]);
    // It fits only a run on mock: here it is made up once more, and the real answer is reused.
    await runWf(['run', '--resume-from', first], { project });
    expect(asked(project)).toEqual(['y']);
    expect(readState(project)).toMatchObject({ counts: { reused: 1, executed: 1 } });
  });
});

it.each<[string, string[], RegExp]>([
  [
    'a program for mock',
    ['--backend', 'mock', '--command', './agent.sh'],
    /--command has no effect with --backend mock, which takes none/,
  ],
  [
    'a program for claude',
    ['--backend', 'claude', '--command', './agent.sh'],
    /--command has no effect with --backend claude/,
  ],
  [
    'a program for an agent that has one',
    ['--backend', 'gemini', '--command', 'x'],
    /with --backend gemini, which has its own/,
  ],
  [
    'a program for a named one',
    ['--backend', 'tool', '--command', 'x'],
    /with --backend tool, which has its own in its settings/,
  ],
  [
    'rules for a program',
    ['--backend', 'command', '--command', './agent.sh', '--mock', 'r.json'],
    /--mock has no effect with --backend command, which takes none/,
  ],
  [
    'rules for a named program',
    ['--backend', 'tool', '--mock', 'r.json'],
    /--mock has no effect with --backend tool, which takes none/,
  ],
])('%s is refused before anything starts, with what goes together', async (_, flags, words) => {
  const project = makeWith({
    'flow.js': workflow('return await agent("x")'),
    'r.json': '[]',
    '.claude/wf.json': JSON.stringify({ backends: { command: { tool: { argv: ['./agent.sh'] } } } }),
  });
  const { code, stdout, stderr } = await runWf(['run', 'flow.js', ...flags], { project });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(words);
  expect(stderr).toMatch(
    /→ Leave one of them out; --(command goes with --backend command or acp|mock goes with --backend mock)/,
  );
  expect(project.runIds()).toEqual([]);
  expect(existsSync(project.path('asked'))).toBe(false);
});

it('B-144: a command with a relative path is found again from the start folder, wherever the resume is typed', async () => {
  const project = makeWith({ 'flow.js': workflow('await agent("one"); return await agent(args)'), 'sub/.keep': '' });
  await runWf(['run', 'flow.js', '--command', './agent.sh', '--args-text', 'two'], { project });
  const resume = ['run', '--resume-from', newestRun(project), '--args-text', 'three'];
  expect(await runWf(resume, { project, cwd: project.path('sub') })).toMatchObject({ code: 0 });
  expect(asked(project)).toEqual(['one', 'two', 'three']);
});

it('J15: the same folder is the same key, however the script writes it', async () => {
  const project = makeWith({ 'flow.js': workflow('return await agent("work", { cwd: args })'), 'sub/.keep': '' });
  const command = project.path('agent.sh');
  await runWf(['run', 'flow.js', '--command', command, '--args-text', 'sub'], { project });
  const resume = ['run', '--resume-from', newestRun(project), '--args-text', project.path('sub')];
  expect(await runWf(resume, { project })).toMatchObject({ code: 0, stdout: 'worked in sub\n' });
  expect(readState(project)).toMatchObject({ counts: { reused: 1, executed: 0 } });
});

it('--match prefix: after a call that is never reused nothing is', async () => {
  const project = makeWith({
    'flow.js': workflow('await agent("write", { cache: false }); return await agent("read")'),
  });
  await runWf(['run', 'flow.js', '--command', './agent.sh'], { project });
  await runWf(['run', '--resume-from', newestRun(project), '--match', 'prefix'], { project });
  expect(asked(project)).toEqual(['write', 'read', 'write', 'read']);
});

describe('what a script may name', () => {
  it('workflow(name) reaches saved workflows and no file beside them', async () => {
    const project = makeWith({
      'flow.js': workflow(
        'const out = []; for (const name of ["/etc/passwd", "./kid.js", "kid.js", "../x.js"]) { try { out.push(await workflow(name)) } catch (e) { out.push(e.code + " " + /passwd:|root:/.test(e.message)) } } return out',
      ),
      'kid.js': workflow('return "ran"'),
    });
    const run = await runWf(['run', 'flow.js', '--backend', 'mock'], { project });
    expect(JSON.parse(run.stdout)).toEqual(Array(4).fill('WF_WORKFLOW_UNKNOWN false'));
  });

  it('agent types are the words of a list, not members of an object', async () => {
    const project = makeWith({
      'flow.js': workflow(
        'const out = []; for (const agentType of ["constructor", "__proto__", "toString"]) out.push((await agent.settled("x", { agentType })).cause.code); return out',
      ),
    });
    const run = await runWf(['run', 'flow.js', '--command', './agent.sh'], { project });
    expect(JSON.parse(run.stdout)).toEqual(Array(3).fill('WF_AGENT_TYPE'));
  });

  it('deps tells nothing of what lies outside of the project', async () => {
    const project = makeWith({
      'flow.js': workflow('return (await agent.settled("x", { deps: ["../../../etc/host*"] })).cause.message'),
    });
    const run = await runWf(['run', 'flow.js', '--command', './agent.sh'], { project });
    expect(run.stdout).toContain('leaves the project');
    expect(run.stdout).not.toContain('host');
  });

  it('C092 a cwd that leaves the project is refused in words that are the same on every machine', async () => {
    const project = makeWith({
      'flow.js': workflow(
        'return (await Promise.all(["..", "/"].map((cwd) => agent.settled("x", { cwd })))).map((told) => told.cause.message)',
      ),
    });
    const run = await runWf(['run', 'flow.js', '--command', './agent.sh'], { project });
    expect(JSON.parse(run.stdout)).toEqual(Array(2).fill('agent(): option cwd leaves the project.'));
  });
});
