/** Agents of the Agent Client Protocol, from the command line to the journal. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type AcpScript, writeAgentScript } from '../agents-room/acp-kit.js';
import { readJournal } from '../support/journal.js';
import { readJsonLines } from '../support/json-lines.js';
import { isAlive } from '../support/processes.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { newestRun, readState, workflow } from './cli-kit.js';

const agentFlags = (script: AcpScript) => {
  const agent = writeAgentScript(script);
  return { ...agent, flags: ['--backend', 'acp', '--command', JSON.stringify(agent.argv)] };
};

const ONE = workflow("return await agent('Say it.', { label: 'A' })");

describe('wf run --backend acp', () => {
  test('a call is answered and recorded, with its session, model and cost', async () => {
    const project = makeProject({ files: { 'flow.js': ONE } });
    const models = { currentModelId: 'm-1', availableModels: [] };
    const tokens = { inputTokens: 20, outputTokens: 4 };
    const { flags } = agentFlags({ start: { models }, steps: [[{ tokens }, { usd: 0.5 }, { say: 'It is said.' }]] });
    const run = await runWf(['run', 'flow.js', ...flags], { project });
    expect(run).toMatchObject({ code: 0, stdout: 'It is said.\n' });
    const line = readJournal(join(project.runDir(newestRun(project)), 'journal.jsonl'))[0];
    expect(line).toMatchObject({
      kind: 'ok',
      backend: 'acp',
      sessionId: 's1',
      model: 'm-1',
      usage: { inputTokens: 20, outputTokens: 4, usd: 0.5 },
    });
    // The whole of it again, without the agent.
    const again = await runWf(['run', '--resume-from', newestRun(project)], { project, env: { PATH: '/nowhere' } });
    expect(again).toMatchObject({ code: 0, stdout: 'It is said.\n' });
    expect(readState(project).counts).toMatchObject({ reused: 1, executed: 0 });
  });

  test('without a program nothing is started, and the message says how to name one', async () => {
    const project = makeProject({ files: { 'flow.js': ONE } });
    const run = await runWf(['run', 'flow.js', '--backend', 'acp'], { project });
    expect(run.code).toBe(2);
    expect(run.stderr).toContain("--backend acp --command '<program and arguments>'");
    expect(project.runIds()).toEqual([]);
  });

  test('gemini is known by name; where it is not installed the run stops and says so', async () => {
    const project = makeProject({ files: { 'flow.js': ONE } });
    const run = await runWf(['run', 'flow.js', '--backend', 'gemini'], { project });
    expect(run.code).toBe(6);
    expect(run.stderr).toContain('gemini could not be started: there is no such program');
  });

  test('the config names agents; a name is a backend of a run and of a call, and its variables reach it', async () => {
    const [one, two] = ['first', 'second'].map((say) => writeAgentScript({ steps: [[{ say }]] }));
    const entry = (agent: typeof one) => ({ command: agent?.argv[0], args: agent?.argv.slice(1), env: ['AGENT_KEY'] });
    const config = { backends: { acp: { one: entry(one), two: entry(two) } } };
    const body = `return [await agent('a'), await agent('b', { backend: 'two' })]`;
    const files = { 'flow.js': workflow(body), '.claude/wf.json': JSON.stringify({ backend: 'one', ...config }) };
    const project = makeProject({ files });
    const run = await runWf(['run', 'flow.js'], { project, env: { AGENT_KEY: 'k', OTHER_KEY: 'x' } });
    expect([run.code, JSON.parse(run.stdout)]).toEqual([0, ['first', 'second']]);
    const starts = [...(one?.notes() ?? []), ...(two?.notes() ?? [])].filter(({ what }) => what === 'start');
    const seen = starts.map(({ value }) => (value as { env: Record<string, string> }).env);
    expect(seen.map((env) => [env.AGENT_KEY, env.OTHER_KEY])).toEqual([
      ['k', undefined],
      ['k', undefined],
    ]);
    const lines = readJournal(join(project.runDir(newestRun(project)), 'journal.jsonl'));
    expect(lines.map(({ backend }) => backend)).toEqual(['one', 'two']);
  });

  test('an entry of the config that cannot be is refused by its place, before anything starts', async () => {
    const acp = { mine: { command: 'agent', modelArgs: ['--model'] } };
    const files = { 'flow.js': ONE, '.claude/wf.json': JSON.stringify({ backends: { acp } }) };
    const project = makeProject({ files });
    const run = await runWf(['run', 'flow.js', '--backend', 'mine'], { project });
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(/backends\.acp\.mine\.modelArgs.*holds no \{model\}/);
  });

  test('a call may name it beside the backend of the run', async () => {
    const agent = writeAgentScript({ steps: [[{ say: 'by acp' }]] });
    const body = `return [await agent('a'), await agent('b', { backend: 'acp' })]`;
    const project = makeProject({ files: { 'flow.js': workflow(body) } });
    const run = await runWf(['run', 'flow.js', '--command', JSON.stringify(agent.argv)], { project });
    // The same program, once as a plain command: to it the prompt is no message.
    expect(run.code).toBe(0);
    expect(JSON.parse(run.stdout)).toEqual([expect.stringContaining('Parse error'), 'by acp']);
  });

  test('what is not held to is said once; stderr of a machine stays clean whatever an agent writes', async () => {
    const body = `return await parallel(['a', 'b'].map((name) => () => agent(name, { model: 'opus' })))`;
    const project = makeProject({ files: { 'flow.js': workflow(body) } });
    const noise = [
      { raw: '{"jsonrpc":"2.0","id":99,"result":{}}' },
      {
        raw: '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"new"}}}',
      },
      { raw: 'not a message' },
      { request: 'vendor/unknown', params: {} },
      { say: 'x' },
    ];
    const { flags } = agentFlags({ start: { stderr: 'debug' }, steps: [noise] });
    const run = await runWf(['run', 'flow.js', '--reporter', 'jsonl', ...flags], { project });
    expect(run.code).toBe(0);
    const events = readJsonLines(run.stderr);
    const warnings = events.filter(({ type }) => type === 'warning').map(({ message }) => message);
    expect(warnings).toEqual([expect.stringContaining('does not let its model be chosen')]);
  });

  test('sign-in ends the run with exit code 6, resumable, and no second call is started', async () => {
    const body = `const a = await agent('a')\nreturn [a, await agent('b')]`;
    const project = makeProject({ files: { 'flow.js': workflow(body) } });
    const sessionError = { code: -32_000, message: 'Authentication required' };
    const { flags, notes } = agentFlags({ start: { sessionError, authMethods: [{ id: 'x', name: 'Acme login' }] } });
    const run = await runWf(['run', 'flow.js', ...flags], { project });
    expect(run.code).toBe(6);
    expect(run.stderr).toContain('Acme login');
    expect(run.stderr).toContain('--resume-from');
    expect(notes().filter(({ what }) => what === 'start')).toHaveLength(1);
  });

  test('SIGINT cancels the turn by the protocol, and nothing stays', async () => {
    const project = makeProject({ files: { 'flow.js': ONE } });
    const { flags, notes } = agentFlags({ steps: [[{ child: true }, { hang: true }]] });
    const run = startWf(['run', 'flow.js', ...flags], { project });
    await waitFor('the turn', () => notes().some(({ what }) => what === 'hangs'));
    run.kill('SIGINT');
    expect(await run.done).toMatchObject({ code: 130 });
    expect(notes().at(-1)?.what).toBe('cancel');
    for (const pid of pidsOf(notes())) expect(isAlive(pid)).toBe(false);
  });

  test('SIGKILL of wf itself: the guard ends the agent and its child, and a resume asks anew', async () => {
    const project = makeProject({ files: { 'flow.js': ONE } });
    const { flags, notes } = agentFlags({ start: { ignoreTerm: true }, steps: [[{ child: true }, { hang: true }]] });
    const run = startWf(['run', 'flow.js', ...flags], { project });
    await waitFor('the turn', () => notes().some(({ what }) => what === 'hangs'));
    run.kill('SIGKILL');
    await run.exited;
    for (const pid of pidsOf(notes())) await waitFor(`the end of ${pid}`, () => !isAlive(pid));
    const other = agentFlags({ steps: [[{ say: 'now' }]] });
    const again = await runWf(['run', '--resume-from', newestRun(project), ...other.flags], { project });
    expect(again).toMatchObject({ code: 0, stdout: 'now\n' });
  });
});

const pidsOf = (notes: { what: string; value: unknown }[]): number[] =>
  notes.flatMap(({ what, value }) =>
    what === 'child' ? [value as number] : what === 'start' ? [(value as { pid: number }).pid] : [],
  );

test('events of a call are live in events.jsonl: words and tools', async () => {
  const project = makeProject({ files: { 'flow.js': ONE } });
  const tool = {
    update: 'tool_call',
    fields: { toolCallId: 't', title: 'Read notes.md', kind: 'read', status: 'completed' },
  };
  const { flags } = agentFlags({ steps: [[{ say: 'Looking.' }, tool, { say: 'Seen.' }]] });
  expect(await runWf(['run', 'flow.js', '-q', ...flags], { project })).toMatchObject({ code: 0, stdout: 'Seen.\n' });
  const events = readJsonLines(readFileSync(join(project.runDir(newestRun(project)), 'events.jsonl'), 'utf8'));
  expect(events.filter(({ type }) => type === 'call.progress').map(({ text }) => text)).toEqual([
    'Looking.',
    'tool Read notes.md',
    'Seen.',
  ]);
});
