/** Agents of a resume work in the folder in which the run was started, whatever its path looks like. */
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
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

it.each([
  ['a folder below the root', 'project', 'deep'],
  ['a folder whose name begins with two dots', 'project', '..odd'],
  ['a path through a link to the project', 'link', 'deep'],
])('%s', async (_, way, folder) => {
  const flow = workflow("return await agent('x', { cache: false })");
  const project = makeProject({ files: { [`${folder}/flow.js`]: flow }, git: true });
  symlinkSync(project.dir, join(project.root, 'link'));
  const cwd = way === 'link' ? join(project.root, 'link', folder) : project.path(folder);
  mkdirSync(cwd, { recursive: true });
  const seen: string[] = [];
  const backend = lib.defineBackend({
    name: 'own',
    run: async (request) => {
      seen.push(request.cwd);
      return { text: 'a' };
    },
  });
  const where = { cwd, home: project.home, env: project.env, backend };
  const run = await lib.runWorkflow({ script: 'flow.js', ...where });
  await lib.runWorkflow({ resumeFrom: run.runId, ...where });
  expect(seen).toEqual([cwd, cwd]);
  expect(JSON.parse(readFileSync(join(run.folder, 'run.json'), 'utf8'))).toMatchObject({
    startFolder: folder,
    script: { path: `${folder}/flow.js` },
  });
});
