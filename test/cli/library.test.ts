/** The library as its user gets it: the built `dist/index.js`, in this process. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type * as Library from '../../src/index.js';
import { expectNoProcessesLeft } from '../support/processes.js';
import { requireBuild } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { readState, THREE, workflow } from './cli-kit.js';

const ENTRY = pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'index.js')).href;
let lib: typeof Library;
beforeAll(async () => {
  requireBuild();
  lib = (await import(ENTRY)) as typeof Library;
});

it('has the names that the architecture gives it', () => {
  for (const name of ['runWorkflow', 'listRuns', 'readRun', 'planResume', 'defineBackend'] as const)
    expect(lib[name], name).toBeTypeOf('function');
});

const whereOf = (project: TestProject) => ({ cwd: project.dir, home: project.home, env: project.env });

/** A backend that answers with the prompt in capitals and counts its work. */
function makeShouting(answer: (request: Library.AgentRequest, context: Library.AgentRunContext) => Promise<string>) {
  const asked: string[] = [];
  const backend = lib.defineBackend({
    name: 'shouting',
    capabilities: { schema: 'none', tools: false, sessions: false, usd: false, permissions: ['read', 'edit', 'full'] },
    probe: async () => ({ ok: true, version: '1' }),
    async run(request, context) {
      asked.push(request.label);
      return { text: await answer(request, context), usage: { inputTokens: 1, outputTokens: 2 } };
    },
  });
  return { backend, asked };
}

