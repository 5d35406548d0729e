import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { observeRuns } from '../../src/runs/observe-runs.js';
import { inspectRunRecord, inspectState } from '../../src/runs/run-records.js';
import { observeRun } from '../../src/runs/run-status.js';
import { listRunFolders } from '../../src/runs/runs-folder.js';
import { seededRandom, testSeed } from '../support/seeds.js';
import { waitFor } from '../support/wait.js';
import { bundleWorker } from './support/bundle-worker.js';
import { plantRun, sampleRecord, sampleState, tempFolder } from './support/sample-records.js';
import { startWorker, startWorkers } from './support/start-worker.js';

const worker = bundleWorker('worker');
const KILLS = 30;

describe('J7 state.json', () => {
  it('is whole or absent for a reader in a tight loop while it is written 2,000 times', {
    timeout: 180_000,
  }, async () => {
    const record = sampleRecord();
    const folder = plantRun(tempFolder(), { record });
    const done = join(folder, '..', 'done');
    const writer = await startWorker(worker.path);
    writer.tell({ kind: 'write-states', folder, state: sampleState(record.runId), times: 2_000, done });
    const seen = { absent: 0, ok: 0, results: new Set<number>() };
    while (!existsSync(done)) {
      const reading = inspectState(folder);
      expect(reading.kind).not.toBe('bad');
      if (reading.kind === 'ok') seen.results.add((reading.record.result as string).length);
      if (reading.kind !== 'bad') seen[reading.kind]++;
      expect(observeRun(folder).summary).not.toHaveProperty('damaged');
      if ((seen.ok + seen.absent) % 64 === 0) await delay(0);
      expect(writer.process.exitCode).toBeNull();
    }
    expect(seen.ok).toBeGreaterThan(100);
    expect(seen.results.size).toBeGreaterThan(2);
    expect(inspectState(folder)).toMatchObject({ kind: 'ok', record: { result: '1999 '.repeat(15_000) } });
  });

  it('is never a part after SIGKILL at random moments, and what is left over disturbs nobody', {
    timeout: 180_000,
  }, async () => {
    const random = seededRandom(testSeed());
    const record = sampleRecord();
    const folder = plantRun(tempFolder(), { record });
    for (let kill = 0; kill < KILLS; kill++) {
      const writer = await startWorker(worker.path);
      writer.tell({ kind: 'write-states', folder, state: sampleState(record.runId) });
      if (kill === 0) await waitFor('a first state', () => inspectState(folder).kind === 'ok');
      await delay(random() * 40);
      await writer.kill();
      expect(inspectState(folder).kind, `kill ${kill}, seed ${testSeed()}`).not.toBe('bad');
    }
    expect(inspectState(folder).kind).toBe('ok');
    expect(observeRun(folder).summary).not.toHaveProperty('damaged');
    const names = readdirSync(folder).filter((name) => !/^\.state\.json\.\d+\.\d+\.tmp$/.test(name));
    expect(names.sort()).toEqual(['journal.jsonl', 'run.json', 'script.js', 'state.json']);
  });
});

describe('O1 O2 H6 a run folder', () => {
  it('is whole or not there, and each id that was told is listed as interrupted, after SIGKILL at random moments', {
    timeout: 180_000,
  }, async () => {
    const random = seededRandom(testSeed() + 1);
    const runsFolder = join(tempFolder(), 'workflow-runs');
    const told: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const writer = await startWorker(worker.path);
      writer.tell({ kind: 'create-runs', runsFolder, record: sampleRecord() });
      const ids = (): string[] => writer.output().match(/^\S{36}$/gm) ?? [];
      const enough = kill % 3;
      await waitFor(`${enough} runs`, () => ids().length >= enough);
      await delay(random() * 20);
      await writer.kill();
      told.push(...ids());
      for (const { folder } of listRunFolders(runsFolder)) {
        expect(inspectRunRecord(folder).kind, `${folder}, seed ${testSeed()}`).toBe('ok');
        expect(readFileSync(join(folder, 'script.js'))).toHaveLength(20_010);
        expect(existsSync(join(folder, 'journal.jsonl'))).toBe(true);
      }
    }
    const runs = observeRuns({ runsFolders: [runsFolder] });
    expect(told.length).toBeGreaterThanOrEqual(KILLS);
    expect(runs.map(({ runId }) => runId)).toEqual(expect.arrayContaining(told));
    expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['interrupted']));
    expect(readFileSync(join(runsFolder, '.gitignore'), 'utf8')).toBe('*\n');
  });

  it('B-057 ten processes start runs in one new project at once: all are intact', { timeout: 180_000 }, async () => {
    const workers = await startWorkers(worker.path, 10);
    for (let round = 0; round < 5; round++) {
      const project = tempFolder();
      const runsFolder = join(project, '.claude', 'workflow-runs');
      const answers = await Promise.all(
        workers.map((process) => process.ask({ kind: 'create-runs', runsFolder, record: sampleRecord(), count: 2 })),
      );
      expect(answers.map(({ code }) => code)).toEqual(workers.map(() => undefined));
      const runs = observeRuns({ runsFolders: [runsFolder] });
      expect(runs).toHaveLength(20);
      for (const run of runs) expect(run).not.toHaveProperty('damaged');
      expect(readdirSync(join(project, '.claude'))).toEqual(['workflow-runs']);
      expect(readdirSync(runsFolder).filter((name) => name.startsWith('.'))).toEqual(['.gitignore']);
    }
  });
});

describe('B-031 B-050 a run of another process', () => {
  it('is running while that lives, and interrupted the moment it is killed', { timeout: 180_000 }, async () => {
    const runsFolder = join(tempFolder(), 'workflow-runs');
    const writer = await startWorker(worker.path);
    const answered = once(writer.process, 'message');
    writer.tell({ kind: 'create-runs', runsFolder, record: sampleRecord(), count: 1 });
    await answered;
    const [runId] = await waitFor('the id', () => /^\S{36}/.exec(writer.output()) ?? undefined);
    const status = (): unknown => observeRuns({ runsFolders: [runsFolder] }).find((run) => run.runId === runId);
    expect(status()).toMatchObject({ status: 'running', owner: { pid: writer.process.pid } });
    await writer.kill();
    expect(status()).toMatchObject({ status: 'interrupted', owner: { pid: writer.process.pid } });
  });
});
