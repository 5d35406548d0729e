/** The test kit with the real command: a run that is killed at a gate and resumed. */
import { expect, it } from 'vitest';
import { makeFakeBackend } from './fake-backend.js';
import { journalFile, readJournal, waitForJournalLines } from './journal.js';
import { expectNoProcessesLeft } from './processes.js';
import { runWf, startWf } from './run-wf.js';
import { makeProject } from './temp-project.js';

const SCRIPT = `export const meta = { name: 'three', description: 'Three calls in sequence' }
const a = await agent('do A', { label: 'A' })
const b = await agent('do B', { label: 'B' })
const c = await agent('do C', { label: 'C' })
return { a, b, c }
`;

it('J8 J9 J10: K(B), then resume: A is kept, B and C run', async () => {
  const project = makeProject({ files: { 'three.js': SCRIPT } });
  const backend = makeFakeBackend(project, { gated: ['B'] });

  const first = startWf(['run', 'three.js', ...backend.flags], { project });
  await backend.waitForStart('B');
  await waitForJournalLines(project, 1);
  first.killTree();
  expect(await first.done).toMatchObject({ signal: 'SIGKILL' });
  await expectNoProcessesLeft(project.root);
  const [firstId] = project.runIds() as [string];
  expect(readJournal(journalFile(project, firstId) as string)).toMatchObject([{ label: 'A', kind: 'ok' }]);

  backend.openGate('B');
  const second = await runWf(['run', '--resume-from', firstId], { project });
  expect(second).toMatchObject({ code: 0 });
  expect(JSON.parse(second.stdout)).toEqual({ a: 'A answered #1', b: 'B answered #3', c: 'C answered #4' });
  expect(['A', 'B', 'C'].map((label) => backend.ledger.starts(label).length)).toEqual([1, 2, 1]);
  expect(project.runIds()).toHaveLength(2);
});
