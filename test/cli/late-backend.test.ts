/** The backend of a run is made when a call needs it, and found where none was chosen. */
import { chmodSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { newestRun, readState, workflow } from './cli-kit.js';

const TWO = workflow("return [await agent('one'), await agent('two' + (args ?? ''))].join(' ')");
const resume = (project: TestProject, id: string, ...flags: string[]) =>
  runWf(['run', '--resume-from', id, ...flags], { project });

describe('a complete run replays without its backend', () => {
  it('on mock with its rules file gone; a call that must run stops it, and the run goes on once it is back', async () => {
    const rules = JSON.stringify([{ when: {}, reply: 'from rules' }]);
    const project = makeProject({ files: { 'flow.js': TWO, 'rules.json': rules } });
    await runWf(['run', 'flow.js', '--mock', 'rules.json'], { project });
    const first = newestRun(project);
    rmSync(project.path('rules.json'));
    expect(await resume(project, first)).toMatchObject({ code: 0, stdout: 'from rules from rules\n' });
    expect(await runWf(['plan', '--resume-from', first, '--json'], { project })).toMatchObject({ code: 0 });

    const changed = await resume(project, first, '--args-text', '!');
    expect(changed.code).toBe(6);
    expect(changed.stderr).toMatch(/WF_BACKEND_SETUP[\s\S]*rules\.json/);
    expect(readState(project)).toMatchObject({ counts: { reused: 1, noResult: 1, executed: 0 } });
    project.write('rules.json', rules);
    expect(await resume(project, newestRun(project))).toMatchObject({ code: 0, stdout: 'from rules from rules\n' });
  });

  it('on one that the config no longer sets up', async () => {
    const backends = { command: { tool: { argv: ['./tool.sh'] } } };
    const project = makeProject({ files: { 'flow.js': TWO, 'tool.sh': '#!/bin/sh\ncat\n' } });
    chmodSync(project.path('tool.sh'), 0o755);
    project.write('.claude/wf.json', JSON.stringify({ backends }));
    await runWf(['run', 'flow.js', '--backend', 'tool'], { project });
    const first = newestRun(project);
    rmSync(project.path('.claude/wf.json'));
    expect(await resume(project, first)).toMatchObject({ code: 0, stdout: 'one two\n' });
    const changed = await resume(project, first, '--args-text', '!');
    expect(changed.code).toBe(6);
    expect(changed.stderr).toMatch(/WF_BACKEND_SETUP[\s\S]*no backend named "tool"/);
  });

  it('what a resume itself names wrongly is refused at its start', async () => {
    const project = makeProject({ files: { 'flow.js': TWO } });
    await runWf(['run', 'flow.js', '--backend', 'mock'], { project });
    const first = newestRun(project);
    expect(await resume(project, first, '--mock', 'nowhere.json')).toMatchObject({ code: 2 });
    expect(await resume(project, first, '--backend', 'nobody')).toMatchObject({ code: 2 });
    expect(project.runIds()).toEqual([first]);
  });
});

// Programs of the machine must not be found.
const EMPTY = { PATH: '/nowhere', CLAUDE_CODE_EXECUTABLE: undefined };
const PAID = `#!/bin/sh\nPATH=/usr/bin:/bin\ncat > asked\necho '{"wf":"usage","in":1,"out":1,"usd":0.01}' >&2\necho reviewed\n`;

describe('a run for which no backend was chosen', () => {
  it('ends at once where none is found, and says what was looked for and how to mend it; mock is never taken', async () => {
    const project = makeProject({ files: { 'flow.js': TWO } });
    const run = await runWf(['run', 'flow.js'], { project, env: EMPTY });
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toMatch(
      /WF_BACKEND_UNKNOWN: No backend was chosen by --backend, WF_BACKEND or a config, and none was found/,
    );
    expect(run.stderr).toMatch(/Looked for claude: .*; gemini: .*; ai-sdk: /);
    expect(run.stderr).toMatch(/--dry-run/);
    expect(project.runIds()).toEqual([]);
  });

  it('takes the first that can work here, says which and why, and a resume keeps it', async () => {
    const project = makeProject({ files: { 'flow.js': TWO, 'agent.mjs': ACP_AGENT } });
    const agent = { command: process.execPath, args: [project.path('agent.mjs')] };
    project.write('.claude/wf.json', JSON.stringify({ backends: { acp: { helper: agent } } }));
    const run = await runWf(['run', 'flow.js', '--reporter', 'jsonl=events.out', '--reporter', 'plain'], {
      project,
      env: EMPTY,
    });
    expect(run).toMatchObject({ code: 0, stdout: 'acp answer acp answer\n' });
    expect(run.stderr).toMatch(/backend helper \(found helper .*; not claude.*; none was chosen\)/);
    const started = JSON.parse(project.read('events.out').split('\n')[0] ?? '');
    expect(started).toMatchObject({
      type: 'run.started',
      backend: 'helper',
      backendWhy: expect.stringContaining('found'),
    });
    const record = JSON.parse(project.read(`.claude/workflow-runs/${newestRun(project)}/run.json`));
    expect(record.settingSources.backend).toMatchObject({ from: 'detection' });
    rmSync(project.path('agent.mjs'));
    expect(await resume(project, newestRun(project))).toMatchObject({ code: 0, stdout: 'acp answer acp answer\n' });
  });
});

describe('calls that name their own backend, where no other is found', () => {
  const backends = { command: { rev: { argv: ['./rev.sh'] } } };
  const makeWith = (body: string, files: Record<string, string> = {}, config: object = { backends }): TestProject => {
    const project = makeProject({
      files: {
        'flow.js': workflow(body),
        'rev.sh': '#!/bin/sh\nPATH=/usr/bin:/bin\ncat >> asked\necho >> asked\necho reviewed\n',
        '.claude/wf.json': JSON.stringify(config),
        ...files,
      },
    });
    chmodSync(project.path('rev.sh'), 0o755);
    return project;
  };
  const asked = (project: TestProject): string[] => project.read('asked').split('\n').filter(Boolean);
  const start = (project: TestProject, ...flags: string[]) =>
    runWf(['run', 'flow.js', ...flags], { project, env: EMPTY });
  const NAMED = "agent('one', { backend: 'rev' })";

  it('need none: the run starts, says so, and can be resumed and replayed', async () => {
    const project = makeWith(`return [await ${NAMED}, await agent('two' + (args ?? ''), { backend: 'rev' })]`);
    const run = await start(project, '--reporter', 'jsonl=events.out', '--reporter', 'plain');
    expect([run.code, JSON.parse(run.stdout)]).toEqual([0, ['reviewed', 'reviewed']]);
    expect(run.stderr).toMatch(/backend none \(none was chosen and none found; calls have to name theirs\)/);
    expect(JSON.parse(project.read('events.out').split('\n')[0] ?? '')).toMatchObject({ backend: '' });
    const first = newestRun(project);
    const changed = await runWf(['run', '--resume-from', first, '--args-text', '!'], { project, env: EMPTY });
    expect(changed.code).toBe(0);
    expect(asked(project)).toEqual(['one', 'two', 'two!']);
    // Nothing is left that could answer, and nothing is needed.
    rmSync(project.path('.claude/wf.json'));
    expect(await runWf(['run', '--resume-from', first], { project, env: EMPTY })).toMatchObject({ code: 0 });
    expect(await runWf(['plan', '--resume-from', first], { project, env: EMPTY })).toMatchObject({ code: 0 });
    expect((await runWf(['show', first], { project, env: EMPTY })).stdout).toMatch(/^backend +none$/m);
  });

  it('a call that names none stops the run, says which and how to mend it; a resume takes what was set since', async () => {
    const project = makeWith(`return [await ${NAMED}, await agent('two', { label: 'second' })]`);
    const run = await start(project);
    expect(run.code).toBe(6);
    expect(run.stderr).toMatch(/WF_BACKEND_SETUP: Call "second": It names no backend, none was chosen by --backend/);
    expect(run.stderr).toMatch(/Looked for claude: .*; gemini: .*; ai-sdk: .*Name one in the call, or set WF_BACKEND/);
    expect(readState(project)).toMatchObject({ counts: { ok: 1, noResult: 1 } });
    const again = await runWf(['run', '--resume-from', newestRun(project)], {
      project,
      env: { ...EMPTY, WF_BACKEND: 'rev' },
    });
    expect([again.code, JSON.parse(again.stdout)]).toEqual([0, ['reviewed', 'reviewed']]);
    expect(again.stderr).toContain('The backend is now rev; the source run had none.');
    expect(readState(project)).toMatchObject({ counts: { reused: 1, executed: 1 } });
    expect(asked(project)).toEqual(['one', 'two']);
  });

  it.each([
    ['by options from the args', "return await agent('one', args)", {}, ['--args', '{"backend":"rev"}']],
    [
      'in a child workflow',
      "return await workflow('kid')",
      { '.claude/workflows/kid.js': workflow(`return await ${NAMED}`, 'kid') },
      [],
    ],
    ['by a helper', "const o = {}; o['backend'] = 'rev'; return await agent('one', o)", {}, []],
    ['with a ceiling of money and prices of none', `return await ${NAMED}`, { 'rev.sh': PAID }, ['--budget-usd', '1']],
  ])('%s', async (_how, body, files, flags) => {
    const project = makeWith(body, files);
    expect(await start(project, ...flags)).toMatchObject({ code: 0, stdout: 'reviewed\n' });
  });

  it.each([
    ['names none, whatever the config has set up', "return await agent('one')"],
    ['only speaks of backends', "return await agent('Is the backend sound?', { label: ['frontend', 'backend'][1] })"],
  ])('a script that %s is refused before anything starts', async (_how, body) => {
    const project = makeWith(body);
    const run = await start(project);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toMatch(/WF_BACKEND_UNKNOWN: No backend was chosen .*none was found/);
    expect(project.runIds()).toEqual([]);
  });
});

/** An agent that speaks just enough of the protocol. */
const ACP_AGENT = `
import { createInterface } from 'node:readline'
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, agentCapabilities: {}, authMethods: [] } })
  else if (method === 'session/new') send({ id, result: { sessionId: 's1' } })
  else if (method === 'session/prompt') {
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'acp answer' } }
    send({ method: 'session/update', params: { sessionId: 's1', update } })
    send({ id, result: { stopReason: 'end_turn' } })
  } else if (id !== undefined) send({ id, error: { code: -32601, message: 'unknown method' } })
})
`;
