/**
 * C1 C5 C6 O2: a run ended at a random moment by a stop from elsewhere, by two signals, or by the loss of its sandbox.
 * Exit code, records and `wf ls` agree, nothing of it goes on, and the resume pays for no finished call again.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { journalFile, readJournal } from '../support/journal.js';
import { expectNoProcessesLeft } from '../support/processes.js';
import { runWf, startWf, type WfHandle } from '../support/run-wf.js';
import { seededRandom, testSeed } from '../support/seeds.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { hasState, readState, sandboxOf, workflow } from './cli-kit.js';
import { makeShellAgent } from './support/shell-agent.js';

const ROUNDS = Math.max(10, Number(process.env.WF_SOAK ?? 0));
const CALLS = 9;
const FLOW = workflow(`const list = (name) => [1, 2, 3].map((i) => () => agent('do ' + name + i, { label: name + i }))
const a = await parallel(list('a'))
const b = []
for (const ask of list('b')) b.push(await ask())
const c = await pipeline([1, 2, 3], (i) => agent('do c' + i, { label: 'c' + i }))
return { a, b, c }`);

type How = 'SIGINT twice' | 'sandbox' | 'stop' | 'stop --drain';
const HOWS: How[] = ['SIGINT twice', 'sandbox', 'stop', 'stop --drain'];

/** Exit code → status, for runs that were told to end; a run that was at its end already completes. */
const ENDS: Record<How, [code: number | null, status: string][]> = {
  'SIGINT twice': [
    [130, 'interrupted'],
    [130, 'cancelled'],
  ],
  sandbox: [[1, 'failed']],
  stop: [[130, 'cancelled']],
  'stop --drain': [[143, 'interrupted']],
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function end(how: How, run: WfHandle, project: TestProject): Promise<void> {
  switch (how) {
    case 'SIGINT twice':
      run.kill('SIGINT');
      await pause(200);
      run.kill('SIGINT');
      return;
    case 'sandbox':
      try {
        process.kill(sandboxOf(run.pid).pid, 'SIGKILL');
      } catch {
        // Not there yet, or there no more.
      }
      return;
    case 'stop':
    case 'stop --drain': {
      const [id] = project.runIds();
      const [verb = '', ...flags] = how.split(' ');
      if (id !== undefined) expect([0, 2]).toContain((await runWf([verb, id, ...flags], { project })).code);
      return;
    }
  }
}

describe('a run that is ended at a random moment', () => {
  it.each(Array.from({ length: ROUNDS }, (_, i) => testSeed() + i))('C1 C5 C6 O2: seed %i', async (seed) => {
    const random = seededRandom(seed);
    const how = HOWS[Math.floor(random() * HOWS.length)] as How;
    const afterStart = random() < 0.8;
    const moment = random() * (afterStart ? 1_200 : 600);
    const project = makeProject({ files: { 'flow.js': FLOW } });
    const agent = makeShellAgent(project, { '*': { delay: 0.05 } });
    const run = startWf(['run', 'flow.js', '--concurrency', '2', ...agent.flags], { project });
    const about = `seed ${seed}: ${how} ${Math.round(moment)} ms after ${afterStart ? '"started"' : 'the start of wf'}`;
    if (afterStart) {
      const told = await run.waitForStderr(/run (\S+) started/);
      // What was said to have started is there.
      expect(existsSync(join(project.runDir(told[1] as string), 'run.json')), about).toBe(true);
    }
    await pause(moment);
    await end(how, run, project);
    const { code, signal } = await run.exited;
    await expectNoProcessesLeft(project.root);
    const [id] = project.runIds();
    if (id === undefined) {
      // It had not begun: nothing was started, and nothing is there.
      expect(agent.lines(), about).toEqual([]);
      expect(run.stderr, about).not.toMatch(/started/);
      return;
    }

    const [row] = JSON.parse((await runWf(['ls', '--json'], { project })).stdout);
    const ended = hasState(project, id);
    // A signal may still meet a process that has told its end and is only being taken down.
    const told = code === null && ended ? readState(project, id).exitCode : code;
    const observed: [number | null, string] = [told, row.status];
    expect([...ENDS[how], [0, 'completed']], `${about}, exit code ${code}, signal ${signal}`).toContainEqual(observed);
    if (!ended) expect(row.status, about).toBe('interrupted');
    else expect(readState(project, id), about).toMatchObject({ status: row.status, exitCode: told });
    if (told === 0) expect(ended, about).toBe(true);
    const answered = readJournal(journalFile(project, id) as string).filter(({ kind }) => kind === 'ok').length;
    expect(row.counts.ok, about).toBeLessThanOrEqual(answered);
    if (ended) expect(row.counts.ok, about).toBe(answered);

    const started = agent.lines('start').length;
    const again = await runWf(['run', '--resume-from', id], { project });
    expect(again.code, `${about}\n${again.stderr}`).toBe(0);
    expect(readState(project).counts, about).toMatchObject({ ok: CALLS, reused: answered, executed: CALLS - answered });
    expect(agent.lines('start').length - started, about).toBe(CALLS - answered);
  });
});
