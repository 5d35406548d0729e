/**
 * A run that is taken over while it goes on, by a second process that cannot see the first: it has another host name, and a
 * clock that is ahead, so that the heartbeat looks old. Two real owners, as two machines with one folder make them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { isAlive } from '../support/processes.js';
import { startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { newestRun, workflow } from './cli-kit.js';
import { idOf } from './support/runs.js';

const ELSEWHERE = `import os from 'node:os';
import { syncBuiltinESMExports } from 'node:module';
os.hostname = () => 'elsewhere';
syncBuiltinESMExports();
const now = Date.now;
Date.now = () => now() + 600_000;
`;

/** F is answered at once; A stays under way, and B is followed by C. */
const TWO_LINES = workflow(`await agent('do F', { label: 'F' })
return await parallel([
  () => agent('do A', { label: 'A' }),
  async () => [await agent('do B', { label: 'B' }), await agent('do C', { label: 'C' })],
])`);

/** Neither heartbeat nor lock comes to its turn: what is left is the look at the claims before each call. */
const WITHOUT_TIMERS = `for (const name of ['setTimeout', 'setInterval']) {
  const start = globalThis[name];
  globalThis[name] = (work, ms, ...rest) => start(work, ms >= 1000 ? 2 ** 30 : ms, ...rest);
}
`;

const preload = (project: TestProject, file: string): string[] => ['--import', pathToFileURL(project.path(file)).href];

/** Resolves when the second owner has its agents at work and the first still has its own. */
async function takeOverWhileItGoesOn({ flags = [] as string[], withTimers = true }) {
  const files = { 'flow.js': TWO_LINES, 'elsewhere.mjs': ELSEWHERE, 'without-timers.mjs': WITHOUT_TIMERS };
  const project = makeProject({ files });
  const backend = makeFakeBackend(project, { gated: ['A', 'B', 'C'], rules: { A: { ignoreTerm: true } } });
  const loser = startWf(['run', 'flow.js', ...backend.flags, ...flags], {
    project,
    nodeArgs: withTimers ? [] : preload(project, 'without-timers.mjs'),
  });
  await backend.waitForStarts(3);
  const id = newestRun(project);
  const winner = startWf(['run', '--resume-from', id], { project, nodeArgs: preload(project, 'elsewhere.mjs') });
  await backend.waitForStarts(5);
  const startsOf = (run: string) => backend.ledger.starts().filter(({ runId }) => runId === run);
  const labelsOf = (run: string): string[] =>
    startsOf(run)
      .map(({ label }) => label)
      .sort();
  return { project, backend, loser, id, winner, winnerId: idOf(winner.stderr), startsOf, labelsOf };
}

describe('the owner that lost its lineage to another process', () => {
  it.each([
    ['by its next call', false],
    ['while no call comes up', true],
  ])(
    'learns of it %s: it ends its agents, starts nothing more, and names the run that goes on',
    async (_when, withTimers) => {
      const taken = await takeOverWhileItGoesOn({ withTimers });
      const { project, backend, loser, id, winner, winnerId, startsOf, labelsOf } = taken;
      const read = (name: string): string => readFileSync(join(project.runDir(id), name), 'utf8');
      const before = [read('run.json'), read('journal.jsonl')];
      if (!withTimers) backend.openGate('B');

      const lost = await loser.done;
      expect(lost).toMatchObject({ code: 1, stdout: '' });
      expect(lost.stderr).toContain(
        `WF_OWNER_LOST: Another process has taken over this run (process ${winner.pid} on elsewhere, as run ${winnerId})`,
      );
      // Neither an outcome that is not there, nor a command that would be refused now and pay again later.
      expect(lost.stderr).not.toContain('state.json');
      expect(lost.stderr).not.toContain('--resume-from');
      expect(lost.stderr).toContain(`wf show ${winnerId}`);
      expect(labelsOf(id)).toEqual(['A', 'B', 'F']);
      expect(startsOf(id).filter(({ pid }) => isAlive(pid))).toEqual([]);
      expect(existsSync(join(project.runDir(id), 'state.json'))).toBe(false);
      expect(read('run.json')).toBe(before[0]);
      // An answer that came before it knew is on record: it is paid for.
      if (withTimers) expect(read('journal.jsonl')).toBe(before[1]);

      expect(startsOf(winnerId).filter(({ pid, label }) => label === 'A' && !isAlive(pid))).toEqual([]);
      backend.openAllGates();
      expect(await winner.done).toMatchObject({ code: 0 });
      expect(labelsOf(winnerId)).toEqual(['A', 'B', 'C']);
    },
  );

  it('tells it in the format that was asked for', async () => {
    const { backend, loser, winner, winnerId } = await takeOverWhileItGoesOn({ flags: ['--reporter', 'jsonl'] });
    const lost = await loser.done;
    expect(lost).toMatchObject({ code: 1, stdout: '' });
    const last = JSON.parse(lost.stderr.trimEnd().split('\n').at(-1) as string);
    expect(last).toMatchObject({
      type: 'run.finished',
      status: 'interrupted',
      exitCode: 1,
      error: { code: 'WF_OWNER_LOST', message: expect.stringContaining(winnerId) },
    });
    expect(last).not.toHaveProperty('resumeCommand');
    backend.openAllGates();
    expect(await winner.done).toMatchObject({ code: 0 });
  });
});
