/** `--confirm-above`: one question before a large fan-out, and never one where nobody can answer. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { openTerminal, wfCommand } from '../support/terminal.js';
import { waitFor } from '../support/wait.js';
import { newestRun, readState, workflow } from './cli-kit.js';
import { needTool } from './support/need-tool.js';
import { makeShellAgent } from './support/shell-agent.js';

const FAN = workflow(`await agent('first', { label: 'first' })
return (await parallel(Array.from({ length: 6 }, (_, i) => () => agent('do ' + i, { label: 'c' + i })))).length`);

it('B-133 in a terminal one question names the whole fan-out before its first call; no cancels, yes goes on, and the cap holds', async (context) => {
  needTool(context, 'script');
  const project = makeProject({ files: { 'flow.js': FAN } });
  const agent = makeShellAgent(project);
  const flags = ['run', 'flow.js', ...agent.flags, '--confirm-above', '3'];
  const no = openTerminal(project, `exec ${wfCommand(flags)}`);
  await no.waitForOutput(/wants to execute 7 calls, more than 3\. Go on\? \[y\/N\]/);
  expect(agent.started()).toEqual(['first']);
  no.type('n\r');
  expect(await no.done).toBe(130);
  expect(no.output).toMatch(/wf run --resume-from [0-9a-f-]{36} --confirm-above 3\r?\n/);
  expect(readState(project)).toMatchObject({ status: 'cancelled', counts: { ok: 1, noResult: 6, executed: 1 } });
  const yes = openTerminal(project, `exec ${wfCommand([...flags, '--max-agents', '5'])}`);
  await yes.waitForOutput(/Go on\?/);
  yes.type('y\r');
  expect(await yes.done).toBe(3);
  expect(yes.output.match(/Go on\?/g)).toHaveLength(1);
  expect(readState(project).counts).toMatchObject({ ok: 5, failed: 2, executed: 5 });
});

it('B-133 without a terminal it is refused before anything starts; a fan-out below the number is not asked about', async (context) => {
  const project = makeProject({ files: { 'flow.js': FAN } });
  const agent = makeShellAgent(project);
  const ci = await runWf(['run', 'flow.js', ...agent.flags, '--confirm-above', '3'], { project });
  expect([ci.code, ci.stderr]).toEqual([2, expect.stringContaining('this is no terminal')]);
  const owned = await runWf(['run', 'flow.js', ...agent.flags, '--confirm-above', '3', '--reporter', 'jsonl'], {
    project,
  });
  expect([owned.code, owned.stderr]).toEqual([2, expect.stringMatching(/asks on stderr, .*jsonl[\s\S]*jsonl=<file>/)]);
  expect(agent.started()).toEqual([]);
  needTool(context, 'script');
  const quiet = openTerminal(project, `exec ${wfCommand(['run', 'flow.js', ...agent.flags, '--confirm-above', '7'])}`);
  expect(await quiet.done).toBe(0);
  expect(quiet.output).not.toContain('Go on?');
});

it('B-133 Ctrl-C at the question ends the run and the process, without another key', async (context) => {
  needTool(context, 'script');
  const project = makeProject({ files: { 'flow.js': FAN } });
  const agent = makeShellAgent(project);
  const asked = openTerminal(project, `exec ${wfCommand(['run', 'flow.js', ...agent.flags, '--confirm-above', '3'])}`);
  await asked.waitForOutput(/Go on\?/);
  asked.type('\x03');
  expect(await asked.done).toBe(130);
  expect(readState(project)).toMatchObject({ status: 'cancelled', counts: { executed: 1 } });
  expect(agent.started()).toEqual(['first']);
});

it('B-133 what happens while the question stands is printed after the answer, so that nothing scrolls it away', async (context) => {
  needTool(context, 'script');
  const slowAndFan = workflow(`const slow = agent('slow', { label: 'slow' })
await agent('first', { label: 'first' })
const fan = await parallel(['a', 'b', 'c'].map((x) => () => agent('do ' + x, { label: x })))
return [await slow, ...fan].length`);
  const project = makeProject({ files: { 'flow.js': slowAndFan } });
  const agent = makeShellAgent(project, { slow: { gate: 'slow' } });
  const terminal = openTerminal(
    project,
    `exec ${wfCommand(['run', 'flow.js', ...agent.flags, '--confirm-above', '3'])}`,
  );
  await terminal.waitForOutput(/Go on\? \[y\/N\] /);
  agent.openGate('slow');
  const events = join(project.runDir(newestRun(project)), 'events.jsonl');
  await waitFor('the end of slow in the events', () =>
    /"type":"call.finished","n":1,/.test(readFileSync(events, 'utf8')),
  );
  expect(terminal.output).toMatch(/Go on\? \[y\/N\] $/);
  terminal.type('y\r');
  await terminal.waitForOutput(/Go on\? \[y\/N\] y\r?\n[\s\S]*#1 slow: ok/);
  expect(await terminal.done).toBe(0);
});
