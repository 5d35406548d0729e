/** Signals that come when the run is over and its end is still being written: nothing is left to cancel, and they say so. */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, type TestContext } from 'vitest';
import type * as Library from '../../src/index.js';
import { makeFakeBackend } from '../support/fake-backend.js';
import { journalFile } from '../support/journal.js';
import { expectNoProcessesLeft } from '../support/processes.js';
import { requireBuild, runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { hasState, newestRun, readState, THREE, workflow } from './cli-kit.js';
import { needTool } from './support/need-tool.js';
import { listRuns } from './support/runs.js';

const OVER = /the run is over and its end is being written; once more leaves at once/;

/** A run whose last answers find no room on the disk: it is over, and tries for two seconds to write them. */
async function startFull(context: TestContext, flags: readonly string[] = []) {
  needTool(context, 'prlimit');
  const project = makeProject({ files: { 'flow.js': THREE } });
  const backend = makeFakeBackend(project, { gated: ['B'] });
  // The agents must not share the limit.
  const argv = JSON.stringify(['prlimit', '--fsize=unlimited:', ...backend.argv]);
  const wf = startWf(['run', 'flow.js', '--backend', 'command', '--command', argv, ...flags], { project });
  await backend.waitForStart('B');
  const socket = join(project.env.XDG_RUNTIME_DIR as string, `wf-${process.getuid?.()}`, `${newestRun(project)}.sock`);
  await waitFor('the control socket', () => existsSync(socket));
  const limit = (size: string): void => {
    expect(spawnSync('prlimit', ['--pid', String(wf.pid), `--fsize=${size}:`]).status).toBe(0);
  };
  limit(String(statSync(journalFile(project) as string).size + 10));
  return {
    project,
    wf,
    limit,
    /** Lets the script come to its end: the socket goes at the moment at which nothing can be cancelled any more. */
    async end() {
      backend.openGate('B');
      await waitFor('the end of the run', () => !existsSync(socket));
    },
  };
}

it.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'C1 %s then is told that the run is over, and changes neither its status nor its exit code',
  async (signal, context) => {
    const { project, wf, limit, end } = await startFull(context);
    await end();
    wf.kill(signal);
    await wf.waitForStderr(OVER);
    limit('unlimited');
    const ended = await wf.done;
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('C answered') });
    expect(ended.stderr).not.toMatch(/cancel requested|no new calls are started/);
    expect(readState(project)).toMatchObject({ status: 'completed', exitCode: 0, journal: { complete: true } });
    await expectNoProcessesLeft(project.root);
  },
);

it('C1 D6 a second one leaves at once: what is not written is lost, and a resume runs that again', async (context) => {
  const { project, wf, end } = await startFull(context);
  await end();
  wf.kill('SIGINT');
  await wf.waitForStderr(OVER);
  wf.kill('SIGTERM');
  expect(await wf.done).toMatchObject({ code: 130, stdout: '' });
  expect(hasState(project)).toBe(false);
  await expectNoProcessesLeft(project.root);
  const [row] = await listRuns(project);
  expect(row).toMatchObject({ status: 'interrupted' });
  expect(await runWf(['run', '--resume-from', row?.runId ?? ''], { project })).toMatchObject({ code: 0 });
  expect(readState(project)).toMatchObject({ counts: { reused: 1, executed: 2 } });
});

it('C1 the same where a drain came before', async (context) => {
  const { project, wf, limit, end } = await startFull(context, ['--drain', '60s']);
  wf.kill('SIGTERM');
  await wf.waitForStderr(/no new calls are started/);
  await end();
  wf.kill('SIGINT');
  await wf.waitForStderr(OVER);
  limit('unlimited');
  const ended = await wf.done;
  expect(ended.code).toBe(143);
  expect(ended.stderr).not.toMatch(/cancel requested/);
  expect(readState(project)).toMatchObject({ status: 'interrupted', exitCode: 143, counts: { ok: 2 } });
});

it('C1 the library says whether there was anything left to cancel', async () => {
  requireBuild();
  const lib: typeof Library = await import(
    pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'index.js')).href
  );
  const project = makeProject({ files: { 'flow.js': workflow("return await agent('x')") } });
  let tellClosing = (): void => {};
  const closing = new Promise<void>((resolve) => {
    tellClosing = resolve;
  });
  let letClose = (): void => {};
  const backend = lib.defineBackend({
    name: 'slow-to-close',
    run: async () => ({ text: 'y' }),
    close() {
      tellClosing();
      return new Promise((resolve) => {
        letClose = resolve;
      });
    },
  });
  const where = { cwd: project.dir, home: project.home, env: project.env };
  const run = await lib.startWorkflow({ script: 'flow.js', backend, ...where });
  await closing;
  expect([run.cancel(130), run.drain(1_000, 143)]).toEqual([false, false]);
  letClose();
  expect(await run.done).toMatchObject({ status: 'completed', exitCode: 0 });
  const hung = await lib.startWorkflow({
    ...{ script: 'flow.js', backend: 'mock', ...where },
    confirm: {
      above: 0,
      ask: (_calls, signal) => new Promise((done) => signal.addEventListener('abort', () => done(false))),
    },
  });
  expect([hung.drain(60_000), hung.cancel()]).toEqual([true, true]);
  expect(await hung.done).toMatchObject({ status: 'cancelled' });
});
