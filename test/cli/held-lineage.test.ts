/** A resume beside a live owner: what is said must lead to that owner. */
import { expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { newestRun } from './cli-kit.js';
import { startThree } from './support/start-three.js';

it('a lineage that is held names the commands for its owner, which find its run', async () => {
  const { project, wf: live } = await startThree('B');
  const id = newestRun(project);
  const busy = await runWf(['run', '--resume-from', id, '--runs-dir', project.runsDir], { project });
  expect(busy.code).toBe(5);
  expect(busy.stderr).toContain(`\`wf watch ${id} --runs-dir ${project.runsDir}\``);
  const stop = /`wf (stop [^`]+)`/.exec(busy.stderr)?.[1]?.split(' ') ?? [];
  expect(await runWf(stop, { project, cwd: '/' })).toMatchObject({ code: 0 });
  expect((await live.done).code).toBe(130);
});
