/** Another process claims a run in the instant in which its script returns: what the last look before its record is for. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import type * as Library from '../../src/index.js';
import { requireBuild } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';

const ENTRY = pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'index.js')).href;

it.each([
  ['claimed meanwhile', true],
  ['not claimed', false],
])(
  'C1 a run that was %s as its script returned: only its owner records an end, and removes old runs',
  async (_when, isClaimed) => {
    requireBuild();
    const { startWorkflow } = (await import(ENTRY)) as typeof Library;
    const project = makeProject({
      files: { 'flow.js': workflow("const a = await agent('x')\nlog('last')\nreturn a") },
    });
    const start = (options: Partial<Library.RunWorkflowOptions> = {}) =>
      startWorkflow({
        script: 'flow.js',
        backend: 'mock',
        ...{ cwd: project.dir, home: project.home, env: project.env },
        ...options,
      });
    const old = await (await start()).done;
    let run: Awaited<ReturnType<typeof startWorkflow>>;
    const claim = (): void => {
      const claims = join(project.runDir(run.runId), '..', '.claims', run.runId);
      const own = JSON.parse(readFileSync(join(claims, '1.json'), 'utf8'));
      const owner = { ...own.owner, host: 'elsewhere' };
      writeFileSync(join(claims, '2.json'), JSON.stringify({ ...own, runId: old.runId, owner }));
    };
    run = await start({
      keep: 1,
      onEvent: (event) => {
        if (isClaimed && event.type === 'log') claim();
      },
    });
    const end = await run.done;
    expect(end.status).toBe('completed');
    expect(existsSync(join(end.folder, 'state.json'))).toBe(!isClaimed);
    const record = JSON.parse(readFileSync(join(end.folder, 'run.json'), 'utf8'));
    expect(record.status).toBe(isClaimed ? 'running' : 'completed');
    expect(existsSync(old.folder)).toBe(isClaimed);
  },
);
