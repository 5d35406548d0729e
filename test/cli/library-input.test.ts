/** What a program without types may give to the library: refused by its name before anything starts. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import type * as Library from '../../src/index.js';
import { requireBuild } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';

let lib: typeof Library;
beforeAll(async () => {
  requireBuild();
  lib = await import(pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'index.js')).href);
});

it.each<[string, object, RegExp]>([
  ['a time in words', { timeoutMs: '10m' }, /^timeoutMs must be a number from 0 on; got "10m"\.$/],
  ['a time that is no number', { idleTimeoutMs: Number.NaN }, /^idleTimeoutMs must be a number.*NaN/],
  ['a budget in words', { budgetTokens: '500k' }, /^budgetTokens must be a number/],
  ['a number of runs below none', { keep: -1 }, /^keep must be a number/],
  ['an unknown permission', { permission: 'all' }, /^permission must be one of read, edit, full; got "all"\.$/],
  ['an unknown effort', { effort: 'hi' }, /^effort must be one of low,/],
  [
    'a backend without its parts',
    { backend: { name: 'x', run: async () => ({ text: '' }) } },
    /^The backend that was given has no probe, no capabilities\.$/,
  ],
  ['a backend that runs nothing', { backend: 'defined' }, /^The backend that was given has no run\.$/],
])('%s', async (_, given, message) => {
  const project = makeProject({ files: { 'flow.js': workflow("return await agent('x')") } });
  const options = { script: 'flow.js', backend: 'mock', ...given } as Library.RunWorkflowOptions;
  if (options.backend === 'defined') options.backend = lib.defineBackend({ name: 'x' } as never);
  const where = { cwd: project.dir, home: project.home, env: project.env };
  await expect(lib.runWorkflow({ ...options, ...where })).rejects.toMatchObject({
    code: 'WF_USAGE',
    message: expect.stringMatching(message),
  });
  expect(project.runIds()).toEqual([]);
});

it('takes a limit away by null, and an endless one', async () => {
  const project = makeProject({ files: { 'flow.js': workflow("return await agent('x')") } });
  const where = { cwd: project.dir, home: project.home, env: project.env };
  const given = {
    script: 'flow.js',
    backend: 'mock',
    timeoutMs: null,
    idleTimeoutMs: Infinity,
    budgetTokens: Infinity,
  };
  expect(await lib.runWorkflow({ ...given, ...where })).toMatchObject({ status: 'completed', exitCode: 0 });
});
