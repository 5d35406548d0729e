import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claimsFolder } from '../../src/runs/claim-files.js';
import { claimLineage } from '../../src/runs/claims.js';
import { describeOwner } from '../../src/runs/owner.js';
import { pruneRuns } from '../../src/runs/prune-runs.js';
import type { RunRecord } from '../../src/runs/records.js';
import { isRunId, newRunId } from '../../src/shared/ids.js';
import { shuffled, testSeed } from '../support/seeds.js';
import { bundleWorker } from './support/bundle-worker.js';
import {
  asOrdinaryUser,
  deadOwner,
  foreignOwner,
  plantRun,
  sampleRecord,
  sampleState,
  tempFolder,
} from './support/sample-records.js';
import { startWorkers } from './support/start-worker.js';

const HOUR = 3_600_000;
const now = Date.now();
const ago = (ms: number): Date => new Date(now - ms);
const idsIn = (runsFolder: string): string[] => readdirSync(runsFolder).filter(isRunId).sort();

/** Plants finished runs, each a minute older than the one before; returns their ids, newest first. */
function plantRuns(runsFolder: string, count: number): string[] {
  const order = shuffled(
    Array.from({ length: count }, (_, i) => i),
    testSeed(),
  );
  const ids: string[] = [];
  for (const i of order) {
    const record = sampleRecord({ status: 'completed' });
    ids[i] = record.runId;
    plantRun(runsFolder, { record, state: sampleState(record.runId), mtime: ago((i + 1) * 60_000) });
  }
  return ids;
}

const plantLive = (runsFolder: string, mtime: Date, change: Partial<RunRecord> = {}): string =>
  basename(plantRun(runsFolder, { record: sampleRecord({ owner: describeOwner(), ...change }), mtime }));

