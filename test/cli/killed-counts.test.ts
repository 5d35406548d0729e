/** A run that was killed is counted from its records: it tells the numbers that it would have told itself. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunView } from '../../src/index.js';
import { waitForJournalLines } from '../support/journal.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { readState, workflow } from './cli-kit.js';
import { idOf, killRun } from './support/runs.js';
import { makeShellAgent, type ShellAgent } from './support/shell-agent.js';

/** Votes side by side, a question that is asked until it is answered, one that a later phase asks again, and a last call. */
const SCRIPT = workflow(`phase('Votes')
await parallel([1, 2, 3].map((i) => () => agent('vote', { label: 'vote ' + i })))
phase('Tries')
for (let i = 1, answer = null; answer === null; i++) answer = await agent('try', { label: 'try ' + i })
await agent('doubt', { label: 'doubt' })
phase('Again')
await agent('doubt', { label: 'doubt again' })
return await agent('last', { label: 'last' })`);

const SAYS = '{"wf":"usage","in":10,"out":20,"usd":0.25}';
const SAYS_NO_MONEY = '{"wf":"usage","in":1,"out":2}';

const show = async (project: TestProject, id: string): Promise<RunView> =>
  JSON.parse((await runWf(['show', id, '--json'], { project })).stdout);

/** The same run twice, up to its last call: there it is stopped, and tells its numbers itself, and there it is killed. */
async function stopAndKill(project: TestProject, agent: ShellAgent, args: readonly string[]) {
  const reachLast = async () => {
    const before = agent.started().filter((label) => label === 'last').length;
    const handle = startWf(['run', ...args], { project });
    await agent.waitFor('start', 'last', before + 1);
    // The agent may be quicker than what is told of it.
    const events = join(project.runDir(idOf(handle.stderr)), 'events.jsonl');
    const isTold = () => /"call.started".*"label":"last"/.test(readFileSync(events, 'utf8'));
    await waitFor('the start of the last call among the events', isTold);
    return handle;
  };
  const stopped = await reachLast();
  stopped.kill('SIGINT');
  await stopped.done;
  const id = await killRun(await reachLast());
  return { id, told: readState(project, idOf(stopped.stderr)), shown: await show(project, id) };
}

it.each([
  ['before', { 'vote 1': { fail: 1 }, 'vote *': { delay: 0.2, says: SAYS } }],
  ['after', { 'vote 1': { fail: 1, delay: 0.2 }, 'vote *': { says: SAYS } }],
])(
  'equal calls side by side do not make up for one that fails %s they are answered; calls that ask again do',
  async (_when, votes) => {
    const project = makeProject({ files: { 'flow.js': SCRIPT } });
    const agent = makeShellAgent(project, {
      ...votes,
      'try 1': { fail: 1, says: SAYS },
      'try 2': { fail: 1, says: SAYS_NO_MONEY },
      doubt: { fail: 1 },
      last: { gate: 'never' },
    });
    const first = await stopAndKill(project, agent, ['flow.js', ...agent.flags]);
    expect(first.told.counts).toMatchObject({ calls: 9, ok: 4, failed: 1, recovered: 3, noResult: 1, executed: 9 });
    expect(first.shown.counts).toEqual(first.told.counts);
    expect(first.shown.phases).toEqual(first.told.phases);
    expect(first.shown.usage).toEqual(first.told.usage);

    // The vote fails again; the answers of later calls are there for those that had failed before them.
    const next = await stopAndKill(project, agent, ['--resume-from', first.id]);
    expect(next.told.counts).toMatchObject({ reused: 4, failed: 1, recovered: 0, noResult: 1 });
    expect(next.shown.counts).toEqual(next.told.counts);
    expect(next.shown.phases).toEqual(next.told.phases);
    expect(next.shown.usage).toEqual(next.told.usage);
  },
);

it('a failure that was made up for a moment before the kill is told as such, where no process of an agent was started', async () => {
  const rules = [
    { when: { label: 'vote 1' }, error: 'failed' },
    { when: { label: 'try 1' }, error: 'failed' },
  ];
  const hang = { when: { label: 'last' }, hang: true };
  const project = makeProject({
    files: { 'flow.js': SCRIPT, 'rules.json': JSON.stringify([...rules, hang, { reply: 'fine' }]) },
  });
  const handle = startWf(['run', 'flow.js', '--backend', 'mock', '--mock', 'rules.json'], { project });
  await waitForJournalLines(project, 7);
  const { counts } = await show(project, await killRun(handle));
  expect(counts).toMatchObject({ ok: 5, failed: 1, recovered: 1 });
});
