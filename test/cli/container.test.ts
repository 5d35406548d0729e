/** As the first process of a container: a stop there is followed by a kill after some 10 s. */
import { spawnSync } from 'node:child_process';
import { expect, it, type TestContext } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { familyOf, readState, THREE } from './cli-kit.js';

/** A process namespace of its own, in which the program is process 1. */
const FLAGS = ['--user', '--map-root-user', '--fork', '--pid', '--mount-proc', '--kill-child'];

async function drainAsProcess1(context: TestContext, flags: readonly string[]): Promise<number> {
  context.skip(spawnSync('unshare', [...FLAGS, 'true']).status !== 0, 'no process namespaces for this user here');
  const project = makeProject({ files: { 'flow.js': THREE } });
  const backend = makeFakeBackend(project, { rules: { B: { hang: true } } });
  const wf = startWf(['run', 'flow.js', ...flags, ...backend.flags], { project, under: ['unshare', ...FLAGS] });
  await backend.waitForStart('B');
  const own = familyOf(wf.pid).find(({ command }) => command.includes('main.js'));
  const start = performance.now();
  process.kill(own?.pid as number, 'SIGTERM');
  expect(await wf.done).toMatchObject({ code: 143 });
  const took = performance.now() - start;
  expect(readState(project)).toMatchObject({
    status: 'interrupted',
    cause: 'drained',
    counts: { ok: 1, noResult: 1 },
  });
  return took;
}

it('D1 D5 as process 1 it drains for 8 s', { timeout: 40_000 }, async (context) => {
  const took = await drainAsProcess1(context, []);
  expect(took).toBeGreaterThan(7_000);
  // Elsewhere it would be 300 s; a busy machine may need some for the end.
  expect(took).toBeLessThan(20_000);
});

it('D1 D5 as process 1 it drains for as long as --drain says', async (context) => {
  expect(await drainAsProcess1(context, ['--drain', '200ms'])).toBeLessThan(6_000);
});
