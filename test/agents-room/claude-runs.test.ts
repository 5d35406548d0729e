/** Whole runs with a program that speaks like Claude Code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';

const PROGRAM = join(import.meta.dirname, '..', '..', 'fixtures', 'agents', 'testing', 'scripted-claude.mjs');

const SCRIPT = `
export const meta = { name: 'many', description: 'Several calls' }
return await parallel(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => () => agent('Look at ' + name)))
`;

function openProject(steps: readonly object[]): { project: TestProject; env: Record<string, string> } {
  const project = makeProject({ files: { 'flow.js': SCRIPT } });
  const claude = { executable: PROGRAM, env: ['SCRIPTED_CLAUDE', 'SCRIPTED_CLAUDE_LOG'] };
  project.write('.claude/wf.json', JSON.stringify({ backend: 'claude', backends: { claude } }));
  project.write('steps.json', JSON.stringify(steps));
  return { project, env: { SCRIPTED_CLAUDE: project.path('steps.json'), SCRIPTED_CLAUDE_LOG: project.path('log') } };
}

const startsOf = (project: TestProject): string[] => readFileSync(project.path('log'), 'utf8').trimEnd().split('\n');

test('B-077: a refused sign-in stops the run; signed in, a resume runs each call in a process of its own', async () => {
  const { project, env } = openProject([]);
  project.write('steps.json', JSON.stringify([{ text: 'seen', signedIn: project.path('signed-in') }]));
  const refused = await runWf(['run', 'flow.js', '--concurrency', '1'], { project, env });
  expect(refused.code, refused.stderr).toBe(6);
  expect(refused.stderr).toMatch(/claude auth login/);
  expect(startsOf(project)).toHaveLength(1);
  project.write('signed-in', '');
  const [id] = project.runIds() as [string];
  const resumed = await runWf(['run', '--resume-from', id], { project, env });
  expect([resumed.code, JSON.parse(resumed.stdout)], resumed.stderr).toEqual([0, Array(6).fill('seen')]);
  expect(startsOf(project)).toHaveLength(1 + 6);
});

test('B-072, B-076, B-079: a usage limit starts no further call and says until when', async () => {
  const limit = { status: 'rejected', resetsAt: 2_209_075_200 };
  const { project, env } = openProject([
    { error: 'rate_limit', before: [{ type: 'rate_limit_event', rate_limit_info: limit }] },
  ]);
  const { code, stderr } = await runWf(['run', 'flow.js', '--concurrency', '2'], { project, env });
  expect(code, stderr).toBe(6);
  expect(startsOf(project).length).toBeLessThanOrEqual(2);
  expect(stderr).toContain('2040-01-02');
});
