/** Run folders whose files contradict one another, were changed, or lie where they were not made. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { journalLine } from '../support/journal.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';
import { linesOf, run, snapshot } from './support/runs.js';
import { makeShellAgent, type ShellAgent } from './support/shell-agent.js';

const BODY = `const a = await agent('do A', { label: 'A' })
const child = await workflow('child')
return [a, child, await agent('do B', { label: 'B' })]`;
const FILES = {
  'flow.js': workflow(BODY),
  '.claude/workflows/child.js': workflow("return await agent('do C', { label: 'C' })", 'child'),
};

interface Made {
  project: TestProject;
  agent: ShellAgent;
  id: string;
  result: unknown;
  /** A file of the run folder. */
  file(name: string): string;
}

async function makeRun(): Promise<Made> {
  const project = makeProject({ files: FILES });
  const agent = makeShellAgent(project);
  const { code, id, result } = await run(project, ['flow.js', ...agent.flags]);
  expect(code).toBe(0);
  return { project, agent, id, result, file: (name) => join(project.runDir(id), name) };
}

it.each<[string, (file: string) => void, RegExp]>([
  ['is missing', () => {}, /cannot be read .*ENOENT/],
  ['is a folder', (file) => mkdirSync(file), /cannot be read .*it is a folder/],
  ['is a pipe', (file) => spawnSync('mkfifo', [file]), /cannot be read .*it is a pipe or a device, and no file/],
  [
    'was changed',
    (file) => writeFileSync(file, FILES['flow.js'].replace('do B', 'do something else')),
    /is not the one that ran .*: its SHA-256 is not the recorded one/,
  ],
])(
  'R13 where the stored script %s, a resume by the id alone is refused with place, cause and remedy; by the script it goes on',
  async (_, damage, why) => {
    const { project, agent, id, result, file } = await makeRun();
    rmSync(file('script.js'));
    damage(file('script.js'));
    for (const words of [
      ['run', '--resume-from', id],
      ['plan', '--resume-from', id],
    ]) {
      const { code, stderr } = await runWf(words, { project });
      expect([code, stderr]).toEqual([2, expect.stringMatching(why)]);
      expect(stderr).toContain(`WF_RUN_DAMAGED: The stored script of run ${id}`);
      expect(stderr).toContain(file('script.js'));
      expect(stderr).toMatch(/→ Name the script.*: wf run <script> --resume-from <uuid>/);
    }
    expect((await runWf(['show', id], { project })).code).toBe(0);
    expect((await runWf(['doctor'], { project })).stdout).toMatch(why);
    expect([project.runIds(), agent.started()]).toEqual([[id], ['A', 'C', 'B']]);
    const named = await run(project, ['flow.js', '--resume-from', id]);
    expect([named.result, agent.started(named.id)]).toEqual([result, []]);
  },
);

it('R3 R13 a recorded child whose text was changed behind a right checksum is not run: the child is read from the disk', async () => {
  const { project, agent, id, result, file } = await makeRun();
  const lines = linesOf(project, id);
  const at = lines.findIndex(({ type }) => type === 'script');
  const source = String(lines[at]?.source).replace('do C', 'do something else');
  writeFileSync(
    file('journal.jsonl'),
    lines.map((line, i) => journalLine(i === at ? { ...line, source } : line)).join(''),
  );
  const resumed = await run(project, ['--resume-from', id]);
  expect([resumed.result, agent.started(resumed.id)]).toEqual([result, []]);
  expect(resumed.stderr).toContain(`1 unreadable line (line ${at + 1}: source does not fit its sha256)`);
});

it('a pipe or a folder in the place of the account of events keeps no verb waiting, and costs no answer', async () => {
  const { project, agent, id, result, file } = await makeRun();
  for (const [make, why] of [
    [(path: string) => void spawnSync('mkfifo', [path]), 'it is a pipe or a device, and no file'],
    [(path: string) => mkdirSync(path), 'it is a folder'],
  ] as const) {
    rmSync(file('events.jsonl'), { recursive: true });
    make(file('events.jsonl'));
    const resumed = await run(project, ['--resume-from', id]);
    expect([resumed.result, agent.started(resumed.id)]).toEqual([result, []]);
    for (const words of [['show', id], ['explain', id], ['plan', '--resume-from', id], ['ls']]) {
      expect([words, (await runWf(words, { project })).code]).toEqual([words, 0]);
    }
    expect((await runWf(['doctor'], { project })).stderr).not.toContain('unexpected');
    for (const verb of ['watch', 'logs']) {
      const { code, stderr } = await runWf([verb, id], { project });
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(
          `WF_RUN_DAMAGED: The events of this run cannot be read (${file('events.jsonl')}): ${why}`,
        ),
      ]);
    }
  }
});

it('a pipe or a folder in the place of a claim keeps no resume waiting: it is refused with the place, and nothing runs', async () => {
  const { project, agent, id } = await makeRun();
  // The claim that counts: the one with the highest number.
  const claim = join(project.runsDir, '.claims', id, '99.json');
  for (const make of [() => void spawnSync('mkfifo', [claim]), () => mkdirSync(claim)]) {
    make();
    const { code, stderr } = await runWf(['run', '--resume-from', id], { project });
    expect([code, stderr]).toEqual([2, expect.stringContaining(`the claim ${claim} cannot be read: it is a `)]);
    for (const words of [['ls'], ['show', id], ['doctor']]) {
      expect((await runWf(words, { project })).stderr).not.toContain('unexpected');
    }
    rmSync(claim, { recursive: true });
  }
  expect([project.runIds(), agent.started()]).toEqual([[id], ['A', 'C', 'B']]);
});

