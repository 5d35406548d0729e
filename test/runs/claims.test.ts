import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claimsFolder, findClaimsHome, isClaimAlive } from '../../src/runs/claim-files.js';
import { type ClaimRequest, claimLineage, TORN_CLAIM_MS } from '../../src/runs/claims.js';
import { describeOwner } from '../../src/runs/owner.js';
import { WfError } from '../../src/shared/errors.js';
import { newRunId } from '../../src/shared/ids.js';
import { deadOwner, foreignOwner, plantRun, sampleRecord, tempFolder } from './support/sample-records.js';

function lineage(change: Partial<ClaimRequest> = {}) {
  const runsFolder = change.runsFolder ?? join(tempFolder(), 'workflow-runs');
  const root = change.root ?? newRunId();
  const folder = claimsFolder(runsFolder, root);
  return {
    runsFolder,
    root,
    folder,
    claim: (more: Partial<ClaimRequest> = {}) =>
      claimLineage({ runsFolder, root, runId: newRunId(), owner: describeOwner(), ...change, ...more }),
    plant: (n: number, content: string | object, mtime?: Date) => {
      mkdirSync(folder, { recursive: true });
      const path = join(folder, `${n}.json`);
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
      if (mtime !== undefined) utimesSync(path, mtime, mtime);
    },
    claimOf: (owner: object) => ({ version: 1, runId: newRunId(), source: null, owner }),
  };
}

const codeOf = (error: unknown): string | undefined => (WfError.is(error) ? error.code : undefined);

describe('claimLineage', () => {
  it('O1 leaves a whole record behind, readable by the owner only, in a folder that git ignores', async () => {
    const { claim, folder, runsFolder } = lineage();
    const runId = newRunId();
    const owner = describeOwner();
    const held = await claim({ runId, owner, source: 'a-source' });
    expect(held).toMatchObject({ n: 1, notice: null });
    expect(held.isLatest()).toBe(true);
    expect(JSON.parse(readFileSync(join(folder, '1.json'), 'utf8'))).toEqual({
      version: 1,
      runId,
      source: 'a-source',
      owner,
    });
    expect(statSync(join(folder, '1.json')).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(runsFolder, '.gitignore'), 'utf8')).toBe('*\n');
  });

  it('O5 refuses while the owner lives, and names run, pid and host', async () => {
    const { claim, folder } = lineage();
    const runId = newRunId();
    await claim({ runId });
    const before = readdirSync(folder);
    const error = await claim().catch((refusal: unknown) => refusal);
    expect(codeOf(error)).toBe('WF_RUN_BUSY');
    const { message, remedy } = error as WfError;
    for (const part of [runId, String(process.pid), describeOwner().host]) expect(message).toContain(part);
    expect(remedy).toContain('--fork');
    expect(readdirSync(folder)).toEqual(before);
  });

  it('goes on after a release, which may be repeated and leaves the record as it was', async () => {
    const { claim, folder } = lineage();
    const first = await claim();
    const record = readFileSync(join(folder, '1.json'));
    first.release();
    first.release();
    expect(first.isLatest()).toBe(false);
    const second = await claim();
    expect(second).toMatchObject({ n: 2, notice: null });
    expect(readFileSync(join(folder, '1.json'))).toEqual(record);
    expect(readdirSync(folder).sort()).toEqual(['1.json', '1.released', '2.json']);
  });

  it('B-055 takes over from a dead owner at once, says so, and removes nothing', async () => {
    const { claim, plant, claimOf, folder } = lineage();
    const owner = deadOwner();
    plant(3, claimOf(owner));
    const held = await claim({ wait: () => Promise.reject(new Error('must not wait')) });
    expect(held.n).toBe(4);
    expect(held.notice).toContain(String(owner.pid));
    expect(readdirSync(folder).sort()).toEqual(['3.json', '4.json']);
  });

  it('B-055 is not misled by a pid that now belongs to another program', async () => {
    const { claim, plant, claimOf } = lineage();
    plant(1, claimOf({ ...describeOwner(), startTime: '1' }));
    expect(await claim()).toMatchObject({ n: 2 });
  });

  it('goes by the heartbeat of an owner on another machine, taken from its run.json', async () => {
    const young = lineage();
    young.plant(1, young.claimOf(foreignOwner(1_000)));
    await expect(young.claim()).rejects.toMatchObject({ code: 'WF_RUN_BUSY' });
    const old = lineage();
    const claim = old.claimOf(foreignOwner(3_600_000));
    old.plant(1, claim);
    plantRun(old.runsFolder, { record: sampleRecord({ runId: claim.runId, owner: foreignOwner(1_000) }) });
    await expect(old.claim()).rejects.toMatchObject({ code: 'WF_RUN_BUSY' });
    plantRun(old.runsFolder, { record: sampleRecord({ runId: claim.runId, owner: foreignOwner(61_000) }) });
    expect(await old.claim()).toMatchObject({ n: 2 });
  });

  it('takes a run that has given up its owner for one that has let go', () => {
    const { runsFolder, claimOf } = lineage();
    const claim = claimOf(describeOwner());
    const isAlive = isClaimAlive([runsFolder]);
    expect(isAlive(claim as never)).toBe(true);
    plantRun(runsFolder, { record: sampleRecord({ runId: claim.runId, owner: null }) });
    expect(isAlive(claim as never)).toBe(false);
  });

  it('B-052 knows at once that a higher claim, or none, or another of its number is there', async () => {
    const taken = lineage();
    const first = await taken.claim();
    expect(first.isUnchallenged()).toBe(true);
    taken.plant(2, taken.claimOf(describeOwner()));
    expect(first.isLatest()).toBe(false);
    expect(first.isUnchallenged()).toBe(false);
    const removed = lineage();
    const second = await removed.claim();
    rmSync(removed.folder, { recursive: true });
    expect(second.isLatest()).toBe(false);
    removed.plant(1, removed.claimOf(describeOwner()));
    expect(second.isLatest()).toBe(false);
  });

  it('B-051 does not go on with a claim that was overtaken while it was being written', async () => {
    const { claim, plant, claimOf } = lineage();
    plant(1, claimOf(deadOwner()));
    const rival = claimOf(describeOwner());
    const isOwnerAlive = (seen: { runId: string }): boolean => {
      if (seen.runId === rival.runId) return true;
      plant(3, rival);
      return false;
    };
    await expect(claim({ isOwnerAlive })).rejects.toMatchObject({ code: 'WF_RUN_BUSY' });
  });

  it('refuses a root that is no run id before it is used in a path', async () => {
    await expect(lineage().claim({ root: '../../outside' })).rejects.toMatchObject({ code: 'WF_RUN_ID' });
  });

  it('refuses a claim that only a newer wf understands, however old its file is', async () => {
    const { claim, plant } = lineage();
    plant(1, { version: 2, holder: 'unknown form' }, new Date(0));
    await expect(claim()).rejects.toMatchObject({ code: 'WF_VERSION_NEWER' });
  });

  it('names --runs-dir where claims cannot be written', async () => {
    const top = tempFolder();
    writeFileSync(join(top, 'file'), '');
    const error = await lineage({ runsFolder: join(top, 'file') })
      .claim()
      .catch((refusal: unknown) => refusal);
    expect(codeOf(error)).toBe('WF_RUNS_DIR');
    expect((error as WfError).remedy).toContain('--runs-dir');
  });
});

