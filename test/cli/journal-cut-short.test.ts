/** A journal above 64 MB is read again by place while the resume runs: what becomes of that where it can no longer be read. */
import { readFileSync, statSync, truncateSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { journalFile } from '../support/journal.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { fillJournal } from './support/long-journal.js';
import { idOf, killRun } from './support/runs.js';

const CALLS = 400;
const ANSWER_BYTES = 200_000;
const scriptOf = (first: string): string => `export const meta = { name: 'long', description: 'a long journal' }
${first}let sum = 0
for (let i = 0; i < ${CALLS}; i++) sum += (await agent('part ' + i, { label: 'p' + i })).length
return sum
`;

it('R3 a journal that was cut short while a resume read it ends that resume with its file, the cause and what to do', async () => {
  const project = makeProject({ files: { 'long.js': scriptOf('') } });
  const backend = makeFakeBackend(project, { gated: ['p0', 'new'] });
  const first = startWf(['run', 'long.js', ...backend.flags], { project });
  await backend.waitForStart('p0');
  const id = await killRun(first);
  const file = journalFile(project, id) as string;
  fillJournal(file, CALLS, ANSWER_BYTES);
  expect(statSync(file).size).toBeGreaterThan(64 << 20);
  project.write('long.js', scriptOf("await agent('asked anew', { label: 'new' })\n"));

  const resume = startWf(['run', 'long.js', '--resume-from', id, ...backend.flags], { project });
  await backend.waitForStart('new');
  truncateSync(file, 20 << 20);
  backend.openGate('new');
  const { code, stdout, stderr } = await resume.done;

  expect(stderr).toContain('WF_RUN_DAMAGED');
  expect(stderr).toContain(`.claude/workflow-runs/${id}/journal.jsonl`);
  expect(stderr).toContain('became shorter');
  expect(stderr).not.toContain('    at ');
  expect([code, stdout]).toEqual([6, '']);
  const state = JSON.parse(readFileSync(`${project.runDir(idOf(stderr))}/state.json`, 'utf8'));
  expect(state).toMatchObject({ status: 'failed', cause: 'WF_RUN_DAMAGED' });
  // The finished call of this run is on record, and nothing else was asked.
  expect(state.counts.executed).toBe(1);
  const again = await runWf(['run', '--resume-from', idOf(stderr), ...backend.flags], { project });
  expect([again.code, again.stdout.trim()], again.stderr).toEqual([0, String(CALLS * ANSWER_BYTES)]);
  expect(backend.ledger.starts().map(({ label }) => label)).toEqual(['p0', 'new']);
});
