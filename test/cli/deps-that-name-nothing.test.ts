/** `deps` that name no file as they stand: an answer would be reused whatever is edited, so a person is told. */
import { expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';
import { run } from './support/runs.js';

const asking = (...deps: string[][]): string =>
  workflow(`for (const deps of ${JSON.stringify(deps)}) await agent('read ' + deps, { deps })`);

it('a folder and a pattern that nothing fits are told once a run, and by a plan; files are not', async () => {
  const project = makeProject({
    files: { 'src/a.txt': 'a', 'flow.js': asking(['src/'], ['src/'], ['.', 'src/*'], ['none/*'], ['src/**']) },
  });
  const first = await run(project, ['flow.js', '--backend', 'mock']);
  const told = first.stderr.split('\n').filter((line) => line.includes('deps:'));
  expect(told).toEqual([
    expect.stringMatching(
      /WF_NOTICE: deps: "src\/" is a folder, and names none of the files in it: write "src\/\*\*"\./,
    ),
    expect.stringMatching(/deps: "\." is a folder, .* write "\.\/\*\*"\. .* that no other pattern names /),
    expect.stringMatching(/deps: no file fits "none\/\*" now\./),
  ]);
  const plan = await runWf(['plan', '--resume-from', first.id], { project });
  expect(plan.stderr.match(/deps: /g)).toHaveLength(3);
});

it('nothing is told of a folder outside of the project', async () => {
  const project = makeProject({ files: { 'src/a.txt': 'a', 'flow.js': asking(['../', 'src/*']) } });
  const { stderr } = await run(project, ['flow.js', '--backend', 'mock', '--allow-failures']);
  expect(stderr).not.toContain('is a folder');
});
