import { mkdirSync, readdirSync, rmdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claimsFolder } from '../../src/runs/claim-files.js';
import { newRunId } from '../../src/shared/ids.js';
import { seededRandom, testSeed } from '../support/seeds.js';
import { bundleWorker } from './support/bundle-worker.js';
import { deadOwner, tempFolder } from './support/sample-records.js';
import { startWorkers } from './support/start-worker.js';

const worker = bundleWorker('worker');
const PROCESSES = 20;

const OLD = new Date(Date.now() - 3_600_000);

/** What stands in a claims folder before the race. */
const starts = {
  'a dead claim': (folder: string, dead: object) => writeFileSync(join(folder, '1.json'), JSON.stringify(dead)),
  'a torn old claim': (folder: string) => {
    writeFileSync(join(folder, '1.json'), '{"version":1,');
    utimesSync(join(folder, '1.json'), OLD, OLD);
  },
  'no claim': (folder: string) => rmdirSync(folder),
};

describe('B-051 H19 O5 twenty processes go for one lineage at once', () => {
  it.each([
    ['a dead claim', 100, 2],
    ['a torn old claim', 20, 2],
    ['no claim', 20, 1],
  ] as const)('exactly one wins over %s, each of %i rounds', { timeout: 180_000 }, async (before, rounds, wins) => {
    const random = seededRandom(testSeed());
    const workers = await startWorkers(worker.path, PROCESSES);
    const runsFolder = join(tempFolder(), 'workflow-runs');
    const owner = deadOwner();
    for (let round = 0; round < rounds; round++) {
      const root = newRunId();
      const folder = claimsFolder(runsFolder, root);
      mkdirSync(folder, { recursive: true });
      starts[before](folder, { version: 1, runId: newRunId(), source: null, owner });
      const startAt = Date.now() + 10;
      const answers = await Promise.all(
        workers.map((process) => {
          // A pause between the look and the claim: the moment in which a lock that is removed to be taken is lost.
          const pauseMs = random() < 0.5 ? 0 : Math.floor(random() * 8);
          return process.ask({ kind: 'claim', runsFolder, root, startAt, pauseMs });
        }),
      );
      const winners = answers.filter(({ n }) => n !== null);
      expect(winners, `round ${round}, seed ${testSeed()}`).toMatchObject([{ n: wins }]);
      const codes = new Set(answers.filter(({ n }) => n === null).map(({ code }) => code));
      expect(codes).toEqual(new Set(['WF_RUN_BUSY']));
      expect(readdirSync(folder).filter((name) => name.endsWith('.json'))).toHaveLength(wins);
    }
  });
});
