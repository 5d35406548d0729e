/** `wf watch` and `wf logs`: a run seen from another terminal, from its files alone. */
import { appendFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { MOCK, newestRun, THREE, workflow } from './cli-kit.js';
import { snapshot } from './support/runs.js';
import { startThree } from './support/start-three.js';

const eventsFile = (project: TestProject, id = newestRun(project)): string => join(project.runDir(id), 'events.jsonl');

describe('wf watch', () => {
  it('follows a live run to its end from where it stands, with its exit code, and without the socket', async () => {
    const { project, backend, wf: run } = await startThree('B', { gated: ['B'], rules: { C: { fail: 1 } } });
    await run.waitForStderr(/#2 B: started/);
    const id = newestRun(project);
    const runtime = project.env.XDG_RUNTIME_DIR as string;
    for (const name of readdirSync(runtime)) rmSync(join(runtime, name), { recursive: true });
    const watch = startWf(['watch', id.slice(0, 8)], { project });
    await watch.waitForStdout(/run still running after .*: 1 of 2 calls so far ended, 1 running: #2 B/);
    // What had happened before is not told again.
    expect(watch.stdout).not.toMatch(/#1 A/);
    backend.openAllGates();
    expect((await run.done).code).toBe(3);
    const watched = await watch.done;
    expect(watched).toMatchObject({ code: 3, stderr: '' });
    expect(watched.stdout).toMatch(/#2 B: ok/);
    expect(watched.stdout).toMatch(/#3 C: failed \(WF_AGENT_FAILED/);
    expect(watched.stdout).toMatch(new RegExp(`run ${id} completed after .*, exit code 3`));
    expect(watched.stdout).toMatch(/calls +3: 2 ok, 1 failed; 0 reused, 3 executed/);
  });

  it('tells the end of a run that has ended, also where its last event is lost; --json gives events', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    await runWf(['run', 'flow.js', ...MOCK], { project });
    const id = newestRun(project);
    const before = snapshot(project.runsDir);
    const { code, stdout, stderr } = await runWf(['watch', id], { project });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/run .* started: flow[\s\S]*Run completed in .*: 3 of 3 calls gave an answer/);
    expect(stdout).not.toMatch(/#1 A: (queued|started)/);
    const json = await runWf(['watch', id, '--json'], { project });
    expect(json).toMatchObject({ code: 0, stdout: readFileSync(eventsFile(project), 'utf8') });
    expect(snapshot(project.runsDir)).toEqual(before);

    const file = eventsFile(project);
    truncateSync(file, readFileSync(file, 'utf8').trimEnd().lastIndexOf('\n') + 1);
    const again = await runWf(['watch', id], { project });
    expect(again.code).toBe(0);
    expect(again.stdout).toMatch(/Run completed in .*: 3 of 3 calls gave an answer/);
  });

  it('H6: ends when the owner is killed, and says what is known; exit 1', async () => {
    const { project, wf: run } = await startThree('B');
    const id = newestRun(project);
    const watch = startWf(['watch', id], { project });
    await watch.waitForStdout(/run still running/);
    run.kill('SIGKILL');
    const { code, stdout, stderr } = await watch.done;
    expect(code).toBe(1);
    expect(stderr).toBe(
      `wf: run ${id} is interrupted: no end is recorded, and process ${run.pid} is gone.\n  → To go on: wf run --resume-from ${id}\n`,
    );
    expect(stdout).not.toMatch(/failed|completed|cancelled/);
    // Who looks only now is not told first that it runs.
    const late = await runWf(['watch', id], { project });
    expect([late.code, late.stderr]).toEqual([1, stderr]);
    expect(late.stdout).not.toContain('still running');
  });

  it('a cancelled run gives 130; Ctrl-C ends the watching and not the run', async () => {
    const { project, wf: run } = await startThree('B');
    const id = newestRun(project);
    const impatient = startWf(['watch', id], { project });
    await impatient.waitForStdout(/run still running/);
    impatient.kill('SIGINT');
    expect(await impatient.done).toMatchObject({ signal: 'SIGINT' });
    expect(run.ended).toBe(false);
    const watch = startWf(['watch', id], { project });
    await watch.waitForStdout(/run still running/);
    run.kill('SIGINT');
    expect(await watch.done).toMatchObject({ code: 130 });
  });
});

describe('wf logs', () => {
  it('prints what is recorded, a line an event; --json the lines as they are; reads only', async () => {
    const project = makeProject({
      files: { 'flow.js': workflow(`log('a\\u001b[31mred')\nreturn await agent('do A', { label: 'A' })`) },
    });
    await runWf(['run', 'flow.js', ...MOCK], { project });
    const id = newestRun(project);
    const before = snapshot(project.runsDir);
    const { code, stdout, stderr } = await runWf(['logs', id.slice(0, 6)], { project });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => line.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /, ''))).toEqual([
      expect.stringMatching(new RegExp(`^run ${id} started: flow`)),
      expect.stringMatching(/^log: a.*red$/),
      '#1 A: queued',
      '#1 A: started',
      expect.stringMatching(/^#1 A: ok/),
      expect.stringMatching(new RegExp(`^run ${id} completed`)),
    ]);
    expect(stdout).not.toContain('\u001b');
    const json = await runWf(['logs', id, '--json'], { project });
    expect(json.stdout).toBe(readFileSync(eventsFile(project), 'utf8'));
    expect(snapshot(project.runsDir)).toEqual(before);
  });

  it('-f follows a live run to its end and misses nothing', async () => {
    const { project, backend, wf: run } = await startThree('B');
    const logs = startWf(['logs', '-f', '--json', newestRun(project)], { project });
    await logs.waitForStdout(/"type":"call.started","n":2/);
    backend.openAllGates();
    await run.done;
    expect(await logs.done).toMatchObject({ code: 0, stdout: readFileSync(eventsFile(project), 'utf8') });
  });

  it('leaves out a torn last line and lines that are no events', async () => {
    const project = makeProject({ files: { 'flow.js': THREE } });
    await runWf(['run', 'flow.js', ...MOCK], { project });
    const file = eventsFile(project);
    const [first = ''] = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, `${first}\nrubbish\n{"type":7}\n`);
    appendFileSync(file, '{"t":"2026-01-01T00:00:00.000Z","type":"log","mess');
    const { code, stdout } = await runWf(['logs', '--json', newestRun(project)], { project });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${first}\n` });
    rmSync(file);
    const none = await runWf(['logs', newestRun(project)], { project });
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'wf: no events of this run are recorded.\n' });
  });

  it('B-092: a reader that has had enough ends it', async () => {
    const { project, backend, wf: run } = await startThree('A');
    const logs = startWf(['logs', '-f', newestRun(project)], {
      project,
      under: ['sh', '-c', '("$@"; echo "code $?" >&2) | head -n 1', 'sh'],
    });
    await logs.waitForStdout(/started/);
    // What is written next meets the closed reader.
    backend.openAllGates();
    await run.done;
    expect(await logs.done).toMatchObject({ stdout: expect.stringMatching(/^\S+ run .* started.*\n$/) });
  });
});
