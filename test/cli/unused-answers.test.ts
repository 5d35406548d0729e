/** A resume that asks for less than was recorded, or in another order: what it passes over must not stop what it needs. */
import { expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { journalFile } from '../support/journal.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { fillJournal } from './support/long-journal.js';
import { hitsIn, killRun, run } from './support/runs.js';

const CALLS = 60;
const ASKED = 17;
/** All of them are 18 MB; those that are passed over fill what is sent ahead more than once. */
const ANSWER_BYTES = 300_000;
const HEAD = `export const meta = { name: 'long', description: 'long answers' }
const size = async (i) => (await agent('part ' + i, { label: 'p' + i })).length
`;
const FIRST = `${HEAD}return await size(0)\n`;
/** From the middle on, some of it backwards; then the last, some backwards from before all of these, and the first at once. */
const SECOND = `${HEAD}let sum = await size(40)
for (let i = 46; i > 40; i--) sum += await size(i)
sum += await size(${CALLS - 1})
for (let i = 39; i > 34; i--) sum += await size(i)
const rest = await Promise.all([3, 2, 1, 0].map(size))
return rest.reduce((a, b) => a + b, sum)
`;

it('of 18 MB of recorded answers a script takes some from the middle, backwards and forwards, and then the first: none is asked again', async () => {
  const project = makeProject({ files: { 'long.js': FIRST } });
  const backend = makeFakeBackend(project, { gated: ['p0'] });
  const first = startWf(['run', 'long.js', ...backend.flags], { project });
  await backend.waitForStart('p0');
  const id = await killRun(first);
  fillJournal(journalFile(project, id) as string, CALLS, ANSWER_BYTES);
  project.write('long.js', SECOND);

  // The plan is the same replay, in a process of its own.
  const plan = await runWf(['plan', '--json', '--resume-from', id, 'long.js'], { project });
  expect(JSON.parse(plan.stdout), plan.stderr).toMatchObject({ hits: ASKED, live: 0, complete: true });
  const second = await run(project, ['long.js', '--resume-from', id, ...backend.flags]);
  expect([second.code, second.result], second.stderr).toEqual([0, ASKED * ANSWER_BYTES]);
  expect(second.state.counts).toMatchObject({ reused: ASKED, executed: 0 });
  expect(hitsIn(project, second.id)).toHaveLength(ASKED);
  expect(backend.ledger.starts()).toHaveLength(1);
});