describe('startWorkflow', () => {
  it('C1 a drain or a cancel that comes when the run has ended keeps its process from nothing and changes no exit code', async () => {
    const project = makeProject({ files: { 'flow.js': workflow("return await agent('x')") } });
    const program = `import { startWorkflow } from ${JSON.stringify(ENTRY)};
const run = await startWorkflow({ script: 'flow.js', backend: 'mock' });
const { exitCode } = await run.done;
run.drain(600_000, 143);
run.cancel(130);
console.log(exitCode, (await run.done).exitCode);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      cwd: project.dir,
      env: { ...project.env, HOME: project.home },
      // The process would live as long as the drain has time.
      timeout: 60_000,
    });
    expect(stdout).toBe('0 0\n');
  }, 70_000);
});

describe('runWorkflow', () => {
  it('X4 the key that a call carries to its backend is the same for every version of wf: work goes on under it', async () => {
    const project = makeProject({ files: { 'flow.js': workflow("await agent('a'); return await agent('a')") } });
    const seen: string[] = [];
    const expected: string[] = [];
    const { backend } = makeShouting(async ({ runId, key, nth, callKey }) => {
      seen.push(callKey);
      expected.push(createHash('sha256').update(`["${runId}","${key}","",${nth},"0"]`).digest('hex'));
      return 'x';
    });
    await lib.runWorkflow({ script: 'flow.js', backend, ...whereOf(project) });
    expect(seen).toEqual(expected);
    expect(new Set(seen).size).toBe(2);
  });

  it('holds a backend that may wait for ever to the idle limit that it brings, where none is set', async () => {
    const project = makeProject({ files: { 'flow.js': workflow("return await agent('x')") } });
    const { backend } = makeShouting(
      (_request, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new lib.BackendError('cancelled', 'stopped')));
        }),
    );
    const idle = { ...backend, capabilities: { ...backend.capabilities, idleTimeoutMs: 200 } };
    const result = await lib.runWorkflow({ script: 'flow.js', backend: idle, retries: 0, ...whereOf(project) });
    expect(result).toMatchObject({ status: 'failed', error: { name: 'StallError' } });
  });

  it('takes the idle limit that a backend brings away where none is asked for, and a resume keeps to that', async () => {
    const project = makeProject({ files: { 'flow.js': workflow("return await agent('x')") } });
    const { backend } = makeShouting(
      (_request, { signal }) =>
        new Promise((resolve, reject) => {
          const timer = setTimeout(resolve, 400, 'late');
          signal.addEventListener('abort', () => {
            clearTimeout(timer);
            reject(new lib.BackendError('cancelled', 'stopped'));
          });
        }),
    );
    const idle = { ...backend, capabilities: { ...backend.capabilities, idleTimeoutMs: 50 } };
    const given = { backend: idle, retries: 0, ...whereOf(project) };
    const first = await lib.runWorkflow({ script: 'flow.js', idleTimeoutMs: null, ...given });
    expect(first).toMatchObject({ status: 'completed', result: 'late' });
    // Its answer is lost, so the call is made again.
    writeFileSync(join(first.folder, 'journal.jsonl'), '');
    const second = await lib.runWorkflow({ resumeFrom: first.runId, ...given });
    expect(second).toMatchObject({ status: 'completed', result: 'late', counts: { executed: 1 } });
    const short = lib.runWorkflow({ script: 'flow.js', ...given, env: { ...project.env, WF_IDLE_TIMEOUT: 'none' } });
    expect(await short).toMatchObject({ status: 'completed', result: 'late' });
  });

  it('runs with an own backend, tells events, and the run can be listed, read and gone on with', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    let broken = true;
    const { backend, asked } = makeShouting(async ({ prompt, label }) => {
      if (label === 'B' && broken) throw new lib.BackendError('auth', 'no key');
      return prompt.toUpperCase();
    });
    const events: Library.RunEvent[] = [];
    const first = await lib.runWorkflow({
      script: 'flow.js',
      backend,
      ...whereOf(project),
      onEvent: (event) => events.push(event),
    });
    expect(first).toMatchObject({ status: 'failed', exitCode: 6, error: { code: 'WF_AUTH' }, journalComplete: true });
    expect(first.folder).toBe(project.runDir(first.runId));
    expect(events.map(({ type }) => type)).toEqual([
      'run.started',
      ...['call.queued', 'call.started', 'call.finished'],
      ...['call.queued', 'call.started', 'call.finished'],
      'run.finished',
    ]);

    broken = false;
    const second = await lib.runWorkflow({ resumeFrom: first.runId, backend, ...whereOf(project) });
    expect(second).toMatchObject({
      status: 'completed',
      exitCode: 0,
      result: { a: 'DO A', b: 'DO B', c: 'DO C' },
      counts: { ok: 3, reused: 1, executed: 2 },
      usage: { outputTokens: 4, savedOutputTokens: 2 },
    });
    expect(asked).toEqual(['A', 'B', 'B', 'C']);

    const runs = lib.listRuns(whereOf(project));
    expect(runs.map(({ runId, status, backend: name }) => [runId, status, name])).toEqual([
      [second.runId, 'completed', 'shouting'],
      [first.runId, 'failed', 'shouting'],
    ]);
    const run = lib.readRun(second.runId.slice(0, 13), whereOf(project));
    expect(run).toMatchObject({ resumedFrom: first.runId, result: second.result });
    expect(run.calls.map(({ label, status, reused }) => [label, status, reused])).toEqual([
      ['A', 'ok', true],
      ['B', 'ok', false],
      ['C', 'ok', false],
    ]);
    expect(run.readDetail(lib.findCall(run.details, 'B').n)).toMatchObject({ output: 'DO B', prompt: 'do B' });
    await expectNoProcessesLeft(project.root);
  });

  it('J8 an answer that came too late for its script is on record, so it counts as answered and not as abandoned', async () => {
    const body = "return await Promise.race([agent('a'), agent('b')])";
    const project = makeProject({ files: { 'flow.js': workflow(body) } });
    let openBoth = (): void => {};
    const both = new Promise<void>((resolve) => {
      openBoth = resolve;
    });
    const { backend, asked } = makeShouting(async ({ prompt }) => {
      if (asked.length === 2) openBoth();
      await both;
      return prompt;
    });
    const first = await lib.runWorkflow({ script: 'flow.js', backend, ...whereOf(project) });
    expect(first).toMatchObject({ status: 'completed', counts: { executed: 2, ok: 2, abandoned: 0, noResult: 0 } });
    const second = await lib.runWorkflow({ resumeFrom: first.runId, backend, ...whereOf(project) });
    expect(second).toMatchObject({ status: 'completed', result: first.result, counts: { executed: 0 } });
  });

  it('runs a script given as text, with args of any JSON value', async () => {
    const project = makeProject();
    const options = { backend: 'mock', ...whereOf(project) };
    const source = { text: workflow('return [args, typeof args]'), filename: 'made-up.js' };
    expect(await lib.runWorkflow({ source, ...options, args: { n: 1 } })).toMatchObject({
      result: [{ n: 1 }, 'object'],
    });
    expect(await lib.runWorkflow({ source, ...options, args: null })).toMatchObject({ result: [null, 'object'] });
    expect(await lib.runWorkflow({ source, ...options })).toMatchObject({ result: [null, 'undefined'] });
    await expect(lib.runWorkflow({ source, ...options, args: { n: 10n } })).rejects.toMatchObject({ code: 'WF_ARGS' });
    expect(project.runIds()).toHaveLength(3);
  });

  it('rejects with a WfError when nothing was started, and leaves no process', async () => {
    const project = makeProject({ files: { 'bad.js': 'return 1\n', 'flow.js': THREE } });
    const refusals: [Library.RunWorkflowOptions, string, number][] = [
      [{ script: 'missing.js', backend: 'mock' }, 'WF_SCRIPT_NOT_FOUND', 2],
      [{ script: 'bad.js', backend: 'mock' }, 'WF_SCRIPT_META', 2],
      [{ script: 'flow.js', backend: 'nobody' }, 'WF_BACKEND_UNKNOWN', 2],
      [{ script: 'flow.js', backend: 'mock', concurrency: 0 }, 'WF_USAGE', 2],
      [{ resumeFrom: '../x', backend: 'mock' }, 'WF_RUN_ID', 2],
    ];
    for (const [options, code, exitCode] of refusals) {
      const error = await lib.runWorkflow({ ...options, ...whereOf(project) }).catch((thrown: unknown) => thrown);
      expect(lib.WfError.is(error)).toBe(true);
      expect(error).toMatchObject({ code, exitCode });
    }
    expect(existsSync(project.runsDir)).toBe(false);
    await expectNoProcessesLeft(project.root);
  });
});

describe('stopping', () => {
  it('C1: an abort signal cancels: the backend is told, the run is cancelled and resolves', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const controller = new AbortController();
    let told = false;
    const { backend } = makeShouting(async ({ label }, { signal }) => {
      if (label !== 'B') return label;
      setImmediate(() => controller.abort());
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      told = true;
      return 'too late';
    });
    const result = await lib.runWorkflow({
      script: 'flow.js',
      backend,
      ...whereOf(project),
      signal: controller.signal,
    });
    expect(told).toBe(true);
    expect(result).toMatchObject({ status: 'cancelled', exitCode: 130, counts: { ok: 1, noResult: 1 } });
    expect('result' in result).toBe(false);
    expect(readState(project)).toMatchObject({ status: 'cancelled' });
    const early = await lib.runWorkflow({
      script: 'flow.js',
      backend,
      ...whereOf(project),
      signal: AbortSignal.abort(),
    });
    expect(early).toMatchObject({ status: 'cancelled', counts: { executed: 0 } });
    await expectNoProcessesLeft(project.root);
  });

  it('D1: a handle drains: what runs may finish, then the run is interrupted', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    let handle: Library.RunHandle | undefined;
    const { backend, asked } = makeShouting(async ({ label }) => {
      if (label === 'B') handle?.drain(60_000);
      return label;
    });
    handle = await lib.startWorkflow({ script: 'flow.js', backend, ...whereOf(project) });
    expect(await handle.done).toMatchObject({
      status: 'interrupted',
      exitCode: 143,
      counts: { ok: 2, calls: 3, noResult: 1 },
    });
    expect(asked).toEqual(['A', 'B']);
  });

  it('a listener that throws costs no call and no end', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    const { backend } = makeShouting(async ({ label }) => label);
    const result = await lib.runWorkflow({
      script: 'flow.js',
      backend,
      ...whereOf(project),
      onEvent: () => {
        throw new Error('a bad listener');
      },
    });
    expect(result).toMatchObject({ status: 'completed', result: { a: 'A', b: 'B', c: 'C' } });
    expect(result.notices).toEqual([expect.stringContaining('a bad listener')]);
  });
});
