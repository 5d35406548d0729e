/** A thousand troubles of one cause are told once with their number; events, journal and JSON name each one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';
import { madeIn, run } from './support/runs.js';
import { makeShellAgent, usageLine } from './support/shell-agent.js';

const FAN = workflow(
  "return (await parallel(Array.from({ length: args }, (_, i) => () => agent('do ' + i)))).filter(Boolean).length",
);
const LOOP = workflow(
  "let refused = 0\nfor (let i = 0; i < args; i++) try { await agent('do ' + i) } catch { refused++ }\nreturn refused",
);

const eventsOf = (project: TestProject, id: string): { type: string; [field: string]: unknown }[] =>
  readFileSync(join(project.runDir(id), 'events.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

for (const [how, script, result] of [
  ['a fan-out', FAN, 5],
  ['a loop', LOOP, 395],
] as const)
  for (const quiet of [[], ['-q']])
    it(`395 calls of ${how} that the cap refuses are one line and a number${quiet.map((flag) => `, ${flag}`)}`, async () => {
      const project = makeProject({ files: { 'flow.js': script } });
      const flags = ['--args', '400', '--max-agents', '5', '--backend', 'mock', ...quiet];
      const ended = await run(project, ['flow.js', ...flags, '--reporter', 'jsonl=events', '--reporter', 'plain']);
      expect([ended.code, ended.result]).toEqual([3, result]);
      const lines = ended.stderr.trimEnd().split('\n');
      const caps = lines.filter((line) => /The run has started 5 agents/.test(line));
      // The first, the number of the others, what the group says, and the summary.
      expect(caps).toHaveLength(how === 'a loop' ? 3 : 4);
      expect(caps[0]).toMatch(/^\S+ #6 do 5: failed \(WF_AGENT_CAP: /);
      expect(ended.stderr).toMatch(/\n\S+ 394 more calls were refused for the same reason: WF_AGENT_CAP: The run has/);
      expect(ended.stderr).toMatch(
        /\n {6}failed 395 calls, #6 do 5, #7 do 6, #8 do 7 and 392 more: WF_AGENT_CAP: The run has started 5/,
      );
      if (how === 'a loop') expect(ended.stderr).not.toContain('#200 do 199');

      const refused = eventsOf(project, ended.id).filter(({ status }) => status === 'failed');
      expect(refused).toHaveLength(395);
      expect(
        project
          .read('events')
          .split('\n')
          .filter((line) => line.includes('"WF_AGENT_CAP"')),
      ).toHaveLength(396);
      expect(madeIn(project, ended.id).filter(({ kind }) => kind === 'failed')).toHaveLength(395);
      expect(ended.state.failures).toHaveLength(395);
    });

it('so are calls behind a spent budget, and what was refused for another reason is told apart', async () => {
  const script = workflow(`await agent('a')
const ask = (i) => agent('do ' + i, i === 7 ? { isolation: true } : {})
return (await parallel(Array.from({ length: 50 }, (_, i) => () => ask(i)))).length`);
  const project = makeProject({ files: { 'flow.js': script } });
  const agent = makeShellAgent(project, { '*': { says: usageLine(900) } });
  const { stderr } = await run(project, ['flow.js', '--budget', '500', '-q', ...agent.flags]);
  const ends = stderr.split('\n').filter((line) => /: failed \(WF_/.test(line));
  expect(ends).toHaveLength(2);
  expect(stderr).toContain('(WF_AGENT_OPTIONS: ');
  expect(stderr).toContain('48 more calls were refused for the same reason: WF_BUDGET: The run has spent its budget');
  expect(stderr).toMatch(/\n {6}failed #9 do 7: WF_AGENT_OPTIONS: /);
  expect(stderr).toMatch(/\n {6}failed 49 calls, #2 do 0, .* and 46 more: WF_BUDGET: /);
});

it('one error that empties every slot is told once, and agents that fail alike are one row of the summary', async () => {
  const script = workflow(`await parallel(Array.from({ length: 60 }, () => () => { throw new Error('bad') }))
return await parallel(Array.from({ length: 12 }, (_, i) => () => agent('x' + i)))`);
  const project = makeProject({ files: { 'flow.js': script } });
  const program = ['--backend', 'command', '--command', JSON.stringify(['/bin/sh', '-c', 'echo nowhere >&2; exit 3'])];
  const { id, stderr } = await run(project, ['flow.js', '--retries', '0', '-q', ...program]);
  expect(stderr.match(/ failed: bad \(flow\.js:2:/g)).toHaveLength(1);
  expect(stderr).toMatch(/ 59 more slots failed with the same error: bad \(flow\.js:2:\d+\)\n/);
  expect(eventsOf(project, id).filter(({ type }) => type === 'log')).toHaveLength(60);
  // Each was started, and has a time of its own.
  expect(stderr.match(/: failed \(WF_AGENT_FAILED: .*nowhere.*\), \d/g)).toHaveLength(12);
  expect(stderr).toMatch(/ failed 12 calls, #1 x0, #2 x1, #3 x2 and 9 more: WF_AGENT_FAILED: .*nowhere/);
});
