/** A process of its own that does one of the things that several processes do to one runs folder. */
import { writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { claimLineage } from '../../../src/runs/claims.js';
import { startHeartbeat } from '../../../src/runs/heartbeat.js';
import { describeOwner, ownerState } from '../../../src/runs/owner.js';
import { pruneRuns } from '../../../src/runs/prune-runs.js';
import type { RunRecord, StateRecord } from '../../../src/runs/records.js';
import { createRunFolder } from '../../../src/runs/run-folder.js';
import { writeState } from '../../../src/runs/run-records.js';
import { messageOf, WfError } from '../../../src/shared/errors.js';
import { newRunId } from '../../../src/shared/ids.js';

export type Job =
  /** `pauseMs`: how long it stops between the sight of a dead owner and its own claim. */
  | { kind: 'claim'; runsFolder: string; root: string; startAt: number; pauseMs: number }
  | { kind: 'prune'; runsFolder: string; keep: number; startAt: number }
  /** Writes states of changing size, then the file `done`; without `times` it goes on until it is killed. */
  | { kind: 'write-states'; folder: string; state: StateRecord; times?: number; done?: string }
  /** Creates one run after another, says each id on stdout once it stands, keeps it beating. */
  | { kind: 'create-runs'; runsFolder: string; record: RunRecord; count?: number };

export type Answer = { n: number | null; code?: string; message?: string; report?: unknown };

const block = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

async function work(job: Job): Promise<Answer> {
  if ('startAt' in job) while (Date.now() < job.startAt) block(0.2);
  switch (job.kind) {
    case 'claim': {
      const isOwnerAlive = (claim: { owner: Parameters<typeof ownerState>[0] }): boolean => {
        if (ownerState(claim.owner, Date.now()).state === 'alive') return true;
        block(job.pauseMs);
        return false;
      };
      const claim = await claimLineage({ ...job, runId: newRunId(), owner: describeOwner(), isOwnerAlive });
      return { n: claim.isLatest() ? claim.n : null };
    }
    case 'prune':
      return { n: null, report: await pruneRuns(job) };
    case 'write-states':
      for (let i = 0; i < (job.times ?? Number.POSITIVE_INFINITY); i++) {
        writeState(job.folder, { ...job.state, result: `${i} `.repeat(i % 2 === 0 ? 100 : 15_000) });
      }
      if (job.done !== undefined) writeFileSync(job.done, '');
      return { n: null };
    case 'create-runs':
      for (let i = 0; i < (job.count ?? Number.POSITIVE_INFINITY); i++) {
        const runId = newRunId();
        const owner = describeOwner();
        const lineage = { ...job.record.lineage, root: runId };
        const record = { ...job.record, runId, owner, lineage };
        const script = `return ${JSON.stringify('x'.repeat(20_000))}\n`;
        const folder = createRunFolder({ runsFolder: job.runsFolder, record, script });
        writeSync(1, `${runId}\n`);
        const beats = startHeartbeat({
          folder: join(folder),
          record,
          progress: () => record.progress,
          claim: { isLatest: () => true },
          onLost: () => {},
          onWarning: () => {},
        });
        for (let beat = 0; beat < 5; beat++) beats.beat();
        beats.stop();
      }
      return { n: null };
  }
}

process.on('message', (job: Job) => {
  void work(job)
    .catch(
      (error): Answer => ({ n: null, code: WfError.is(error) ? error.code : 'unknown', message: messageOf(error) }),
    )
    .then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
