import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeOwner } from '../../src/runs/owner.js';
import { observeRuns } from '../../src/runs/observe-runs.js';
import { observeRun } from '../../src/runs/run-status.js';
import { newRunId } from '../../src/shared/ids.js';
import { emptyCounts } from '../../src/shared/outcome.js';
import {
  asOrdinaryUser,
  deadOwner,
  foreignOwner,
  plantRun,
  sampleRecord,
  sampleState,
  tempFolder,
} from './support/sample-records.js';

const progress = { counts: { ...emptyCounts(), calls: 5, ok: 2, executed: 2 }, phase: 'Review', journalBytes: 100 };

describe('status of a run, from its records', () => {
  it('O3 H6 B-031 is running while the owner is seen to live, else interrupted, never by the recorded word', () => {
    const runsFolder = tempFolder();
    const statusOf = (owner: ReturnType<typeof describeOwner> | null): string =>
      observeRun(plantRun(runsFolder, { record: sampleRecord({ owner, status: 'running' }) })).summary.status;
    expect(statusOf(describeOwner())).toBe('running');
    expect(statusOf(deadOwner())).toBe('interrupted');
    expect(statusOf({ ...describeOwner(), startTime: '1' })).toBe('interrupted');
    expect(statusOf(null)).toBe('interrupted');
    expect(statusOf(foreignOwner(30_000))).toBe('running');
    expect(statusOf(foreignOwner(61_000))).toBe('interrupted');
  });

  it.each(['completed', 'failed', 'cancelled', 'interrupted'] as const)('is that of state.json: %s', (status) => {
    const record = sampleRecord({ owner: describeOwner(), progress });
    const folder = plantRun(tempFolder(), { record, state: sampleState(record.runId, { status }) });
    expect(observeRun(folder).summary).toMatchObject({ status, counts: { calls: 3 }, usage: { outputTokens: 42 } });
  });

  it('is the end that run.json records when state.json is missing or damaged', () => {
    const record = sampleRecord({ status: 'failed', endedAt: '2026-01-02T04:00:00.000Z', progress });
    const runsFolder = tempFolder();
    expect(observeRun(plantRun(runsFolder, { record })).summary).toMatchObject({ status: 'failed', phase: 'Review' });
    const damaged = observeRun(plantRun(runsFolder, { record, state: '' })).summary;
    expect(damaged).toMatchObject({ status: 'failed', counts: { calls: 5 }, damaged: 'state.json is empty' });
  });

  it('H7 calls that were open when the owner was last seen have no result recorded once it is gone', () => {
    const countsOf = (owner: ReturnType<typeof describeOwner> | null) =>
      observeRun(plantRun(tempFolder(), { record: sampleRecord({ owner, status: 'running', progress }) })).summary
        .counts;
    expect(countsOf(describeOwner())).toEqual(progress.counts);
    expect(countsOf(deadOwner())).toEqual({ ...progress.counts, noResult: 3 });
  });

  it('B-050 shows who holds it and the last sign of life', () => {
    const owner = describeOwner();
    const { summary } = observeRun(plantRun(tempFolder(), { record: sampleRecord({ owner, progress }) }));
    expect(summary.owner).toEqual({ pid: process.pid, host: owner.host, heartbeat: owner.heartbeat });
    expect(summary).toMatchObject({ phase: 'Review', counts: { ok: 2 }, startedAt: '2026-01-02T03:04:05.000Z' });
  });
});

