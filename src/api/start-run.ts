/**
 * Starts a run: reads and checks everything, claims the lineage, makes the run folder. Whatever is refused on the way
 * leaves nothing behind.
 */
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { loadAgentDefinitions } from '../agents/agent-definitions.js';
import { type SandboxLink, startSandbox } from '../engine/sandbox-link.js';
import { openFileStore } from '../journal/file-store.js';
import type { JournalStore } from '../journal/store.js';
import { findClaimsHome, isClaimAlive } from '../runs/claim-files.js';
import { busyError, claimLineage } from '../runs/claims.js';
import { findLiveTwins } from '../runs/find-twins.js';
import { describeOwner } from '../runs/owner.js';
import { createRunFolder } from '../runs/run-folder.js';
import { readRunRecord } from '../runs/run-records.js';
import { observeRun } from '../runs/run-status.js';
import { JOURNAL_FILE } from '../runs/runs-folder.js';
import { realClock } from '../shared/clock.js';
import { newRunId } from '../shared/ids.js';
import { beginRun } from './begin-run.js';
import { checkMoneyIsCounted, chooseBackend } from './choose-run-backend.js';
import { describeFurtherRun } from './further-run.js';
import { refuseGivenUp } from './give-up-start.js';
import { makeRecord } from './make-record.js';
import { prepareRun } from './prepare-run.js';
import type { RunWorkflowOptions } from './run-options.js';
import type { RunHandle } from './run-parts.js';
import { findSandboxLaunch } from './sandbox-launch.js';
import { openSourceJournal, type SourceJournal } from './source-run.js';
import { findStartedBy } from './started-by.js';
import { waitForGuard } from './wait-for-guard.js';

/**
 * Starts a workflow.
 *
 * @throws WfError when nothing was started (exit codes 2 and 5; 130 where the start was given up)
 *
 * @example
 * const run = await startWorkflow({ script: 'review.js', backend: 'mock' });
 * const { status, result } = await run.done;
 */
export async function startWorkflow(given: RunWorkflowOptions): Promise<RunHandle> {
  // The slowest part of a start is the sandbox process, so it starts first and boots beside everything else.
  const sandbox = startSandbox(findSandboxLaunch(given.env ?? process.env));
  try {
    return await start(given, sandbox);
  } catch (error) {
    sandbox.kill();
    throw error;
  }
}

async function start(given: RunWorkflowOptions, sandbox: SandboxLink): Promise<RunHandle> {
  const prepared = await prepareRun(given);
  const { places, source } = prepared;
  if (given.record !== undefined) (await import('./record-answers.js')).checkRecordFile(given.record, places.cwd);
  const backend = await chooseBackend(given, prepared);
  refuseGivenUp(given.startSignal);
  await checkMoneyIsCounted(prepared.options, backend, prepared.prices);
  const definitions = await loadAgentDefinitions({ cwd: prepared.startFolder, root: places.root, home: places.home });
  const startedBy = findStartedBy(places.env);
  const runId = given.runId ?? newRunId();
  const clock = given.clock ?? realClock;
  const startedAt = clock.now();
  const root = source === undefined || given.fork ? runId : source.record.lineage.root;
  const claim = await claimLineage({
    runsFolder: findClaimsHome(places.readFolders, root),
    root,
    runId,
    source: source?.record.runId ?? null,
    owner: describeOwner(startedAt),
    runsDir: given.runsDir,
    isOwnerAlive: isClaimAlive(places.readFolders),
    wait: async (ms) => {
      await delay(ms);
      refuseGivenUp(given.startSignal);
    },
  });
  let journal: JournalStore | undefined;
  let sourceJournal: SourceJournal | undefined;
  let folder: string | undefined;
  try {
    if (source !== undefined && !given.fork) refuseLiveSource(source.folder, clock.now(), given.runsDir);
    if (source !== undefined) await waitForGuard(readRunRecord(source.folder), given.startSignal);
    // Nothing is awaited from here on: who has not given up by now has a run.
    refuseGivenUp(given.startSignal);
    // Only now: until the lineage was ours, its last owner may still have been writing.
    sourceJournal = source === undefined ? undefined : openSourceJournal(source, places.readFolders, given.strict);
    const record = makeRecord(prepared, { runId, root, claim: claim.n, startedAt, backend, startedBy });
    if (!record.madeUp) {
      prepared.notices.push(...describeTwins(places.runsFolder, record.script.sha256, startedAt));
      if (source !== undefined) prepared.notices.push(...describeFurtherRun(source, places.readFolders, given.runsDir));
    }
    folder = createRunFolder({ runsFolder: places.runsFolder, record, script: prepared.script.source });
    journal = openFileStore(`${folder}/${JOURNAL_FILE}`, { sync: given.fsync ?? 'group' });
    return beginRun({
      given,
      prepared,
      record,
      folder,
      journal,
      claim,
      backend,
      clock,
      startedAt,
      sandbox,
      definitions,
      sourceJournal,
    });
  } catch (error) {
    journal?.close();
    sourceJournal?.journal.close();
    // What is refused before anything was dispatched leaves no run.
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    claim.release();
    throw error;
  }
}

/** A copy of a folder comes without its claims, and claims may have been removed: its own record names the owner, too. */
function refuseLiveSource(folder: string, now: number, runsDir: string | undefined): void {
  const { runId, status, owner } = observeRun(folder, now).summary;
  if (status === 'running' && owner !== null) throw busyError({ runId, owner }, runsDir);
}

/** Two runs of one script work on the same files; nobody should start the second one for not having seen the first. */
function describeTwins(runsFolder: string, scriptSha256: string, now: number): string[] {
  return findLiveTwins(runsFolder, scriptSha256, now)
    .slice(0, 3)
    .map(
      ({ runId, owner }) =>
        `Run ${runId} of the same script is in progress (process ${owner?.pid} on ${owner?.host}); both go on.`,
    );
}
