/** The run that a resume goes on from: how it is named, what stands in it, and that it stays as it is. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { journalFile } from '../support/journal.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { MOCK, newestRun, readState, S3, workflow } from './cli-kit.js';
import { copyProject, killRun, linesOf, listRuns, run, snapshot } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

it('R1 only a whole UUID names the run of a resume; anything else is exit 2 and touches nothing', async () => {
  const project = makeProject({ files: { 'three.js': S3 } });
  const { id } = await run(project, ['three.js', '--backend', 'mock']);
  const before = snapshot(project.root);
  const bad = [
    'x',
    '',
    '../a',
    `${id}/..`,
    `../${id}`,
    `{${id}}`,
    `urn:uuid:${id}`,
    `${id}0`,
    id.slice(0, 8),
    `${id}\n`,
    id.replaceAll('-', ''),
    '../../../../../../etc/passwd',
  ];
  for (const text of bad) {
    const { code, stderr, stdout } = await runWf(['run', 'three.js', '--resume-from', text, '--backend', 'mock'], {
      project,
    });
    expect([text, code, stdout]).toEqual([text, 2, '']);
    expect(stderr).toContain('WF_RUN_ID');
    expect(stderr).toMatch(/\n {2}→ ./);
  }
  const unknown = '0b5ad1c3-6a0e-4c8e-9d53-0f3b8f4b2c11';
  for (const more of [[], ['three.js']]) {
    const { code, stderr } = await runWf(['run', ...more, '--resume-from', unknown, '--backend', 'mock'], { project });
    expect([code, stderr]).toEqual([2, expect.stringContaining(`no run ${unknown}`)]);
    expect(stderr).toContain('→ `wf ls` lists the runs.');
  }
  expect(snapshot(project.root)).toEqual(before);
  // Capitals are the same id.
  const upper = await run(project, ['--resume-from', id.toUpperCase()]);
  expect([upper.code, upper.state.counts.reused]).toEqual([0, 3]);
}, 120_000);

it('R2 without a readable journal a resume goes on, says so once, and runs everything', async (context) => {
  const project = makeProject({ files: { 'three.js': S3 } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['three.js', ...agent.flags]);
  const journal = journalFile(project, first.id) as string;
  const bytes = readFileSync(journal);

  const expectAllRun = async (options: Parameters<typeof run>[2] = {}): Promise<void> => {
    const resumed = await run(project, ['--resume-from', first.id], options);
    expect(resumed.code).toBe(0);
    expect(agent.started(resumed.id)).toEqual(['A', 'B', 'C']);
    expect(resumed.stderr.match(/The journal of the source run[^\n]*every call runs/g)).toHaveLength(1);
    expect(linesOf(project, resumed.id)).toHaveLength(3);
  };

  rmSync(journal);
  await expectAllRun();
  mkdirSync(journal);
  await expectAllRun();
  rmSync(journal, { recursive: true });
  writeFileSync(journal, bytes);
  chmodSync(journal, 0);
  if (process.getuid?.() !== 0) return await expectAllRun();
  // Permissions do not bind root, so the resume is run as somebody else.
  const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  const canRun = spawnSync(nobody[0] as string, [...nobody.slice(1), process.execPath, '--version'], {
    stdio: 'ignore',
  });
  if (canRun.status !== 0) return context.skip('root, and no other user can run this Node here');
  spawnSync('chown', ['-R', '65534:65534', project.root]);
  await expectAllRun({ under: nobody });
});

it('R7 a resume is a new run; the folder of the old one stays as it is, to the nanosecond', async () => {
  const project = makeProject({ files: { 'three.js': S3 } });
  const backend = makeFakeBackend(project, { gated: ['B'] });
  const first = startWf(['run', 'three.js', ...backend.flags], { project });
  await backend.waitForStart('B');
  const old = await killRun(first);
  const before = snapshot(project.runDir(old));
  backend.openGate('B');
  const second = await run(project, ['--resume-from', old]);
  expect(second.code).toBe(0);
  expect(snapshot(project.runDir(old))).toEqual(before);
  expect(second.id).not.toBe(old);
  expect(second.stderr.split('\n')[0]).toContain(second.id);
  const ls = await listRuns(project);
  expect(ls.map(({ runId, resumedFrom }) => [runId, resumedFrom])).toEqual([
    [second.id, old],
    [old, null],
  ]);
  // A second resume of the complete run, and one of the old run: nothing is written there either.
  await run(project, ['--resume-from', second.id]);
  await runWf(['show', old], { project });
  expect(snapshot(project.runDir(old))).toEqual(before);
});

it('R9 before a resume one sees where the run stopped, also in a copy of the folder', async () => {
  const project = makeProject({ files: { 'three.js': S3.replace('const b', "phase('Second')\nconst b") } });
  const backend = makeFakeBackend(project, { gated: ['B'] });
  const first = startWf(['run', 'three.js', ...backend.flags], { project });
  await backend.waitForStart('B');
  // The account for people is written in batches; a kill before the batch is written is not what is asked here.
  const events = join(project.runDir(project.runIds()[0] as string), 'events.jsonl');
  await waitFor('the start of B in the account', () => /"call.started"[^\n]*"B"/.test(readFileSync(events, 'utf8')));
  const id = await killRun(first);
  const before = snapshot(project.dir);
  for (const cwd of [project.dir, copyProject(project)]) {
    const ls = await listRuns(project, { cwd });
    expect(ls).toMatchObject([{ runId: id, workflow: 'three', status: 'interrupted', endedAt: null }]);
    const show = JSON.parse((await runWf(['show', id, '--json'], { project, cwd })).stdout);
    expect(show.status).toBe('interrupted');
    expect(show.phase ?? show.calls.at(-1).phase).toBe('Second');
    expect(show.calls).toMatchObject([
      { label: 'A', status: 'ok', phase: null },
      { label: 'B', status: 'no-result', phase: 'Second' },
    ]);
    const text = (await runWf(['show', id.slice(0, 8)], { project, cwd })).stdout;
    expect(text).toMatch(/B +no result recorded/);
    expect(text).toContain(`wf run --resume-from ${id}`);
    expect(text).not.toMatch(/failed|cancelled|not run\b/);
  }
  expect(snapshot(project.dir)).toEqual(before);
});

it('R13 by its id alone a run goes on with its own script, args, settings and folder', async () => {
  const project = makeProject({
    files: {
      'three.js': S3.replace("'do A'", '`do A for ${args.who}`'),
      // What makes the folder above the project's root.
      '.claude/keep.txt': '',
      'sub/keep.txt': '',
    },
  });
  const backend = makeFakeBackend(project, { gated: ['B'] });
  const flags = ['--arg', 'who=Ada', '--concurrency', '3', '--model', 'small', '--retries', '2', '--timeout', '7m'];
  const first = startWf(['run', '../three.js', ...flags, ...backend.flags], { project, cwd: project.path('sub') });
  await backend.waitForStart('B');
  const id = await killRun(first);
  const options = JSON.parse(readFileSync(join(project.runDir(id), 'run.json'), 'utf8')).options;
  expect(options).toMatchObject({ concurrency: 3, model: 'small', retries: 2, timeoutMs: 420_000 });

  project.write('three.js', S3.replaceAll('do ', 'now do '));
  backend.openGate('B');
  const env = { WF_CONCURRENCY: '9', WF_MODEL: 'large', WF_BACKEND: 'mock', WF_MAX_AGENTS: '1' };
  const second = await run(project, ['--resume-from', id], { env });
  expect(second.code).toBe(0);
  expect(backend.ledger.starts().map(({ prompt, model }) => [prompt, model])).toEqual([
    ['do A for Ada', 'small'],
    ['do B', 'small'],
    ['do B', 'small'],
    ['do C', 'small'],
  ]);
  for (const { cwd } of backend.ledger.starts()) expect(cwd).toBe(project.path('sub'));
  const record = JSON.parse(readFileSync(join(project.runDir(second.id), 'run.json'), 'utf8'));
  expect(record).toMatchObject({ args: { who: 'Ada' }, options, startFolder: 'sub' });
  expect(readFileSync(join(project.runDir(second.id), 'script.js'))).toEqual(
    readFileSync(join(project.runDir(id), 'script.js')),
  );
});

it('R8 what differs from the source run is said, and what stayed equal is reused', async () => {
  const project = makeProject({ files: { 'three.js': S3 } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['three.js', '--arg', 'a=1', ...agent.flags]);
  project.write('three.js', `// a comment\n${S3}`.replace('do B', 'do B well'));
  const second = await run(project, ['three.js', '--resume-from', first.id, '--arg', 'a=2', '--model', 'large']);
  expect(agent.started(second.id)).toEqual(['B']);
  expect(second.stderr).toContain('The script differs');
  expect(second.stderr).toContain('The args differ');
  expect(second.stderr).toContain('The model is now large');
});

it('J13 a run that was killed before it had taken over its source is resumed from the source, and says so', async () => {
  const project = makeProject({ files: { 'three.js': S3 } });
  const agent = makeShellAgent(project);
  const first = await run(project, ['three.js', ...agent.flags]);
  const second = await run(project, ['--resume-from', first.id]);
  // As a kill would leave it: part of the lines, no mark that all are there.
  const folder = project.runDir(second.id);
  const record = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
  writeFileSync(
    join(folder, 'run.json'),
    JSON.stringify({ ...record, copied: false, status: 'running', endedAt: null }),
  );
  rmSync(join(folder, 'state.json'));
  const [line] = readFileSync(join(folder, 'journal.jsonl'), 'utf8').split(/(?<=\n)/);
  writeFileSync(join(folder, 'journal.jsonl'), line as string);
  const third = await run(project, ['--resume-from', second.id]);
  expect(third.state.counts).toMatchObject({ reused: 3, executed: 0 });
  expect(third.stderr).toContain(`the journal of ${first.id} is used`);
  expect(agent.started()).toHaveLength(3);
});

it('R13 a resume whose start folder is gone is refused with place and remedy, and goes on once it is there again', async () => {
  const project = makeProject({ git: true, files: { 'flow.js': S3, 'deep/er/.keep': '' } });
  const cwd = project.path('deep/er');
  await runWf(['run', '../../flow.js', ...MOCK], { project, cwd });
  const id = newestRun(project);
  rmSync(cwd, { recursive: true });
  const refused = await runWf(['run', '--resume-from', id], { project });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(new RegExp(`^wf: WF_FOLDER_MISSING: Run ${id} .*deep/er.*\n {2}→ .*${cwd}.*\n$`));
  expect(project.runIds()).toEqual([id]);
  mkdirSync(cwd);
  expect(await runWf(['run', '--resume-from', id], { project })).toMatchObject({ code: 0 });
});

it('R13 R10 folders that calls name are those of the first run, wherever its plan and its resume are asked for', async () => {
  const script = workflow(
    "return [await agent('a', { cwd: 'sub' }), await agent('b', { cwd: '..', deps: ['*.txt'] })]",
  );
  const files = { 'flow.js': script, 'deep/er/sub/.keep': '', 'deep/a.txt': 'a', 'b.txt': 'b' };
  const project = makeProject({ git: true, files });
  await runWf(['run', '../../flow.js', ...MOCK], { project, cwd: project.path('deep/er') });
  const id = newestRun(project);
  for (const cwd of [project.dir, project.path('deep')]) {
    const plan = await runWf(['plan', '--resume-from', id, '--json'], { project, cwd });
    expect(JSON.parse(plan.stdout)).toMatchObject({ complete: true, hits: 2, live: 0 });
    expect(await runWf(['run', '--resume-from', id, ...MOCK], { project, cwd })).toMatchObject({ code: 0 });
    expect(readState(project).counts).toMatchObject({ reused: 2, executed: 0 });
  }
});
