/**
 * A run ended at a random moment, in every way there is: by each signal, by two, by a stop from elsewhere, by the loss of
 * its sandbox. Exit code, records and `wf ls` agree, nothing of it goes on, and no recorded answer is paid again.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { expectNoProcessesLeft } from '../support/processes.js';
import { runWf, startWf, type WfHandle } from '../support/run-wf.js';
import { seededRandom, testSeed } from '../support/seeds.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { answeredLabels, hasState, readState, sandboxOf, workflow } from './cli-kit.js';
import { listRuns, run } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

const LABELS = ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3'];
const FLOW = workflow(`const list = (name) => [1, 2, 3].map((i) => () => agent('do ' + name + i, { label: name + i }))
const a = await parallel(list('a'))
const b = []
for (const ask of list('b')) b.push(await ask())
const c = await pipeline([1, 2, 3], (i) => agent('do c' + i, { label: 'c' + i }))
return [...a, ...b, ...c].every((answer) => answer !== null)`);

type Ends = [code: number | null, status: string][];

/** What an end may look like; a run that was at its end already completes. */
const ENDS = {
  SIGKILL: [[null, 'interrupted']],
  SIGINT: [[130, 'cancelled']],
  SIGTERM: [[143, 'interrupted']],
  SIGHUP: [[129, 'interrupted']],
  'SIGINT twice': [
    [130, 'interrupted'],
    [130, 'cancelled'],
  ],
  sandbox: [[1, 'failed']],
  stop: [[130, 'cancelled']],
  'stop --drain': [[143, 'interrupted']],
} as const satisfies Record<string, Ends>;
type How = keyof typeof ENDS;
const HOWS = Object.keys(ENDS) as How[];
/** These leave no time to write down an end. */
const UNRECORDED: readonly How[] = ['SIGKILL', 'SIGINT twice'];

const ROUNDS = Math.max(20, Number(process.env.WF_SOAK ?? 0));

async function end(how: How, wf: WfHandle, project: TestProject): Promise<void> {
  if (how === 'SIGINT twice') {
    wf.kill('SIGINT');
    // Closer ones would be one.
    await delay(200);
    wf.kill('SIGINT');
  } else if (how === 'sandbox') {
    try {
      process.kill(sandboxOf(wf.pid).pid, 'SIGKILL');
    } catch {
      // Not there yet, or there no more.
    }
  } else if (how === 'stop' || how === 'stop --drain') {
    const [id] = project.runIds();
    if (id !== undefined) expect([0, 2]).toContain((await runWf([...how.split(' '), id], { project })).code);
  } else wf.kill(how);
}

it.each(Array.from({ length: ROUNDS }, (_, i) => [HOWS[i % HOWS.length] as How, testSeed() + i] as const))(
  'C1 C5 C6 D1 H6 O2 ended by %s at a random moment, seed %i: no wrong status, nothing lost, nothing left',
  async (how, seed) => {
    const random = seededRandom(seed);
    // Mostly while it runs; now and then while it is still on its way.
    const afterStart = random() < 0.8;
    const moment = Math.round(random() * (afterStart ? 1_200 : 600));
    const about = `seed ${seed}: ${how} ${moment} ms after ${afterStart ? '"started"' : 'the start of wf'}`;
    const project = makeProject({ files: { 'flow.js': FLOW } });
    const agent = makeShellAgent(project, { '*': { delay: 0.08 } });
    const wf = startWf(['run', 'flow.js', '--concurrency', '2', '--drain', '0.2s', ...agent.flags], { project });
    if (afterStart) {
      const told = await wf.waitForStderr(/run (\S+) started/);
      // What was said to have started is there.
      expect(existsSync(join(project.runDir(told[1] as string), 'run.json')), about).toBe(true);
    }
    await delay(moment);
    await end(how, wf, project);
    const { code, signal } = await wf.exited;
    await expectNoProcessesLeft(project.root, { timeoutMs: 10_000 });
    const [id] = project.runIds();
    if (id === undefined) {
      // It had not begun: nothing was started, and nothing is there.
      expect(agent.lines(), about).toEqual([]);
      expect(wf.stderr, about).not.toMatch(/started/);
      return;
    }

    const [row] = await listRuns(project);
    const state = hasState(project, id) ? readState(project, id) : undefined;
    // A signal may still meet a process that has told its end and is only being taken down.
    const told = code ?? state?.exitCode ?? null;
    expect([...ENDS[how], [0, 'completed']], `${about}, exit code ${code}, signal ${signal}`).toContainEqual([
      told,
      row?.status,
    ]);
    const answered = answeredLabels(project, id);
    if (state === undefined) {
      expect(UNRECORDED, about).toContain(how);
      expect(row?.status, about).toBe('interrupted');
      expect(row?.counts.ok, about).toBeLessThanOrEqual(answered.length);
    } else {
      expect(state, about).toMatchObject({ status: row?.status, exitCode: told });
      expect(row?.counts.ok, about).toBe(answered.length);
    }

    const resumed = await run(project, ['--resume-from', id]);
    expect(resumed, about).toMatchObject({ code: 0, result: true, state: { status: 'completed' } });
    const rest = LABELS.filter((label) => !answered.includes(label));
    expect(agent.started(resumed.id).sort(), about).toEqual(rest);
    expect(resumed.state.counts, about).toMatchObject({
      ok: LABELS.length,
      reused: answered.length,
      executed: rest.length,
    });
  },
);