it('B-036 a state.json that contradicts the journal: what is reused goes by the journal, and wf show says what differs', async () => {
  const { project, agent, id, result, file } = await makeRun();
  const state = JSON.parse(readFileSync(file('state.json'), 'utf8'));
  const counts = { ...state.counts, calls: 9, ok: 7, failed: 2 };
  for (const change of [
    { status: 'failed', exitCode: 1, counts },
    { status: 'running' },
    { result: 'another', counts },
  ]) {
    writeFileSync(file('state.json'), JSON.stringify({ ...state, ...change }));
    const before = snapshot(project.runDir(id));
    const resumed = await run(project, ['--resume-from', id]);
    expect([resumed.code, resumed.result, agent.started(resumed.id)]).toEqual([0, result, []]);
    const shown = JSON.parse((await runWf(['show', id, '--json'], { project })).stdout);
    expect(shown.calls.map(({ status }: { status: string }) => status)).toEqual(['ok', 'ok', 'ok']);
    const told = 'state.json counts 7 answers, the journal holds 3: a resume goes by the journal.';
    expect(shown.notices.filter((notice: string) => notice.includes('state.json'))).toEqual(
      'counts' in change ? [told] : [],
    );
    expect(snapshot(project.runDir(id))).toEqual(before);
  }
});

it('B-154 a run folder alone, copied to a project that has none of its scripts, is replayed there; under another id it is refused', async () => {
  const { id, result, project } = await makeRun();
  const other = makeProject({ files: { '.claude/keep': '' } });
  const agent = makeShellAgent(other);
  mkdirSync(other.runsDir, { recursive: true });
  cpSync(project.runDir(id), other.runDir(id), { recursive: true, preserveTimestamps: true });
  const before = snapshot(other.runDir(id));
  const resumed = await run(other, ['--resume-from', id]);
  expect([resumed.code, resumed.result]).toEqual([0, result]);
  expect([resumed.state.counts, agent.started()]).toEqual([expect.objectContaining({ reused: 3, executed: 0 }), []]);
  expect(snapshot(other.runDir(id))).toEqual(before);
  const alias = '0b5ad1c3-6a0e-4c8e-9d53-0f3b8f4b2c11';
  cpSync(project.runDir(id), other.runDir(alias), { recursive: true });
  const refused = await runWf(['run', '--resume-from', alias], { project: other });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`run.json is that of run ${id}`)]);
});

it('B-050 B-154 the folder of a live run, copied to another place, is not gone on from there but by --fork', async () => {
  const project = makeProject({ files: FILES });
  const agent = makeShellAgent(project, { A: { gate: 'a' } });
  const wf = startWf(['run', 'flow.js', ...agent.flags], { project });
  await agent.waitFor('start', 'A');
  const id = project.runIds()[0] as string;
  // Its claim stays behind.
  const other = makeProject({ files: FILES });
  mkdirSync(other.runsDir, { recursive: true });
  cpSync(project.runDir(id), other.runDir(id), { recursive: true, preserveTimestamps: true });
  const { code, stderr } = await runWf(['run', '--resume-from', id], { project: other });
  expect([code, stderr]).toEqual([
    5,
    expect.stringMatching(new RegExp(`WF_RUN_BUSY: Run ${id} .*process ${wf.pid} on `)),
  ]);
  expect(stderr).toMatch(/→ .*--fork/);
  expect([other.runIds(), agent.started()]).toEqual([[id], ['A']]);
  const forked = startWf(['run', '--resume-from', id, '--fork'], { project: other });
  await agent.waitFor('start', 'A', 2);
  agent.openAllGates();
  expect([(await forked.done).code, (await wf.done).code]).toEqual([0, 0]);
  // Once its process is gone, the copy is a run like any other that was cut off.
  const after = await run(other, ['--resume-from', id]);
  expect([after.code, agent.started(after.id)]).toEqual([0, ['A', 'C', 'B']]);
});

it('B-150 a clock that is set back or ahead between runs changes no answer, no order and no owner', async () => {
  const { project, agent, result, ...first } = await makeRun();
  const clock = project.write(
    'clock.mjs',
    `const Real = Date
const by = Number(process.env.SHIFT_MS)
globalThis.Date = class extends Real {
  constructor(...given) { given.length === 0 ? super(Real.now() + by) : super(...given) }
  static now() { return Real.now() + by }
}
`,
  );
  const YEAR = 365 * 86_400_000;
  let { id } = first;
  for (const by of [-YEAR, YEAR, 0, -YEAR]) {
    const next = await run(project, ['--resume-from', id], {
      nodeArgs: ['--import', clock],
      env: { SHIFT_MS: String(by) },
    });
    expect([next.code, next.result, agent.started(next.id)]).toEqual([0, result, []]);
    expect(Math.abs(Date.parse(String(next.state.startedAt)) - Date.now() - by)).toBeLessThan(3_600_000);
    const hits = linesOf(project, next.id).filter(({ type }) => type === 'hit');
    expect(hits.map(({ label, seq }) => [label, seq])).toEqual([
      ['A', 1],
      ['C', 2],
      ['B', 3],
    ]);
    id = next.id;
  }
});
