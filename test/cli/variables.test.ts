/** A misspelt `WF_…` variable is said; what is somebody's own, or what `wf` tells its agents, is not. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DoctorReport } from '../../src/index.js';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';

const FLOW = workflow('return await agent("do it")');

it.each([
  ['WF_BAKCEND', 'WF_BACKEND'],
  ['WF_RUN_DIR', 'WF_RUNS_DIR'],
  ['WF_MAXAGENTS', 'WF_MAX_AGENTS'],
])('%s: a run says once that it has no effect, and names %s; wf doctor does too', async (name, meant) => {
  const project = makeProject({ files: { 'flow.js': FLOW } });
  const words = `The variable ${name} is not one that wf reads, so it has no effect. Did you mean ${meant}?`;
  const { code, stderr } = await runWf(['run', 'flow.js', '--backend', 'mock'], { project, env: { [name]: '1' } });
  expect(code).toBe(0);
  expect(stderr.split(words)).toHaveLength(2);
  const doctor = await runWf(['doctor', '--json'], { project, env: { [name]: '1', WF_BACKEND: 'mock' } });
  const { findings } = JSON.parse(doctor.stdout) as DoctorReport;
  expect(findings).toContainEqual(expect.objectContaining({ check: 'config', status: 'warn', message: words }));
});

it('names of one’s own, those that the config names, and what a wf inside of an agent is told are let be', async () => {
  const main = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');
  const inner = `#!/bin/sh\nexec node '${main}' run inner.js --backend mock --model m --effort low 2>&1\n`;
  const project = makeProject({
    files: { 'flow.js': FLOW, 'agent.sh': inner, 'inner.js': workflow('return await agent("inner")', 'inner') },
  });
  chmodSync(project.path('agent.sh'), 0o755);
  project.write('.claude/wf.json', JSON.stringify({ secrets: ['WF_MODELS'] }));
  const env = { WF_TEAM_NAME: 'x', WF_MODELS: 'x'.repeat(20), WF_SANDBOX_PERMISSION: '', WF_AI_SDK_BASE_URL: '' };
  const flags = ['--command', './agent.sh', '--model', 'm', '--effort', 'low', '--permission', 'full'];
  const { code, stdout, stderr } = await runWf(['run', 'flow.js', ...flags], { project, env });
  expect(code).toBe(0);
  expect(stdout).toMatch(/run .* started: inner/);
  expect(stdout + stderr).not.toContain('Did you mean');
});
