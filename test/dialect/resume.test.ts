/** Going on from an earlier run, as the probes of the original ask for it; where ours differs, it reuses more. */
import { appendFileSync, existsSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { journalFile, waitForJournalLines } from '../support/journal.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { dispatched, META, runFile, runScript, type ScriptRun } from './support/run-script.js';

const FOUR = `${META}const seen = []
for (const word of ['a', 'b', 'c', 'd']) seen.push(await agent('ask ' + word + (seen.at(-1) ?? '')))
return seen
`;

/** Runs on `mock`; an answer depends on the call alone. */
const first = (project: TestProject, source: string): Promise<ScriptRun> => runScript(project, source);
const again = (project: TestProject, from: ScriptRun, flags: string[] = [], file?: string): Promise<ScriptRun> =>
  runFile(project, file, ['--resume-from', from.runId, '--backend', 'mock', ...flags]);

describe('an unchanged script', () => {
  it('C170 probe 56 in sequence: no call runs, the same result', async () => {
    const project = makeProject();
    const one = await first(project, FOUR);
    const two = await again(project, one);
    expect(dispatched(one)).toHaveLength(4);
    expect(dispatched(two)).toEqual([]);
    expect(two).toMatchObject({ code: 0, result: one.result });
    expect(two.state.counts).toMatchObject({ calls: 4, reused: 4, executed: 0 });
  });

  it('C170 B-110 the same script with CRLF line ends: no call runs', async () => {
    const project = makeProject();
    const source = `${META}return await agent(\`one\ntwo\`)\n`;
    const one = await first(project, source);
    project.write('crlf.js', source.replaceAll('\n', '\r\n'));
    const two = await again(project, one, [], 'crlf.js');
    expect(dispatched(two)).toEqual([]);
    expect(two.result).toBe(one.result);
  });

  it('C174 probe 60 a concurrent pipeline whose items ended in another order than they began: no call runs', async () => {
    const project = makeProject();
    const source = `${META}const order = []
const results = await pipeline(['x', 'y', 'z'], (item) => agent('first ' + item), async (prev, item) => { order.push(item); return await agent('second ' + item + order.length) })
return { results, order }
`;
    const rules = [
      { when: { prompt: 'first x' }, reply: 'X', delayMs: 300 },
      { when: { prompt: 'first y' }, reply: 'Y', delayMs: 150 },
      { reply: 'other' },
    ];
    const one = await runScript(project, source, { rules });
    expect((one.result as { order: string[] }).order).toEqual(['z', 'y', 'x']);
    const two = await again(project, one);
    expect(dispatched(two)).toEqual([]);
    expect(two.result).toEqual(one.result);
  });

  it('C175 probe 61 a call that failed runs again, alone', async () => {
    const project = makeProject();
    const source = `${META}return await parallel(['a', 'b', 'c'].map((word) => () => agent(word)))`;
    const one = await runScript(project, source, {
      rules: [{ when: { prompt: 'b' }, error: 'failed' }, { reply: 'fine' }],
      flags: ['--retries', '0'],
    });
    expect(one).toMatchObject({ code: 3, result: ['fine', null, 'fine'] });
    const better = project.write('better.json', JSON.stringify([{ reply: 'now' }]));
    const two = await again(project, one, ['--mock', better]);
    expect(dispatched(two)).toEqual(['b']);
    expect(two).toMatchObject({ code: 0, result: ['fine', 'now', 'fine'] });
  });

  it('C180 probe 66 args are those of the first run unless they are given again', async () => {
    const project = makeProject();
    const one = await runScript(project, `${META}return await agent('about ' + JSON.stringify(args))`, {
      flags: ['--args', '{"a":[1]}'],
    });
    const same = await again(project, one);
    expect(dispatched(same)).toEqual([]);
    expect(same.result).toBe(one.result);
    const other = await again(project, one, ['--args', '{"a":2}']);
    expect(dispatched(other)).toEqual(['about {"a":2}']);
  });
});

describe('an edited script', () => {
  it('C171 probe 57 call 2 of 4 edited: it runs, and what hangs on it; with --match prefix everything after it', async () => {
    const project = makeProject();
    const source = `${META}const seen = []
for (const word of ['a', 'b', 'c', 'd']) seen.push(await agent('ask ' + word))
return seen
`;
    const one = await first(project, source);
    project.write('edited.js', source.replace("'b'", "'B'"));
    expect(dispatched(await again(project, one, [], 'edited.js'))).toEqual(['ask B']);
    expect(dispatched(await again(project, one, ['--match', 'prefix'], 'edited.js'))).toEqual([
      'ask B',
      'ask c',
      'ask d',
    ]);
  });

  it('C172 probe 58 C094 labels, phases, logs, meta and what is done with answers may change: no call runs', async () => {
    const project = makeProject();
    const one = await first(project, FOUR);
    project.write(
      'edited.js',
      `export const meta = { name: 'renamed', description: 'Another text.', phases: [{ title: 'P' }] }
log('new'); phase('P'); const seen = []
for (const word of ['a', 'b', 'c', 'd']) seen.push(await agent('ask ' + word + (seen.at(-1) ?? ''), { label: 'l' + word, phase: 'Q' }))
return seen.map((text) => text.length)
`,
    );
    const two = await again(project, one, [], 'edited.js');
    expect(dispatched(two)).toEqual([]);
    expect(two.result).toEqual((one.result as string[]).map((text) => text.length));
  });
});

describe('a run that did not come to its end', () => {
  const FAN = `${META}return await parallel(['A', 'B', 'C', 'D'].map((word) => () => agent('ask ' + word, { label: word })))`;

  it('C173 probe 59 C179 probe 65 killed while B runs: it is interrupted, and only B runs again', async () => {
    const project = makeProject({ files: { 'fan.js': FAN }, leavesProcesses: true });
    const backend = makeFakeBackend(project, { gated: ['B'] });
    const run = startWf(['run', 'fan.js', '--concurrency', '4', ...backend.flags], { project });
    await backend.waitForStart('B');
    await waitForJournalLines(project, 3, { type: 'result' });
    run.killTree();
    await run.done;
    const [runId = ''] = project.runIds();
    const listed = await runWf(['ls', '--json'], { project });
    expect(JSON.parse(listed.stdout)).toEqual([expect.objectContaining({ runId, status: 'interrupted' })]);
    backend.openAllGates();
    const two = await runFile(project, undefined, ['--resume-from', runId]);
    expect(two.code).toBe(0);
    expect(['A', 'B', 'C', 'D'].map((label) => backend.ledger.starts(label).length)).toEqual([1, 2, 1, 1]);
  });

  it('C178 probe 64 while its owner lives it is refused with exit 5, and the owner is named', async () => {
    const project = makeProject({ files: { 'fan.js': FAN } });
    const backend = makeFakeBackend(project, { gated: ['B'] });
    const run = startWf(['run', 'fan.js', '--concurrency', '4', ...backend.flags], { project });
    await backend.waitForStart('B');
    const [runId = ''] = project.runIds();
    const refused = await runWf(['run', '--resume-from', runId], { project });
    expect(refused).toMatchObject({ code: 5, stdout: '' });
    expect(refused.stderr).toMatch(new RegExp(`WF_RUN_BUSY.*${run.pid}`, 's'));
    backend.openAllGates();
    expect((await run.done).code).toBe(0);
    expect(backend.ledger.starts('B')).toHaveLength(1);
  });

  it('C176 probe 62 a torn last line is one call that runs again', async () => {
    const project = makeProject();
    const one = await first(project, FOUR);
    const file = journalFile(project, one.runId) ?? '';
    truncateSync(file, readFileSync(file).length - 20);
    appendFileSync(file, '');
    const two = await again(project, one);
    expect(two.code).toBe(0);
    expect(dispatched(two)).toHaveLength(1);
    expect(two.told.join()).toContain('WF_JOURNAL_DAMAGED');
  });

  it('C177 probe 63 without its journal everything runs, after a warning', async () => {
    const project = makeProject();
    const one = await first(project, FOUR);
    rmSync(join(one.folder, 'journal.jsonl'));
    const two = await again(project, one);
    expect(two.code).toBe(0);
    expect(dispatched(two)).toHaveLength(4);
    expect(two.told.join()).toMatch(/journal/i);
    expect(existsSync(join(one.folder, 'journal.jsonl'))).toBe(false);
  });
});
