/** `wf doctor` tells the config, where each setting comes from, which backends can work here, and which one a run would take. */
import { chmodSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { DoctorReport } from '../../src/index.js';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';

async function lookAtConfig(project: TestProject, env: Record<string, string>) {
  const run = await runWf(['doctor', '--json'], { project, env: { PATH: '/nowhere', ...env } });
  const { findings } = JSON.parse(run.stdout) as DoctorReport;
  return { code: run.code, output: run.stdout, found: findings.filter(({ check }) => check === 'config') };
}

it('names each setting with its source, each backend, and the one that a run would take; no secret', async () => {
  const project = makeProject({ files: { 'tool.sh': '#!/bin/sh\ncat\n' } });
  chmodSync(project.path('tool.sh'), 0o755);
  project.write(
    '.claude/wf.json',
    JSON.stringify({
      backend: 'tool',
      timeout: '10m',
      secrets: ['TOOL_TOKEN', 'OTHER'],
      backends: { command: { tool: { argv: ['./tool.sh'] }, lost: { argv: ['./nowhere.sh'] } } },
    }),
  );
  const { found, output } = await lookAtConfig(project, { WF_CONCURRENCY: '2', TOOL_TOKEN: 'live-0123456789abcdef' });
  expect(found.filter(({ status }) => status !== 'ok')).toEqual([]);
  const told = found.map(({ message }) => message);
  expect(told).toEqual(
    expect.arrayContaining([
      'Read .claude/wf.json.',
      'timeout: 600 s, from .claude/wf.json',
      'concurrency: 2, from WF_CONCURRENCY',
      'The other settings have their defaults.',
      'Secrets that are masked: TOOL_TOKEN (set), OTHER (not set)',
      'A run would take tool, from .claude/wf.json.',
      expect.stringMatching(/^tool can work here: .*tool\.sh/),
      expect.stringMatching(/^Not to be had here: claude \(.*lost \(/),
    ]),
  );
  expect(output).not.toContain('live-0123');
  const short = await lookAtConfig(project, { TOOL_TOKEN: 'hunter2pass' });
  expect(short.found.filter(({ status }) => status !== 'ok').map(({ message }) => message)).toEqual([
    expect.stringMatching(/not masked.*TOOL_TOKEN/),
  ]);
});

it('a config that keeps runs from starting is a fault with its line; a backend that cannot work is a warning where it is chosen', async () => {
  const project = makeProject();
  project.write('.claude/wf.json', '{\n "retris": 1 }');
  const faulty = await lookAtConfig(project, {});
  expect(faulty.code).toBe(2);
  expect(faulty.found).toMatchObject([
    { status: 'fault', message: expect.stringMatching(/^\.claude\/wf\.json:2:2: Unknown key retris/) },
  ]);
  project.write('.claude/wf.json', '{}');
  const missing = await lookAtConfig(project, { WF_BACKEND: 'gemini' });
  expect(missing.code).toBe(4);
  expect(missing.found).toContainEqual(
    expect.objectContaining({ status: 'warn', message: expect.stringMatching(/^gemini cannot work here/) }),
  );
  const unknown = await lookAtConfig(project, { WF_BACKEND: 'nobody' });
  expect(unknown.found).toContainEqual(
    expect.objectContaining({
      status: 'warn',
      message: expect.stringMatching(/no backend named "nobody", which WF_BACKEND/),
    }),
  );
});