describe('B-056 a claim whose file is empty or torn', () => {
  const torn = ['', '{"version":1,"runId":"', '{"version":1}', 'null'];

  it.each(torn)('is passed over with a notice once it is 10 s old: %j', async (content) => {
    const { claim, plant } = lineage();
    plant(1, content, new Date(Date.now() - TORN_CLAIM_MS - 1));
    const held = await claim({ wait: () => Promise.reject(new Error('must not wait')) });
    expect(held.n).toBe(2);
    expect(held.notice).toContain('never finished');
  });

  it.each(torn)('is held while it is young, for at most 10 s: %j', async (content) => {
    const { claim, plant } = lineage();
    let now = Date.now();
    let waited = 0;
    plant(1, content);
    const wait = async (ms: number): Promise<void> => {
      now += ms;
      waited += ms;
    };
    expect(await claim({ now: () => now, wait })).toMatchObject({ n: 2 });
    expect(waited).toBeGreaterThan(TORN_CLAIM_MS - 1_000);
    expect(waited).toBeLessThanOrEqual(TORN_CLAIM_MS);
  });

  it('is not waited for longer when its time lies in the future', async () => {
    const { claim, plant } = lineage();
    plant(1, '', new Date(Date.now() + 86_400_000));
    let waited = 0;
    const wait = async (ms: number): Promise<void> => {
      waited += ms;
    };
    expect(await claim({ wait })).toMatchObject({ n: 2 });
    expect(waited).toBe(TORN_CLAIM_MS);
  });

  it('is busy as soon as it is whole', async () => {
    const { claim, plant, claimOf } = lineage();
    plant(1, '{"ver');
    const wait = async (): Promise<void> => plant(1, claimOf(describeOwner()));
    await expect(claim({ wait })).rejects.toMatchObject({ code: 'WF_RUN_BUSY' });
  });
});

describe('findClaimsHome', () => {
  it('is where the lineage was begun, so that worktrees meet; else the own folder', async () => {
    const main = lineage();
    const worktree = join(tempFolder(), 'workflow-runs');
    await main.claim();
    expect(findClaimsHome([worktree, main.runsFolder], main.root)).toBe(main.runsFolder);
    expect(findClaimsHome([worktree, main.runsFolder], newRunId())).toBe(worktree);
    expect(existsSync(worktree)).toBe(false);
  });
});
