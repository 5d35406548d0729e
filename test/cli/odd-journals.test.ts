/** What may lie in the place of a journal: nobody waits for it, nothing is lost, and every verb says why it cannot be read. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { journalLine } from '../support/journal.js';
import { runWf } from '../support/run-wf.js';
import type { TestProject } from '../support/temp-project.js';
import { ALL, type FourCalls, runFourCalls } from './support/four-calls.js';
import { needTool } from './support/need-tool.js';
import { linesOf, run, snapshot } from './support/runs.js';
import type { ShellAgent } from './support/shell-agent.js';

let project: TestProject;
let agent: ShellAgent;
let source: string;
let journal: string;
let lines: string[];
let tell: FourCalls['tell'];
let plant: FourCalls['plant'];
beforeAll(async () => {
  ({ project, agent, source, journal, lines, tell, plant } = await runFourCalls());
});

const PLACES: [string, () => void][] = [
  ['a pipe', () => spawnSync('mkfifo', [journal])],
  [
    'a link to a pipe',
    () => {
      const pipe = join(project.root, 'pipe');
      rmSync(pipe, { force: true });
      spawnSync('mkfifo', [pipe]);
      symlinkSync(pipe, journal);
    },
  ],
  ['a link to a device', () => symlinkSync('/dev/zero', journal)],
  ['a link to itself', () => symlinkSync(journal, journal)],
  ['a link to nothing', () => symlinkSync(join(project.root, 'nothing'), journal)],
  ['a folder', () => mkdirSync(journal)],
];

it.each(PLACES)(
  'R2 R4 %s in the place of the journal: nobody waits for it, everything runs, every verb says why',
  async (_, make) => {
    rmSync(journal, { recursive: true, force: true });
    make();
    const why = /pipe or a device, and no file|ELOOP|is missing|ENOENT|EISDIR|it is a folder/;
    const resumed = await run(project, ['--resume-from', source]);
    expect([resumed.code, agent.started(resumed.id)]).toEqual([0, ALL]);
    const warnings = resumed.stderr.match(
      /The journal of the source run .*: no result can be reused, every call runs/g,
    );
    expect(warnings).toEqual([expect.stringMatching(why)]);
    const before = agent.started().length;
    expect(await tell('run', '--resume-from', source, '--strict')).toEqual({
      code: 4,
      text: expect.stringMatching(why),
    });
    expect(await tell('plan', '--resume-from', source)).toEqual({ code: 0, text: expect.stringMatching(why) });
    expect(await tell('show', source)).toEqual({ code: 0, text: expect.stringMatching(why) });
    expect(await tell('explain', source)).toEqual({ code: 2, text: expect.stringMatching(why) });
    expect((await tell('ls')).code).toBe(0);
    expect((await tell('doctor')).text).toMatch(new RegExp(`The journal of run ${source}.*(${why.source})`));
    expect(agent.started()).toHaveLength(before);
    rmSync(journal, { recursive: true, force: true });
  },
);

it('B-029 B-031 of interrupted runs with such journals each is listed, and so are all others', async () => {
  const record = join(project.runDir(source), 'run.json');
  const text = readFileSync(record, 'utf8');
  const state = readFileSync(join(project.runDir(source), 'state.json'), 'utf8');
  // As a kill would leave it.
  rmSync(join(project.runDir(source), 'state.json'));
  writeFileSync(record, JSON.stringify({ ...JSON.parse(text), status: 'running', endedAt: null }));
  const all = project.runIds().sort();
  for (const [what, make] of PLACES) {
    rmSync(journal, { recursive: true, force: true });
    make();
    const { code, stdout, stderr } = await runWf(['ls', '--json'], { project });
    expect([what, code], stderr).toEqual([what, 0]);
    const listed = JSON.parse(stdout) as { runId: string; status: string }[];
    expect(listed.map(({ runId }) => runId).sort()).toEqual(all);
    expect(listed.find(({ runId }) => runId === source)?.status).toBe('interrupted');
  }
  rmSync(journal, { recursive: true, force: true });
  writeFileSync(record, text);
  writeFileSync(join(project.runDir(source), 'state.json'), state);
});

it('R3 a journal that is read-only, or a link to one elsewhere, is read as any other and left as it is', async () => {
  plant(lines.join(''));
  chmodSync(journal, 0o400);
  const readOnly = await run(project, ['--resume-from', source]);
  expect(readOnly.state.counts).toMatchObject({ reused: 4, executed: 0 });
  const elsewhere = join(project.root, 'elsewhere.jsonl');
  copyFileSync(journal, elsewhere);
  rmSync(journal);
  symlinkSync(elsewhere, journal);
  const before = [snapshot(project.runDir(source)), readFileSync(elsewhere, 'utf8')];
  const linked = await run(project, ['--resume-from', source]);
  expect(linked.state.counts).toMatchObject({ reused: 4, executed: 0 });
  expect([snapshot(project.runDir(source)), readFileSync(elsewhere, 'utf8')]).toEqual(before);
});

it('R3 a hole of zero bytes in the middle costs the line that it touches, also where it is longer than any line', async () => {
  for (const [size, live] of [
    [3 << 20, ['L3']],
    // Longer than the longest line, and than what is read in one piece.
    [160 << 20, ['L3']],
  ] as const) {
    rmSync(journal, { force: true });
    const fd = openSync(journal, 'w');
    writeSync(fd, lines.slice(0, 2).join(''), 0);
    writeSync(fd, lines.slice(2).join(''), size);
    closeSync(fd);
    const resumed = await run(project, ['--resume-from', source]);
    expect([resumed.code, agent.started(resumed.id)]).toEqual([0, live]);
    expect(resumed.stderr).toMatch(
      /has 1 unreadable line \(line 3: (wrong checksum|too long)\); 3 results can be reused/,
    );
  }
});

it('R3 a hundred thousand lines of a kind that nobody knows are counted in one line', async () => {
  plant(lines.join('') + journalLine({ v: 1, type: 'intent', n: 1 }).repeat(100_000));
  const resumed = await run(project, ['--resume-from', source]);
  expect([resumed.code, resumed.state.counts.reused, agent.started(resumed.id)]).toEqual([0, 4, []]);
  expect(resumed.stderr).toContain('has 100000 unreadable lines (line 5: unknown kind,');
  expect(resumed.stderr).toContain('and 99995 more); 4 results can be reused');
  expect(resumed.stderr.length).toBeLessThan(5_000);
  expect(linesOf(project, resumed.id)).toHaveLength(8);
});

it('B-014 R2 the run folder of another user: said with place, cause and remedy, and nothing runs', async (context) => {
  plant(lines.join(''));
  if (process.getuid?.() !== 0) return context.skip('only root can become another user');
  const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  needTool(context, nobody[0] as string, [...nobody.slice(1), process.execPath, '--version']);
  for (const folder of [project.root, project.dir]) chmodSync(folder, 0o755);
  const before = agent.started().length;
  chmodSync(project.runsDir, 0o700);
  for (const words of [
    ['run', '--resume-from', source],
    ['plan', '--resume-from', source],
    ['show', source],
  ]) {
    const { code, stderr } = await runWf(words, { project, under: nobody });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`Run ${source} cannot be looked for in ${project.runsDir}: EACCES`),
    ]);
    expect(stderr).toContain('→ Make the folder readable for this user');
  }
  chmodSync(project.runsDir, 0o755);
  for (const words of [
    ['run', '--resume-from', source],
    ['plan', '--resume-from', source],
  ]) {
    const { code, stderr } = await runWf(words, { project, under: nobody });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/WF_RUN_DAMAGED.*run\.json cannot be read \(EACCES/)]);
  }
  expect(agent.started()).toHaveLength(before);
});
