/** Ends that meet each other, and what comes when an end is decided already: through the built library, in this process. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import type * as Library from '../../src/index.js';
import { requireBuild } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';

let lib: typeof Library;
beforeAll(async () => {
  requireBuild();
  lib = (await import(pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'index.js')).href)) as typeof Library;
});

const whereOf = (project: TestProject) => ({ cwd: project.dir, home: project.home, env: project.env });
const BOTH = workflow("return await parallel(['bad', 'slow'].map((label) => () => agent(label, { label })))");

/** `bad` fails for all when it is told to; `slow` works until it is stopped. */
function openBackend() {
  let failBad = (): void => {};
  let slowRuns = (): void => {};
  const bad = new Promise<void>((resolve) => {
    failBad = resolve;
  });
  const started = new Promise<void>((resolve) => {
    slowRuns = resolve;
  });
  const backend = lib.defineBackend({
    name: 'two',
    async run({ label }, { signal }) {
      if (label === 'bad') {
        await bad;
        throw new lib.BackendError('auth', 'not signed in');
      }
      slowRuns();
      return await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new lib.BackendError('cancelled', 'stopped')));
      });
    },
  });
  return { backend, failBad, started };
}

it.each(['before', 'after'])(
  'C1 a drain that was asked for %s a failure of all calls holds its time: what still runs is stopped then',
  async (order) => {
    const project = makeProject({ files: { 'flow.js': BOTH } });
    const { backend, failBad, started } = openBackend();
    let tellFailed = (): void => {};
    const failed = new Promise<void>((resolve) => {
      tellFailed = resolve;
    });
    const run = await lib.startWorkflow({
      ...{ script: 'flow.js', backend, ...whereOf(project) },
      onEvent: (event) => {
        if (event.type === 'call.finished' && event.label === 'bad') tellFailed();
      },
    });
    await started;
    if (order === 'before') run.drain(300);
    failBad();
    await failed;
    if (order === 'after') run.drain(300);
    const result = await run.done;
    expect(result).toMatchObject({ status: 'failed', exitCode: 6, counts: { noResult: 2 } });
  },
  20_000,
);

it('C1 a backend that never closes does not keep the outcome of its run from being recorded', async () => {
  const project = makeProject({ files: { 'flow.js': workflow("return await agent('x')") } });
  const backend = lib.defineBackend({
    name: 'open',
    run: async () => ({ text: 'y' }),
    close: () => new Promise(() => {}),
  });
  const result = await lib.runWorkflow({ script: 'flow.js', backend, ...whereOf(project) });
  expect(result).toMatchObject({ status: 'completed', result: 'y' });
  const shown = lib.readRun(result.runId, whereOf(project));
  expect(shown.status).toBe('completed');
  expect(shown.notices).toContainEqual(expect.stringMatching(/could not be closed: it was not done after 10 s/));
}, 30_000);

it('a call whose outcome is decided is not said to start again while its backend tidies up', async () => {
  const project = makeProject({ files: { 'flow.js': workflow("return await agent('x', { label: 'x' })") } });
  let letGo = (): void => {};
  let tellTidying = (): void => {};
  const tidying = new Promise<void>((resolve) => {
    tellTidying = resolve;
  });
  let asked = 0;
  const backend = lib.defineBackend({
    name: 'tidy',
    async run(_request, { onCallEnd }) {
      asked++;
      onCallEnd(() => {
        tellTidying();
        return new Promise((resolve) => {
          letGo = resolve;
        });
      });
      return { text: 'y' };
    },
  });
  const run = await lib.startWorkflow({ script: 'flow.js', backend, ...whereOf(project) });
  await tidying;
  await expect(lib.retryCall(run.runId, '#1', whereOf(project))).rejects.toMatchObject({ code: 'WF_CALL_STATE' });
  letGo();
  expect(await run.done).toMatchObject({ status: 'completed', counts: { ok: 1 } });
  expect(asked).toBe(1);
});

it('a look at many files of deps that is still going on at the end of the run tells only of what has changed', async () => {
  const files: Record<string, string> = { 'flow.js': workflow("return await agent('x', { deps: ['data/**'] })") };
  for (let i = 0; i < 3000; i++) files[`data/${i % 50}/${i}.txt`] = String(i);
  const project = makeProject({ files });
  const changed = async (change: () => void): Promise<boolean> => {
    const backend = lib.defineBackend({
      name: 'quick',
      async run() {
        change();
        return { text: 'y' };
      },
    });
    const told: string[] = [];
    await lib.runWorkflow({
      ...{ script: 'flow.js', backend, ...whereOf(project) },
      onEvent: (event) => void (event.type === 'warning' && told.push(event.code)),
    });
    return told.includes('WF_DEPS_CHANGED');
  };
  for (let i = 0; i < 3; i++) expect(await changed(() => {})).toBe(false);
  expect(await changed(() => writeFileSync(project.path('data/7/7.txt'), 'new'))).toBe(true);
}, 60_000);

it('two drains at once rest together: none of them keeps the process of a run that has ended', async () => {
  const body =
    "await agent('x', { label: 'x' })\nfor (let i = 0; i < 3e8; i++);\nreturn await agent('y', { label: 'y' })";
  const project = makeProject({ files: { 'flow.js': workflow(body) } });
  const waits = new Map<NodeJS.Timeout, number>();
  const clock = {
    now: () => Date.now(),
    after(ms: number, callback: () => void) {
      const timer = setTimeout(() => {
        waits.delete(timer);
        callback();
      }, ms);
      waits.set(timer, ms);
      return () => {
        waits.delete(timer);
        clearTimeout(timer);
      };
    },
  };
  let run: Library.RunHandle | undefined;
  const backend = lib.defineBackend({
    name: 'quick',
    async run() {
      // As SIGTERM and `wf stop --drain` do; the script is busy with the answer when nothing runs any more.
      for (let i = 0; i < 2; i++) run?.drain(60_000);
      return { text: 'z' };
    },
  });
  run = await lib.startWorkflow({ script: 'flow.js', backend, clock, ...whereOf(project) });
  expect(await run.done).toMatchObject({ status: 'interrupted', exitCode: 143, counts: { ok: 1, calls: 2 } });
  expect([...waits.values()]).toEqual([]);
});
