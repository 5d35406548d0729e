/** Ended at random moments by every signal: the status is the right one, nothing is left, and no recorded answer is paid again. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { expectNoProcessesLeft } from '../support/processes.js';
import { runWf, startWf } from '../support/run-wf.js';
import { seededRandom, testSeed } from '../support/seeds.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { answeredLabels, workflow } from './cli-kit.js';
import { run } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

const ROUNDS = Math.max(10, Number(process.env.WF_SOAK ?? 1));
const MOMENT_MS = 1_500;

const SCRIPT =
  workflow(`const wide = await parallel([1, 2, 3, 4].map((i) => () => agent('wide ' + i, { label: 'w' + i })))
const long = []
for (const i of [1, 2, 3, 4]) long.push(await agent('long ' + i, { label: 'l' + i }))
return [...wide, ...long].every((answer) => answer !== null)`);

/** Signal → the end that it makes, unless the run was over before. */
const ENDS = {
  SIGKILL: { code: null, status: 'interrupted' },
  SIGINT: { code: 130, status: 'cancelled' },
  SIGTERM: { code: 143, status: 'interrupted' },
  SIGHUP: { code: 129, status: 'interrupted' },
} as const;
const SIGNALS = Object.keys(ENDS) as (keyof typeof ENDS)[];

const statusesOf = async (project: TestProject): Promise<Map<string, string>> => {
  const runs = JSON.parse((await runWf(['ls', '--json'], { project })).stdout) as { runId: string; status: string }[];
  return new Map(runs.map((one) => [one.runId, one.status]));
};

it(`C1 C5 C6 D1 H6: ended by each signal at random moments, ${ROUNDS} times: no wrong status, nothing lost, nothing left`, {
  timeout: 60_000 + ROUNDS * 20_000,
}, async () => {
  const random = seededRandom(testSeed());
  const project = makeProject({ files: { 'flow.js': SCRIPT } });
  const agent = makeShellAgent(project, { '*': { delay: 0.1, reply: '$label' } });
  for (let round = 0; round < ROUNDS; round++) {
    const signal = SIGNALS[round % SIGNALS.length] as keyof typeof ENDS;
    const moment = Math.round(random() * MOMENT_MS);
    const where = `round ${round}, ${signal} after ${moment} ms, seed ${testSeed()}`;
    const known = new Set(project.runIds());
    const started = agent.lines('start').length;
    const wf = startWf(['run', 'flow.js', '--drain', '0.2s', ...agent.flags], { project, timeoutMs: 60_000 });
    // Mostly while it runs; now and then while it is still on its way.
    if (round % 5 !== 4) await wf.waitForStderr(/[0-9a-f]{8}-[0-9a-f-]{27}/);
    await delay(moment);
    wf.kill(signal);
    const ended = await wf.done;
    // Before its handlers stand, a signal ends any process as the system does.
    const code = ended.signal === null ? ended.code : { [signal]: ENDS[signal].code }[ended.signal];
    const id = project.runIds().find((one) => !known.has(one));
    if (id === undefined) {
      expect(agent.lines('start').length, where).toBe(started);
      continue;
    }
    await expectNoProcessesLeft(project.root, { timeoutMs: 10_000 });
    const status = (await statusesOf(project)).get(id);
    expect(
      [
        [ENDS[signal].code, ENDS[signal].status],
        [0, 'completed'],
        // The end was recorded, and the signal came while Node was being taken down and heard no more.
        ...(ended.signal === null ? [] : [[code, 'completed']]),
      ],
      where,
    ).toContainEqual([code, status]);
    // A drain or a cancel is recorded; of a kill nothing is.
    expect(existsSync(join(project.runDir(id), 'state.json')), where).toBe(
      signal !== 'SIGKILL' || status === 'completed',
    );
    const answered = answeredLabels(project, id);
    const resumed = await run(project, ['--resume-from', id]);
    expect(resumed, where).toMatchObject({ code: 0, result: true, state: { status: 'completed' } });
    expect(agent.started(resumed.id).sort(), where).toEqual(
      ['l1', 'l2', 'l3', 'l4', 'w1', 'w2', 'w3', 'w4'].filter((label) => !answered.includes(label)),
    );
  }
});
