/** A journal longer than the longest text of V8 (512 MB) is read in a stream, and answers are parsed when they are hit. */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { journalFile } from '../support/journal.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { fillJournal } from './support/long-journal.js';
import { idOf, killRun, readResult, run } from './support/runs.js';
import { SHELL } from './support/worktrees.js';

const CALLS = 2_800;
const ANSWER_BYTES = 200_000;
const SCRIPT = `export const meta = { name: 'large', description: 'large answers' }
const sizes = await Promise.all(Array.from({ length: ${CALLS} }, async (_, i) => (await agent('part ' + i, { label: 'p' + i })).length))
return sizes.reduce((sum, size) => sum + size, 0)
`;

/** Its peak of memory so far, MB; undefined when it has gone. */
function peakOf(pid: number): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kb = /^VmHWM:\s+(\d+) kB/m.exec(status)?.[1];
    return kb === undefined ? undefined : Number(kb) / 1024;
  } catch {
    return undefined;
  }
}

it('B-038 a journal of over 512 MB is resumed whole, in less than 300 MB of memory', async (context) => {
  if (process.platform !== 'linux') return context.skip('peaks of memory are read from /proc');
  const project = makeProject({ files: { 'large.js': SCRIPT } });
  const backend = makeFakeBackend(project, { gated: ['/./'] });
  const first = startWf(['run', 'large.js', '--max-agents', '5000', '--concurrency', '1', ...backend.flags], {
    project,
  });
  await backend.waitForStart('p0');
  const id = await killRun(first);
  const file = journalFile(project, id) as string;
  fillJournal(file, CALLS, ANSWER_BYTES);
  expect(statSync(file).size).toBeGreaterThan(0x1fffffe8);

  const handle = startWf(['run', '--resume-from', id], { project, timeoutMs: 150_000 });
  let peak = 0;
  await waitFor(
    'the resume to end',
    () => {
      peak = Math.max(peak, peakOf(handle.pid) ?? 0);
      return handle.ended || undefined;
    },
    { timeoutMs: 150_000 },
  );
  const ended = await handle.done;
  expect([ended.code, readResult(ended.stdout)]).toEqual([0, CALLS * ANSWER_BYTES]);
  const state = JSON.parse(readFileSync(`${project.runDir(idOf(ended.stderr))}/state.json`, 'utf8'));
  expect(state.counts).toMatchObject({ reused: CALLS, executed: 0 });
  expect(peak).toBeGreaterThan(0);
  expect(peak).toBeLessThan(300);
  // A gigabyte must not lie there until the folder of the test goes.
  rmSync(project.runDir(id), { recursive: true });
}, 200_000);

it('a plan over a journal that is too large to be held at once tells what changed in a text', async () => {
  const script = (last: string): string => `export const meta = { name: 'large', description: 'large answers' }
for (const name of ['a', 'b', 'c', 'd', '${last}'])
  await agent(': ' + name + '; head -c 14000000 /dev/zero | tr "\\\\0" x', { label: 'say ' + (name > 'd' ? 'last' : name) })
`;
  const project = makeProject({ files: { 'large.js': script('e') } });
  const first = await run(project, ['large.js', ...SHELL]);
  expect(first.state.counts).toMatchObject({ ok: 5 });
  expect(statSync(journalFile(project, first.id) as string).size).toBeGreaterThan(64 << 20);
  project.write('large.js', script('f'));
  const { code, stdout, stderr } = await runWf(['plan', 'large.js', '--resume-from', first.id], { project });
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/#5 +live +say last +prompt changed: line 1, character 3/);
});
