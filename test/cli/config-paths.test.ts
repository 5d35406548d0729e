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

it('~/.claude/wf.json, beside the workflows of the user, counts after the project and before ~/.config', async () => {
  const project = makeProject({ git: true, files: { 'flow.js': FLOW, '.claude/wf.json': '{ "retries": 1 }' } });
  const home = join(project.home, '.claude');
  mkdirSync(home, { recursive: true });
  mkdirSync(join(project.home, '.config', 'wf'), { recursive: true });
  writeFileSync(join(project.home, 'tool.sh'), TOOL);
  chmodSync(join(project.home, 'tool.sh'), 0o755);
  const backends = { command: { mine: { argv: ['./tool.sh', 'mine'] } } };
  writeFileSync(join(home, 'wf.json'), JSON.stringify({ backend: 'mine', retries: 2, concurrency: 2, backends }));
  const further = { backend: 'mock', retries: 3, concurrency: 3, maxAgents: 3 };
  writeFileSync(join(project.home, '.config', 'wf', 'config.json'), JSON.stringify(further));
  expect(await runWf(['run', 'flow.js'], { project })).toMatchObject({ code: 0, stdout: 'mine in project\n' });
  const { options, settingSources } = JSON.parse(project.read(`.claude/workflow-runs/${newestRun(project)}/run.json`));
  expect(options).toMatchObject({ retries: 1, concurrency: 2, maxAgents: 3 });
  expect(settingSources.concurrency).toEqual({ from: 'config', place: '~/.claude/wf.json' });
  // In the home folder itself the two are one file.
  writeFileSync(join(project.home, 'flow.js'), FLOW);
  expect(await runWf(['run', 'flow.js'], { project, cwd: project.home })).toMatchObject({ code: 0 });
});
