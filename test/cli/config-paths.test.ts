/** Relative paths in a config start at the folder that the config speaks for, wherever a run is started. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { newestRun, workflow } from './cli-kit.js';
import { copyProject } from './support/runs.js';

const FLOW = workflow('return await agent("do it")');
const TOOL = '#!/bin/sh\ncat > /dev/null\nprintf "%s in %s" "$1" "$(basename "$(pwd)")"\n';

it('a program of the project is found from any folder in it, on a resume too, and works in the start folder', async () => {
  const project = makeProject({ git: true, files: { 'sub/flow.js': FLOW, 'other/.keep': '', 'tools/tool.sh': TOOL } });
  chmodSync(project.path('tools', 'tool.sh'), 0o755);
  const backends = { command: { tool: { argv: ['./tools/tool.sh', './one'] } }, claude: { addDirs: ['.', 'tools'] } };
  project.write('.claude/wf.json', JSON.stringify({ backend: 'tool', backends }));
  const cwd = project.path('sub');
  // Its arguments are its own affair.
  expect(await runWf(['run', 'flow.js'], { project, cwd })).toMatchObject({ code: 0, stdout: './one in sub\n' });
  const resume = ['run', '--resume-from', newestRun(project), '--args-text', 'x'];
  expect(await runWf(resume, { project, cwd: project.path('other') })).toMatchObject({ code: 0 });
  // Moved as a whole, the project has the same settings.
  const moved = await runWf(['run', '--resume-from', newestRun(project)], { project, cwd: copyProject(project) });
  expect([moved.code, moved.stderr]).toEqual([0, expect.not.stringContaining('settings of the backend')]);
  const { stdout } = await runWf(['doctor'], { project, cwd: project.path('other') });
  expect(stdout).toMatch(/tool can work here: .*project\/tools\/tool\.sh/);
});

it('of two configs each names programs from its own folder, and the user’s from where it lies', async () => {
  const project = makeProject({ git: true, files: { 'sub/flow.js': FLOW, 'tool.sh': TOOL, 'sub/tool.sh': TOOL } });
  const own = join(project.home, '.config', 'wf');
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'tool.sh'), TOOL);
  for (const path of [project.path('tool.sh'), project.path('sub', 'tool.sh'), join(own, 'tool.sh')])
    chmodSync(path, 0o755);
  const config = (name: string, argument: string): string =>
    JSON.stringify({ backends: { command: { [name]: { argv: ['./tool.sh', argument] } } } });
  project.write('.claude/wf.json', config('far', 'of the root'));
  project.write('sub/.claude/wf.json', config('near', 'of sub'));
  writeFileSync(join(own, 'config.json'), config('mine', 'of the user'));
  for (const [name, place] of [
    ['far', 'of the root'],
    ['near', 'of sub'],
    ['mine', 'of the user'],
  ] as const) {
    const ended = await runWf(['run', 'flow.js', '--backend', name], { project, cwd: project.path('sub') });
    expect([name, ended.stdout]).toEqual([name, `${place} in sub\n`]);
  }
});