describe('observeRuns', () => {
  it('gives the promised shape, newest first, equal times by id', () => {
    const runsFolder = tempFolder();
    const at = (startedAt: string, id: string): string => {
      plantRun(runsFolder, { record: sampleRecord({ runId: id, startedAt }) });
      return id;
    };
    const ids = ['c', 'a', 'b'].map((letter) => `${letter}0000000-0000-4000-8000-000000000000`) as [
      string,
      string,
      string,
    ];
    at('2026-01-01T00:00:00.000Z', ids[0]);
    at('2026-01-03T00:00:00.000Z', ids[1]);
    at('2026-01-03T00:00:00.000Z', ids[2]);
    const runs = observeRuns({ runsFolders: [runsFolder] });
    expect(runs.map(({ runId }) => runId)).toEqual([ids[1], ids[2], ids[0]]);
    const promised = [
      ...['runId', 'workflow', 'status', 'startedAt', 'endedAt'],
      ...['resumedFrom', 'backend', 'counts', 'usage', 'folder', 'phase'],
    ];
    expect(Object.keys(runs[0] as object)).toEqual(expect.arrayContaining(promised));
    expect(runs[0]).not.toHaveProperty('damaged');
  });

  it('H3 R9 reads folders of several places and copies; a run in two places is told once', () => {
    const main = tempFolder();
    const linked = tempFolder();
    const both = newRunId();
    plantRun(main, { runId: both });
    plantRun(linked, { runId: both });
    plantRun(main);
    expect(observeRuns({ runsFolders: [linked, main] })).toHaveLength(2);
    expect(observeRuns({ runsFolders: [linked, main] }).find(({ runId }) => runId === both)?.folder).toBe(
      join(linked, both),
    );
    const copy = join(tempFolder(), 'copy');
    cpSync(main, copy, { recursive: true });
    expect(observeRuns({ runsFolders: [copy] })).toHaveLength(2);
    expect(observeRuns({ runsFolders: [join(copy, 'missing')] })).toEqual([]);
  });

  it('B-029 one bad folder takes no other with it, and is shown as damaged', () => {
    const runsFolder = tempFolder();
    const good = sampleRecord();
    plantRun(runsFolder, { record: good, state: sampleState(good.runId) });
    const bad: Record<string, RegExp> = {};
    const expectDamage = (folder: string, words: RegExp): void => {
      bad[folder] = words;
    };
    for (const [text, words] of [
      ['', /run\.json is empty/],
      ['{"version":1,', /run\.json is not JSON/],
      ['{"__proto__":{"status":"completed"},"version":1,"engine":"wf-engine"}', /run\.json does not fit/],
      ['[[[[', /run\.json is not JSON/],
    ] as const) {
      expectDamage(plantRun(runsFolder, { record: text }), words);
    }
    expectDamage(plantRun(runsFolder, { record: null }), /run\.json is missing/);
    const asFolder = plantRun(runsFolder, { record: null });
    mkdirSync(join(asFolder, 'run.json'));
    expectDamage(asFolder, /run\.json is not a file/);
    for (const text of ['', '{"ver', '{"version":1}']) {
      expectDamage(plantRun(runsFolder, { state: text }), /state\.json/);
    }
    const stateAsFolder = plantRun(runsFolder);
    mkdirSync(join(stateAsFolder, 'state.json'));
    expectDamage(stateAsFolder, /state\.json is not a file/);
    const runs = observeRuns({ runsFolders: [runsFolder] });
    expect(runs).toHaveLength(Object.keys(bad).length + 1);
    for (const run of runs) {
      const words = bad[run.folder];
      if (words === undefined) expect(run).toMatchObject({ status: 'completed' });
      else expect(run, run.folder).toMatchObject({ status: 'interrupted', damaged: expect.stringMatching(words) });
      expect(Number.isNaN(Date.parse(run.startedAt))).toBe(false);
    }
  });

  it('takes what it still can from a damaged run', () => {
    const record = sampleRecord({ workflow: 'audit', owner: describeOwner() });
    const folder = plantRun(tempFolder(), { record: JSON.stringify({ ...record, progress: 'lost' }) });
    expect(observeRun(folder).summary).toMatchObject({
      workflow: 'audit',
      backend: 'mock',
      status: 'running',
      damaged: expect.stringContaining('progress'),
    });
    const runId = newRunId();
    const other = plantRun(tempFolder(), { runId, record: '', state: sampleState(runId, { workflow: 'audit' }) });
    expect(observeRun(other).summary).toMatchObject({ workflow: 'audit', status: 'completed', counts: { ok: 3 } });
  });

  it('H12 H13 newer versions and other engines are named, not called damaged', () => {
    const runsFolder = tempFolder();
    const newer = plantRun(runsFolder, {
      record: JSON.stringify({ ...sampleRecord(), version: 2, workflow: 'later' }),
    });
    const foreign = plantRun(runsFolder, { record: null, state: '{"status":"completed","nodes":[]}' });
    const runs = observeRuns({ runsFolders: [runsFolder] });
    expect(runs.find(({ folder }) => folder === newer)).toMatchObject({
      workflow: 'later',
      unsupported: expect.stringContaining('version 2'),
    });
    expect(runs.find(({ folder }) => folder === foreign)).toMatchObject({
      workflow: 'unknown',
      unsupported: expect.stringContaining('another engine'),
    });
    for (const run of runs) expect(run).not.toHaveProperty('damaged');
  });

  it('leaves out what is not clearly a run', () => {
    const runsFolder = tempFolder();
    const run = plantRun(runsFolder);
    mkdirSync(join(runsFolder, newRunId()));
    for (const name of ['.new-x', '.trash-x', '.claims', 'notes'])
      cpSync(run, join(runsFolder, name), { recursive: true });
    writeFileSync(join(runsFolder, newRunId()), '');
    symlinkSync(run, join(runsFolder, newRunId()));
    expect(observeRuns({ runsFolders: [runsFolder] }).map(({ folder }) => folder)).toEqual([run]);
  });

  it('H1 R7 writes nothing: bytes and times stay', () => {
    const runsFolder = tempFolder();
    for (let i = 0; i < 5; i++) plantRun(runsFolder, { record: sampleRecord({ owner: deadOwner() }) });
    const look = (): unknown =>
      readdirSync(runsFolder, { recursive: true, encoding: 'utf8' }).map((name) => {
        const { mtimeMs, size, ctimeMs, mode } = statSync(join(runsFolder, name));
        return { name, mtimeMs, size, ctimeMs, mode };
      });
    const before = look();
    observeRuns({ runsFolders: [runsFolder] });
    expect(look()).toEqual(before);
  });

  it('says which folder could not be listed', () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    const warnings: string[] = [];
    expect(observeRuns({ runsFolders: [file], onWarning: (text) => warnings.push(text) })).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining(file)]);
  });

  it('B-014 shows a run folder that this user may not read, with the reason', async () => {
    const runsFolder = tempFolder();
    chmodSync(runsFolder, 0o755);
    const hidden = plantRun(runsFolder);
    chmodSync(hidden, 0o000);
    const runs = await asOrdinaryUser(() => observeRuns({ runsFolders: [runsFolder] }));
    chmodSync(hidden, 0o700);
    expect(runs).toMatchObject([{ folder: hidden, status: 'interrupted', damaged: expect.stringContaining('EACCES') }]);
  });
});

describe('importing the list', () => {
  it('pulls in no heavy module', () => {
    const src = resolve(import.meta.dirname, '../../src');
    const seen = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^;]*?from '([^']+)';/gms);
      for (const [text, from] of imports) {
        if (text.startsWith('import type')) continue;
        if (from?.startsWith('.')) visit(resolve(file, '..', from.replace(/\.js$/, '.ts')));
        else seen.add(from as string);
      }
    };
    visit(join(src, 'runs/observe-runs.ts'));
    const packages = [...seen].filter((name) => !name.startsWith('/') && !name.startsWith('node:'));
    expect(packages.sort()).toEqual(['uuid', 'zod']);
  });
});
