/** Runs whose record or journal is damaged: what is said of them, what is mended in a copy, and how long the copy stays. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DoctorReport } from '../../src/index.js';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { MOCK, newestRun, THREE } from './cli-kit.js';

async function makeRun(): Promise<{ project: TestProject; id: string; journal: string }> {
  const project = makeProject({ files: { 'flow.js': THREE } });
  expect(await runWf(['run', 'flow.js', ...MOCK], { project })).toMatchObject({ code: 0 });
  const id = newestRun(project);
  return { project, id, journal: join(project.runDir(id), 'journal.jsonl') };
}

async function diagnose(project: TestProject, ...flags: string[]): Promise<DoctorReport['findings']> {
  const { stdout } = await runWf(['doctor', '--json', ...flags], { project, env: { WF_BACKEND: 'mock' } });
  return (JSON.parse(stdout) as DoctorReport).findings.filter(({ status }) => status !== 'ok');
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

it('M6 of a run whose record is damaged the journal is looked at too, and never called reusable', async () => {
  const { project, id, journal } = await makeRun();
  writeFileSync(join(project.runDir(id), 'run.json'), '{');
  const [, sound] = await diagnose(project);
  expect(sound).toMatchObject({ check: 'journals', status: 'note', runId: id, fixable: false });
  expect(sound?.message).toMatch(
    /is sound: it holds 3 answers, and no resume can use them while run\.json cannot be read/,
  );
  appendFileSync(journal, 'garbage\n');
  const [, bad] = await diagnose(project, '--fix');
  expect(bad).toMatchObject({ check: 'journals', status: 'warn', fixed: null });
  expect(bad?.message).toMatch(/has 1 unreadable line .* it holds 3 answers, and no resume can use them/);
});

it('M6 a journal that is both cut off and damaged is told as both, and --fix writes a copy that a strict resume takes', async () => {
  const { project, id, journal } = await makeRun();
  const lines = readFileSync(journal, 'utf8').split('\n');
  writeFileSync(journal, [lines[0]?.replace('"label"', '"lapel"'), lines[1], ''].join('\n'));
  const [found] = await diagnose(project);
  expect(found?.message).toMatch(
    /is \d+ bytes shorter than its record says and has 1 unreadable line \(line 1: wrong checksum\); 1 answer can be reused/,
  );
  const [mended] = await diagnose(project, '--fix');
  expect(mended?.fixed).toMatch(/^wrote a copy with the one good line;/);
  const place = ['--runs-dir', join(project.runsDir, '.repaired')];
  expect(await diagnose(project, ...place)).toEqual([]);
  const resumed = await runWf(['run', '--resume-from', id, '--strict', ...place], { project });
  expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringMatching(/1 reused, 2 executed/)]);
  // The run itself is as it was, and still says what it lost.
  expect((await diagnose(project))[0]?.message).toMatch(/shorter than its record says/);
});

it('P1 the repaired copy of a run goes when that run goes, and what went on from the copy stays', async () => {
  const { project, id, journal } = await makeRun();
  truncateSync(journal, readFileSync(journal).lastIndexOf('\n', -2) + 1);
  appendFileSync(journal, 'garbage\n');
  await diagnose(project, '--fix');
  const repaired = join(project.runsDir, '.repaired');
  const resume = ['run', '--resume-from', id, '-q', '--runs-dir', repaired];
  expect(await runWf(resume, { project })).toMatchObject({ code: 0 });
  expect(await runWf(['run', 'flow.js', ...MOCK], { project })).toMatchObject({ code: 0 });
  expect(existsSync(join(repaired, id))).toBe(true);
  expect(await runWf(['prune', '--keep', '1'], { project })).toMatchObject({ code: 0 });
  expect(project.runIds()).toHaveLength(1);
  expect(existsSync(join(repaired, id))).toBe(false);
  const left = JSON.parse((await runWf(['ls', '--json', '--runs-dir', repaired], { project })).stdout);
  expect(left).toMatchObject([{ resumedFrom: id, status: 'completed' }]);
});
