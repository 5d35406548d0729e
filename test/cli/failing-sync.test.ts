/** A disk that takes the lines of a journal and does not confirm them: a real fault of the system call, made by strace. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { THREE } from './cli-kit.js';
import { needTool } from './support/need-tool.js';
import { linesOf, run } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

const failingSync = (project: TestProject): string[] => [
  ...['strace', '-f', '-o', join(project.control, 'trace')],
  ...['-e', 'trace=fdatasync', '-e', 'inject=fdatasync:error=EIO'],
];

it.for(['group', 'each'])(
  'R5 a flush of the journal that fails is a warning, and the run goes on (--fsync %s)',
  async (sync, context) => {
    needTool(context, 'strace', ['-V']);
    const project = makeProject({ files: { 'flow.js': THREE } });
    const agent = makeShellAgent(project);
    const ended = await run(project, ['flow.js', '--fsync', sync, ...agent.flags], { under: failingSync(project) });
    expect(ended).toMatchObject({ code: 0, state: { status: 'completed', journal: { complete: true, unwritten: 0 } } });
    // Told once, in the outcome too.
    const told = expect.stringMatching(/^The disk has not confirmed what was written to the journal \(EIO\)/);
    expect(ended.state.notices).toEqual([told]);
    expect(ended.stderr.match(/has not confirmed/g)).toHaveLength(1);
    expect(linesOf(project, ended.id).map(({ label }) => label)).toEqual(['A', 'B', 'C']);
  },
);

it.for(['group', 'each'])(
  'R5 a resume that cannot flush what it takes over starts nothing (--fsync %s)',
  async (sync, context) => {
    needTool(context, 'strace', ['-V']);
    const project = makeProject({ files: { 'flow.js': THREE } });
    const agent = makeShellAgent(project, { C: { fail: 1 } });
    const { id } = await run(project, ['flow.js', ...agent.flags]);
    const started = agent.lines('start').length;
    const resume = ['run', '--resume-from', id, '--fsync', sync];
    const refused = await runWf(resume, { project, under: failingSync(project) });
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/WF_RUNS_DIR.*\(EIO\); nothing was started/),
    });
    expect([agent.lines('start').length, project.runIds()]).toEqual([started, [id]]);
    expect(await runWf(resume, { project })).toMatchObject({ code: 3 });
  },
);
