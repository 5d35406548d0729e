/** `--record`: what a run was given, as rules that give it again. */
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { run } from './support/runs.js';
import { makeShellAgent, usageLine } from './support/shell-agent.js';

const SCRIPT = `export const meta = { name: 'flow', description: 'All kinds of calls' }
const JSON_SCHEMA = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
const said = []
const attempt = async (label, options) => { try { said.push(await agent('ask ' + label, { label, ...options })) } catch (error) { said.push(error.name + ' ' + error.code + ' ' + error.message) } }
phase('One')
said.push(await parallel(['x', 'y', 'z'].map(() => () => agent('vote', { label: 'vote' }))))
said.push(await parallel([() => agent('do a', { label: 'a' }), () => agent('do ab (1/2) [x]', { label: 'ab' }), () => agent('/do a/', { label: '/a/' })]))
phase('Two')
await attempt('json', { schema: JSON_SCHEMA })
await attempt('text', { schema: { enum: ['yes', 'no'] } })
await attempt('misfit', { schema: JSON_SCHEMA })
await attempt('fails')
await attempt('down', { retries: 1 })
said.push(await Promise.race([agent('slow', { label: 'slow' }), agent('fast', { label: 'fast' })]))
return said
`;

it('--record writes rules by which mock gives the same script the same answers and failures', async () => {
  const project = makeProject({ files: { 'flow.js': SCRIPT } });
  const agent = makeShellAgent(project, {
    json: { reply: '{"a":"b"}', says: usageLine(7, 0.5) },
    a: { says: usageLine(3) },
    text: { reply: '"yes"' },
    misfit: { reply: 'no json' },
    fails: { fail: 3 },
    down: { fail: 75 },
    slow: { gate: 'never' },
  });
  const real = await run(project, ['flow.js', ...agent.flags, '--record', 'answers.json']);
  expect(real.code).toBe(3);
  const votes = (real.result as string[][])[0] as string[];
  expect(new Set(votes).size).toBe(3);
  const mocked = await run(project, ['flow.js', '--backend', 'mock', '--mock', 'answers.json']);
  expect(mocked.result).toEqual(real.result);
  expect(mocked.code).toBe(3);
  const failures = ({ state }: typeof real): unknown =>
    (state.failures as { label: string; code: string; message: string }[]).map(({ label, code, message }) => [
      label,
      code,
      message,
    ]);
  expect(failures(mocked)).toEqual(failures(real));
  expect(mocked.state.counts).toMatchObject({ abandoned: 1 });
  // A resume was given answers, too; the loser of its race was never started there, so nothing is known of it.
  const resumed = await run(project, ['--resume-from', real.id, '--record', 'again.json']);
  expect(resumed.state.counts).toMatchObject({ reused: 9 });
  const again = await run(project, ['flow.js', '--backend', 'mock', '--mock', 'again.json']);
  expect((again.result as unknown[]).slice(0, -1)).toEqual((real.result as unknown[]).slice(0, -1));
}, 90_000);

it('--record overwrites nothing, and a place that cannot be written is refused before anything is spent', async () => {
  const project = makeProject({ files: { 'flow.js': SCRIPT, 'there.json': 'mine' } });
  const refuse = async (file: string, words: RegExp): Promise<void> => {
    const refused = await runWf(['run', 'flow.js', '--backend', 'mock', '--record', file], { project });
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([2, '', expect.stringMatching(words)]);
    expect(project.runIds()).toEqual([]);
  };
  await refuse('there.json', /it is not overwritten/);
  expect(project.read('there.json')).toBe('mine');
  await refuse(
    'no/such/folder.json',
    /--record no\/such\/folder\.json cannot be written.*ENOENT[\s\S]*Make its folder first/,
  );
  await refuse('flow.js/x.json', /cannot be written.*(ENOTDIR|EACCES)/);
  expect(existsSync(project.path('no'))).toBe(false);
});

it('a recording whose folder is gone at the end takes nothing from the run', async () => {
  const project = makeProject({ files: { 'out/.keep': '' } });
  project.write('one.js', "export const meta = { name: 'one', description: 'One' }\nreturn await agent('a')\n");
  const remove = ['--command', JSON.stringify(['/bin/sh', '-c', 'rm -r out; printf done'])];
  const done = await run(project, ['one.js', ...remove, '--record', 'out/answers.json']);
  expect([done.code, done.result]).toEqual([0, 'done']);
  expect(done.stderr).toMatch(/WF_RECORD: The answers could not be recorded in out\/answers\.json/);
  expect(done.state.notices).toContainEqual(expect.stringContaining('could not be recorded'));
});
