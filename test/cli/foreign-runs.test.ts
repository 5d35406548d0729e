/** Run folders of another engine, and of formats before ours: shown with what they say, never gone on from. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listRuns, readRun } from '../../src/index.js';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { run, snapshot } from './support/runs.js';

const ids = ['1', '2', '3', '4'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`) as [
  string,
  string,
  string,
  string,
];

function plant(project: TestProject, id: string, files: Record<string, unknown>): void {
  const folder = project.runDir(id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'script.js'), 'export const meta = { name: "other", description: "x" }\n');
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

const key = (digit: string): string => digit.repeat(64);
const LINES = [
  { key: key('b'), seq: 1, result: { kind: 'ok', output: 'second', usage: { outputTokens: 7 }, phase: 'Find' } },
  { key: key('a'), seq: 0, result: { kind: 'ok', output: { a: 1 }, usage: { outputTokens: 5 }, model: 'large' } },
  { key: key('c'), seq: 2, attempt: 1, result: { kind: 'dead', reason: 'worktree-failed', detail: 'no space' } },
  { key: key('d'), seq: 3, result: { kind: 'skipped' } },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');

it('H13 ls and show tell of another engine what its files say; what they do not say stays unknown; a resume is refused by name', async () => {
  const project = makeProject({
    files: { 'flow.js': `export const meta = { name: 'flow', description: 'x' }\nreturn 1\n` },
  });
  const own = await run(project, ['flow.js', '--backend', 'mock']);
  const state = { workflow_name: 'survey', script: 'return 1', started_at: '2026-01-02T03:04:05Z' };
  plant(project, ids[0], {
    'journal.jsonl': LINES,
    'state.json': {
      ...state,
      run_id: ids[0],
      status: 'completed',
      return_value: { n: 4 },
      finished_at: '2026-01-02T03:05:05Z',
      execution_status: 'succeeded',
      delivery_status: 'delivered',
    },
  });
  // An older one: without verdicts; killed; its journal torn.
  plant(project, ids[1], {
    'journal.jsonl': LINES.slice(0, -20),
    'state.json': { ...state, run_id: ids[1], status: 'killed', error: 'killed by user' },
  });
  // One that ended without an outcome, and one that says what nobody knows.
  plant(project, ids[2], { 'journal.jsonl': LINES });
  plant(project, ids[3], { 'state.json': { run_id: ids[3], status: 'pondering', started_at: 7, workflow_name: 3 } });
  const before = snapshot(project.runsDir);

  const table = await runWf(['ls'], { project });
  expect(table.stdout).toMatch(new RegExp(`${ids[0]} +survey +completed, other engine`));
  const where = { cwd: project.dir, home: project.home, env: project.env };
  const listed = Object.fromEntries(listRuns(where).map((summary) => [summary.runId, summary]));
  expect(Object.keys(listed).sort()).toEqual([...ids, own.id].sort());
  const unknown = { execution: 'unknown', acceptance: 'unknown', postProcessing: 'unknown', delivery: 'unknown' };
  expect(listed[ids[0]]).toMatchObject({
    workflow: 'survey',
    status: 'completed',
    startedAt: '2026-01-02T03:04:05.000Z',
    endedAt: '2026-01-02T03:05:05.000Z',
    backend: 'unknown',
    counts: { calls: 4, ok: 2, failed: 1, skipped: 1, executed: 0 },
    usage: { outputTokens: 12, usd: null },
    verdicts: { execution: 'succeeded', acceptance: 'unknown', postProcessing: 'unknown', delivery: 'delivered' },
  });
  expect(listed[ids[0]]).not.toHaveProperty('damaged');
  expect(listed[ids[1]]).toMatchObject({ status: 'cancelled', endedAt: null, verdicts: unknown });
  expect(listed[ids[2]]).toMatchObject({
    status: 'interrupted',
    workflow: 'unknown',
    counts: { ok: 2 },
    verdicts: unknown,
  });
  expect(listed[ids[3]]).toMatchObject({ status: 'interrupted', workflow: 'unknown', counts: { calls: 0 } });
  expect(listed[own.id]).not.toHaveProperty('verdicts');

  expect(readRun(ids[0], where)).toMatchObject({
    result: { n: 4 },
    phases: [{ title: null }, { title: 'Find' }],
    calls: [
      { n: 1, key: key('a'), status: 'ok', startedAt: null },
      { n: 2, phase: 'Find', status: 'ok' },
      { n: 3, status: 'failed', error: { message: 'worktree-failed: no space' } },
      { n: 4, status: 'skipped' },
    ],
  });
  expect(readRun(ids[1], where)).toMatchObject({
    error: { message: 'killed by user' },
    notices: [expect.stringContaining('another engine'), 'The journal has 1 unreadable line.'],
  });
  const shown = await runWf(['show', ids[0]], { project });
  expect(shown.stdout).toMatch(
    /verdicts +execution succeeded, acceptance unknown, post-processing unknown, delivery delivered/,
  );
  expect(shown.stdout).toContain('another engine');
  expect(shown.stdout).not.toContain('--resume-from');

  for (const id of ids) {
    for (const args of [
      ['run', '--resume-from', id],
      ['run', 'flow.js', '--resume-from', id],
      ['plan', '--resume-from', id],
    ]) {
      if (id !== ids[0] && args.length > 3) continue;
      const { code, stderr } = await runWf(args, { project });
      expect([id, code, stderr]).toEqual([id, 2, expect.stringContaining('WF_RUN_FOREIGN')]);
      expect(stderr).toContain('another engine, as Peri makes it');
    }
  }
  expect((await runWf(['explain', ids[0]], { project })).stderr).toContain('WF_RUN_FOREIGN');
  expect(snapshot(project.runsDir)).toEqual(before);
}, 120_000);
