/** Runs whose record is damaged: what is said of them. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { MOCK, newestRun, THREE } from './cli-kit.js';

async function makeRun(): Promise<{ project: TestProject; id: string }> {
  const project = makeProject({ files: { 'flow.js': THREE } });
  expect(await runWf(['run', 'flow.js', ...MOCK], { project })).toMatchObject({ code: 0 });
  const id = newestRun(project);
  return { project, id };
}

/** As a kill in the middle of a run leaves it: no outcome, and an owner that is gone. */
function leaveWithoutEnd(project: TestProject, id: string): void {
  for (const name of ['state.json', 'events.jsonl']) rmSync(join(project.runDir(id), name));
}

it.each([
  ['is no JSON', '{"version": 1,', /run\.json is not JSON/],
  ['is empty', '', /run\.json is empty/],
  ['is that of a newer version', '{"version":99,"engine":"wf-engine"}', /run\.json has format version 99/],
])('H12 where run.json %s, no verb suggests a resume that would be refused', async (_, text, why) => {
  const { project, id } = await makeRun();
  writeFileSync(join(project.runDir(id), 'run.json'), text);
  leaveWithoutEnd(project, id);
  expect((await runWf(['run', '--resume-from', id], { project })).code).toBe(2);
  const shown = await runWf(['show', id], { project });
  expect(shown.stdout).toMatch(new RegExp(`No resume can go on from it: ${why.source}`));
  const watched = await runWf(['watch', id], { project });
  expect(watched.stderr).toMatch(new RegExp(`No resume can go on from it: ${why.source}`));
  const stopped = await runWf(['stop', id, '--json'], { project });
  for (const { stdout, stderr } of [shown, watched, stopped]) expect(stdout + stderr).not.toContain('--resume-from');
  const [listed] = JSON.parse((await runWf(['ls', '--json'], { project })).stdout);
  expect(listed.noResume).toMatch(why);
});

it('the command that goes on from a run finds it in its runs folder', async () => {
  const { project, id } = await makeRun();
  const elsewhere = project.path('other runs');
  mkdirSync(elsewhere);
  const failing = ['run', 'flow.js', '--backend', 'command', '--command', 'false', '-q', '--runs-dir', elsewhere];
  expect((await runWf(failing, { project })).code).toBe(3);
  const [other] = JSON.parse((await runWf(['ls', '--json', '--runs-dir', elsewhere], { project })).stdout);
  expect(other.runId).not.toBe(id);
  const command = `wf run --resume-from ${other.runId} --runs-dir '${elsewhere}'`;
  for (const verb of ['show', 'stop']) {
    const { stdout } = await runWf([verb, other.runId, '--runs-dir', elsewhere], { project });
    expect(stdout).toContain(`To go on: ${command}\n`);
  }
});