describe('pruneRuns', () => {
  it.each([49, 50, 51, 60])('P1 of %i runs keeps the newest 50 by folder mtime', async (count) => {
    const runsFolder = tempFolder();
    const ids = plantRuns(runsFolder, count);
    const report = await pruneRuns({ runsFolder });
    expect(idsIn(runsFolder)).toEqual(ids.slice(0, 50).sort());
    expect(report).toMatchObject({ kept: Math.min(count, 50), warnings: [] });
    expect(report.removed.map(({ runId }) => runId).sort()).toEqual(ids.slice(50).sort());
    expect(readdirSync(runsFolder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('keeps as many as told, none too', async () => {
    const runsFolder = tempFolder();
    const ids = plantRuns(runsFolder, 5);
    await pruneRuns({ runsFolder, keep: 3 });
    expect(idsIn(runsFolder)).toEqual(ids.slice(0, 3).sort());
    await pruneRuns({ runsFolder, keep: 0, spare: new Set([ids[1] as string]) });
    expect(idsIn(runsFolder)).toEqual([ids[1]]);
  });

  it('B-047 a future time counts as now; equal times go by startedAt, then by id', async () => {
    const runsFolder = tempFolder();
    const plant = (id: string, startedAt: string, mtime: Date): string => {
      const runId = `${id}0000000-0000-4000-8000-000000000000`;
      plantRun(runsFolder, { record: sampleRecord({ runId, startedAt, status: 'completed' }), mtime });
      return runId;
    };
    const future = plant('a', '2026-01-01T00:00:00Z', new Date(now + 24 * HOUR));
    const b = plant('b', '2026-01-02T00:00:00Z', new Date(now));
    const c = plant('c', '2026-01-02T00:00:00Z', new Date(now));
    const d = plant('d', '2026-01-03T00:00:00Z', ago(HOUR));
    const keeps = async (keep: number): Promise<string[]> => {
      const { removed } = await pruneRuns({ runsFolder, keep, now, dryRun: true });
      const gone = removed.map(({ runId }) => runId);
      return [future, b, c, d].filter((id) => !gone.includes(id));
    };
    expect(await keeps(1)).toEqual([b]);
    expect(await keeps(2)).toEqual([b, c]);
    expect(await keeps(3)).toEqual([future, b, c]);
  });

  it('P3 never removes a live run, nor the source of one, whatever their age', async () => {
    const runsFolder = tempFolder();
    const [source, ...others] = plantRuns(runsFolder, 60).reverse() as [string, ...string[]];
    const lineage = { resumedFrom: source, root: source, claim: 2 };
    const live = plantLive(runsFolder, ago(48 * HOUR), { lineage });
    const elsewhere = plantLive(runsFolder, ago(49 * HOUR), { owner: foreignOwner(5_000) });
    const gone = plantLive(runsFolder, ago(50 * HOUR), { owner: deadOwner() });
    await pruneRuns({ runsFolder });
    const left = idsIn(runsFolder);
    expect(left).toEqual(expect.arrayContaining([live, elsewhere, source]));
    expect(left).not.toContain(gone);
    expect(left).toHaveLength(53);
    expect(others).toHaveLength(59);
  });

  it('P3 spares what a live run reads through a source that was killed before it had copied its own', async () => {
    const runsFolder = tempFolder();
    const first = basename(
      plantRun(runsFolder, { record: sampleRecord({ status: 'completed' }), mtime: ago(9 * HOUR) }),
    );
    const lineage = (resumedFrom: string) => ({ resumedFrom, root: first, claim: 1 });
    const second = plantLive(runsFolder, ago(8 * HOUR), { lineage: lineage(first), owner: deadOwner(), copied: false });
    const third = plantLive(runsFolder, ago(7 * HOUR), { lineage: lineage(second) });
    await pruneRuns({ runsFolder, keep: 0 });
    expect(idsIn(runsFolder)).toEqual([first, second, third].sort());
  });

  it('P3 spares the run that somebody has claimed to go on from, before there is a run folder', async () => {
    const runsFolder = tempFolder();
    const [source] = plantRuns(runsFolder, 1) as [string];
    const request = { runsFolder, root: source, runId: newRunId(), source, owner: describeOwner() };
    const claim = await claimLineage(request);
    await pruneRuns({ runsFolder, keep: 0 });
    expect(idsIn(runsFolder)).toEqual([source]);
    claim.release();
    await pruneRuns({ runsFolder, keep: 0 });
    expect(idsIn(runsFolder)).toEqual([]);
  });

  it('P3 spares it also when the claim is on a lineage of its own', async () => {
    const runsFolder = tempFolder();
    const [source] = plantRuns(runsFolder, 1) as [string];
    const root = newRunId();
    await claimLineage({ runsFolder, root, runId: root, source, owner: describeOwner() });
    await pruneRuns({ runsFolder, keep: 0 });
    expect(idsIn(runsFolder)).toEqual([source]);
  });

  it('spares a live run of a newer version', async () => {
    const runsFolder = tempFolder();
    const record = JSON.stringify({ ...sampleRecord({ owner: describeOwner() }), version: 2 });
    const folder = plantRun(runsFolder, { record, mtime: ago(9 * HOUR) });
    await pruneRuns({ runsFolder, keep: 0 });
    expect(existsSync(folder)).toBe(true);
  });

  it('P4 touches only real folders that are named by a UUID and hold a run', async () => {
    const runsFolder = tempFolder();
    const outside = plantRun(tempFolder());
    const names = {
      file: newRunId(),
      link: newRunId(),
      empty: newRunId(),
      other: newRunId(),
      capitals: newRunId().toUpperCase(),
    };
    writeFileSync(join(runsFolder, names.file), '');
    symlinkSync(outside, join(runsFolder, names.link));
    mkdirSync(join(runsFolder, names.empty));
    mkdirSync(join(runsFolder, names.other));
    writeFileSync(join(runsFolder, names.other, 'notes.txt'), '');
    for (const name of [names.capitals, 'no-uuid', '.hidden', '.trash', 'new-x']) {
      mkdirSync(join(runsFolder, name));
      writeFileSync(join(runsFolder, name, 'run.json'), '{}');
      utimesSync(join(runsFolder, name), 1, 1);
    }
    symlinkSync(outside, join(runsFolder, '.trash-link'));
    writeFileSync(join(runsFolder, '.new-file'), '');
    utimesSync(join(runsFolder, '.new-file'), 1, 1);
    plantRun(runsFolder);
    const before = readdirSync(runsFolder).length;
    const { removed, warnings } = await pruneRuns({ runsFolder, keep: 0, now: now + 9 * HOUR });
    expect(removed).toHaveLength(1);
    expect(warnings).toEqual([]);
    expect(readdirSync(runsFolder)).toHaveLength(before - 1);
    expect(readdirSync(outside)).toHaveLength(3);
  });

  it('B-047 takes a run that lacks state.json, or all but one file', async () => {
    const runsFolder = tempFolder();
    for (const kept of ['script.js', 'run.json', 'journal.jsonl']) {
      const folder = plantRun(runsFolder);
      for (const name of readdirSync(folder)) if (name !== kept) rmSync(join(folder, name));
    }
    expect((await pruneRuns({ runsFolder, keep: 0 })).removed).toHaveLength(3);
  });

  it('names what could have been resumed', async () => {
    const runsFolder = tempFolder();
    const done = sampleRecord({ status: 'completed' });
    plantRun(runsFolder, { record: done, state: sampleState(done.runId) });
    const failed = sampleRecord({ workflow: 'audit' });
    plantRun(runsFolder, { record: failed, state: sampleState(failed.runId, { status: 'failed', workflow: 'audit' }) });
    const killed = sampleRecord({ owner: deadOwner() });
    plantRun(runsFolder, { record: killed });
    const { removed } = await pruneRuns({ runsFolder, keep: 0 });
    expect(removed).toHaveLength(3);
    expect(removed).toEqual(
      expect.arrayContaining([
        { runId: done.runId, workflow: 'review', resumable: false },
        { runId: failed.runId, workflow: 'audit', resumable: true },
        { runId: killed.runId, workflow: 'review', resumable: true },
      ]),
    );
  });

  it('a dry run says the same and touches nothing', async () => {
    const runsFolder = tempFolder();
    plantRuns(runsFolder, 8);
    mkdirSync(join(runsFolder, '.trash-x'));
    utimesSync(join(runsFolder, '.trash-x'), 1, 1);
    const before = readdirSync(runsFolder).map((name) => [name, statSync(join(runsFolder, name)).mtimeMs]);
    const told = await pruneRuns({ runsFolder, keep: 5, dryRun: true });
    expect(readdirSync(runsFolder).map((name) => [name, statSync(join(runsFolder, name)).mtimeMs])).toEqual(before);
    expect(await pruneRuns({ runsFolder, keep: 5 })).toEqual(told);
  });

  it('removes leftovers of builds and removals once they are an hour old', async () => {
    const runsFolder = tempFolder();
    const plant = (name: string, age: number): void => {
      mkdirSync(join(runsFolder, name));
      writeFileSync(join(runsFolder, name, 'run.json'), '{}');
      utimesSync(join(runsFolder, name), ago(age), ago(age));
    };
    plant(`.new-${newRunId()}-AbCdEf`, HOUR + 1);
    plant('.trash-old', HOUR + 1);
    plant('.new-young', HOUR - 1000);
    plant('.trash-young', HOUR - 1000);
    expect(await pruneRuns({ runsFolder, now })).toEqual({ removed: [], kept: 0, warnings: [] });
    expect(readdirSync(runsFolder).sort()).toEqual(['.new-young', '.trash-young']);
  });

  it('P5 what cannot be removed is a warning, and the others go', async () => {
    const runsFolder = tempFolder();
    plantRuns(runsFolder, 3);
    chmodSync(runsFolder, 0o555);
    const report = await asOrdinaryUser(() => pruneRuns({ runsFolder, keep: 1 }));
    chmodSync(runsFolder, 0o700);
    expect(report.removed).toEqual([]);
    expect(report.kept).toBe(3);
    expect(report.warnings).toHaveLength(2);
    for (const warning of report.warnings) expect(warning).toMatch(/could not be removed.*(EACCES|EPERM)/);
    expect(await pruneRuns({ runsFolder: join(runsFolder, 'missing') })).toEqual({
      removed: [],
      kept: 0,
      warnings: [],
    });
    writeFileSync(join(runsFolder, 'file'), '');
    expect((await pruneRuns({ runsFolder: join(runsFolder, 'file') })).warnings).toHaveLength(1);
  });
});

describe('claims of pruned lineages', () => {
  async function plantLineage(
    change: { owner?: ReturnType<typeof describeOwner>; release?: boolean; age?: number } = {},
  ) {
    const runsFolder = tempFolder();
    const root = newRunId();
    const claim = await claimLineage({ runsFolder, root, runId: root, owner: change.owner ?? deadOwner() });
    if (change.release) claim.release();
    const folder = claimsFolder(runsFolder, root);
    utimesSync(folder, ago(change.age ?? 2 * HOUR), ago(change.age ?? 2 * HOUR));
    const isLeft = async (): Promise<boolean> => {
      expect((await pruneRuns({ runsFolder, now })).warnings).toEqual([]);
      expect(readdirSync(join(runsFolder, '.claims')).filter((name) => name.startsWith('.'))).toEqual([]);
      return existsSync(folder);
    };
    return { runsFolder, root, isLeft };
  }

  it('go when they are released or dead for certain', async () => {
    expect(await (await plantLineage()).isLeft()).toBe(false);
    expect(await (await plantLineage({ owner: describeOwner(), release: true })).isLeft()).toBe(false);
  });

  it('stay while they are young, held, or not to be judged from here', async () => {
    expect(await (await plantLineage({ age: HOUR - 1000 })).isLeft()).toBe(true);
    expect(await (await plantLineage({ owner: describeOwner() })).isLeft()).toBe(true);
    expect(await (await plantLineage({ owner: foreignOwner(2 * HOUR) })).isLeft()).toBe(true);
    expect(await (await plantLineage({ owner: foreignOwner(9 * HOUR), age: 8 * 24 * HOUR })).isLeft()).toBe(false);
  });

  it('stay while a run of the lineage is left', async () => {
    const { runsFolder, root, isLeft } = await plantLineage();
    const lineage = { resumedFrom: root, root, claim: 2 };
    const folder = plantRun(runsFolder, { record: sampleRecord({ lineage }) });
    expect(await isLeft()).toBe(true);
    rmSync(folder, { recursive: true });
    expect(await isLeft()).toBe(false);
  });
});

describe('P5 several processes', () => {
  const worker = bundleWorker('worker');

  it('ten that prune 60 folders at once leave the right 50, and none complains', { timeout: 180_000 }, async () => {
    const workers = await startWorkers(worker.path, 10);
    for (let round = 0; round < 5; round++) {
      const runsFolder = tempFolder();
      const ids = plantRuns(runsFolder, 60);
      const startAt = Date.now() + 20;
      const answers = await Promise.all(
        workers.map((process) => process.ask({ kind: 'prune', runsFolder, keep: 50, startAt })),
      );
      const reports = answers.map(({ report }) => report as Awaited<ReturnType<typeof pruneRuns>>);
      expect(reports.flatMap(({ warnings }) => warnings)).toEqual([]);
      expect(idsIn(runsFolder)).toEqual(ids.slice(0, 50).sort());
      const removed = reports.flatMap((report) => report.removed.map(({ runId }) => runId));
      expect(removed.sort(), 'each named by one').toEqual(ids.slice(50).sort());
      expect(readdirSync(runsFolder)).toHaveLength(50);
      expect(readFileSync(join(runsFolder, ids[0] as string, 'script.js'), 'utf8')).toBe('return 1\n');
    }
  });
});
