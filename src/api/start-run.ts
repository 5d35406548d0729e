/**
 * Starts a run: claims its lineage, makes its folder, takes over the source's journal, and only then lets the script go.
 * "Started" is told after all that is on the disk.
 */
import { rmSync } from 'node:fs';
import { type AgentDefinition, BUILT_IN_AGENT_TYPES, loadAgentDefinitions } from '../agents/agent-definitions.js';
import type { AgentBackend } from '../agents/backend.js';
import { BACKEND_NAMES, createBackend } from '../agents/choose-backend.js';
import { type Guard, startGuard } from '../agents/guard/start-guard.js';
import { Engine } from '../engine/engine.js';
import type { EventListener, RunEvent } from '../engine/events.js';
import { type SandboxLink, startSandbox } from '../engine/sandbox-link.js';
import { type CarriedLines, carryLines } from '../journal/carry.js';
import { openFileStore } from '../journal/file-store.js';
import { describeDamage } from '../journal/read-journal.js';
import type { JournalStore } from '../journal/store.js';
import { findClaimsHome } from '../runs/claim-files.js';
import { claimLineage, type HeldClaim } from '../runs/claims.js';
import { type EventLog, openEventLog } from '../runs/event-log.js';
import { type Heartbeat, startHeartbeat } from '../runs/heartbeat.js';
import { describeOwner } from '../runs/owner.js';
import type { RunOptions, RunRecord } from '../runs/records.js';
import { createRunFolder } from '../runs/run-folder.js';
import { EVENTS_FILE, JOURNAL_FILE } from '../runs/runs-folder.js';
import { type Clock, isoTime, realClock } from '../shared/clock.js';
import { messageOf, WfError } from '../shared/errors.js';
import { newRunId } from '../shared/ids.js';
import { emptyCounts } from '../shared/outcome.js';
import { VERSION } from '../shared/version.js';
import { finishRun } from './finish-run.js';
import { createHashDeps } from './hash-deps.js';
import { createOpenWorkflow } from './open-workflow.js';
import { insideRoot, type PreparedRun, prepareRun } from './prepare-run.js';
import type { RunResult, RunWorkflowOptions } from './run-options.js';
import { findSandboxLaunch } from './sandbox-launch.js';
import { findStartedBy } from './started-by.js';

/** A run in progress. */
export interface RunHandle {
  readonly runId: string;
  /** The run folder, absolute. */
  readonly folder: string;
  /** Resolves when everything is written and every agent is ended; never rejects for what happens in the run. */
  readonly done: Promise<RunResult>;
  /** Ends the run at once; started calls are told to stop. */
  cancel(): void;
  /** Starts nothing more; what runs may finish for `ms`, then it is ended. */
  drain(ms: number): void;
}

/** What belongs to one run and is closed with it. */
export interface RunParts {
  prepared: PreparedRun;
  given: RunWorkflowOptions;
  record: RunRecord;
  folder: string;
  engine: Engine;
  journal: JournalStore;
  claim: HeldClaim;
  heartbeat: Heartbeat;
  events: EventLog;
  tell: EventListener;
  clock: Clock;
  backend: AgentBackend;
  guard: Guard | undefined;
  notices: string[];
  startedAt: number;
}

/**
 * Starts a workflow.
 *
 * @throws WfError when nothing was started (exit codes 2 and 5)
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
  const { places, options, source } = prepared;
  const backend = await chooseBackend(given, options, places.env);
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
  });
  let journal: JournalStore | undefined;
  let folder: string | undefined;
  try {
    const record = makeRecord(prepared, { runId, root, claim: claim.n, startedAt, backend, startedBy });
    folder = createRunFolder({ runsFolder: places.runsFolder, record, script: prepared.script.source });
    journal = openFileStore(`${folder}/${JOURNAL_FILE}`, { sync: given.fsync ?? 'group' });
    return begin({ given, prepared, record, folder, journal, claim, backend, clock, startedAt, sandbox, definitions });
  } catch (error) {
    journal?.close();
    source?.journal.close();
    // What is refused before anything was dispatched leaves no run.
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    claim.release();
    throw error;
  }
}

interface Beginning
  extends Pick<
    RunParts,
    'given' | 'prepared' | 'record' | 'folder' | 'journal' | 'claim' | 'backend' | 'clock' | 'startedAt'
  > {
  sandbox: SandboxLink;
  definitions: Map<string, AgentDefinition>;
}

function begin(base: Beginning): RunHandle {
  const { given, prepared, record, folder, journal, claim, backend, clock, sandbox, definitions } = base;
  const { places, options, script } = prepared;
  const notices = [...prepared.notices];
  if (claim.notice !== null) notices.push(claim.notice);
  const events = openEventLog(`${folder}/${EVENTS_FILE}`);
  const tell: EventListener = (event) => {
    events.write(event);
    try {
      given.onEvent?.(event);
    } catch (error) {
      const notice = `The listener of events threw: ${messageOf(error)}; the run goes on.`;
      if (!notices.includes(notice)) notices.push(notice);
    }
  };
  const warn = (code: string, message: string): void => {
    notices.push(message);
    tell({ t: isoTime(clock.now()), type: 'warning', code, message });
  };

  let engine: Engine | undefined;
  const heartbeat = startHeartbeat({
    folder,
    record,
    claim,
    progress: () => ({
      counts: engine?.tally.counts ?? emptyCounts(),
      phase: engine?.phase ?? null,
      journalBytes: journal.size,
    }),
    onLost: () => engine?.loseOwnership(),
    onWarning: (message) => warn('WF_HEARTBEAT', message),
    now: () => clock.now(),
  });
  try {
    const carried = takeOver(prepared, journal);
    if (carried !== undefined) heartbeat.update({ copied: true });
    let guard: Guard | undefined;
    engine = new Engine({
      runId: record.runId,
      root: record.lineage.root,
      script,
      argsJson: prepared.argsJson,
      backend,
      backendNamed: (name) => openBackend(name, backend, options, places.env),
      definitions,
      builtInTypes: [...BUILT_IN_AGENT_TYPES],
      anyAgentType: backend.capabilities.madeUp === true,
      limits: options,
      policy: {
        retries: options.retries ?? undefined,
        timeoutMs: options.timeoutMs ?? undefined,
        idleTimeoutMs: options.idleTimeoutMs ?? undefined,
        graceMs: 5000,
        maxAnswerBytes: 16 << 20,
      },
      match: options.match,
      model: options.model,
      effort: options.effort,
      permission: options.permission,
      startFolder: prepared.startFolder,
      projectRoot: places.root,
      journal,
      carried,
      sandbox,
      openWorkflow: createOpenWorkflow(prepared, (message) => warn('WF_CHILD_CHANGED', message)),
      hashDeps: createHashDeps(places.root, prepared.startFolder),
      clock,
      onEvent: tell,
      isOwner: () => claim.isUnchallenged(),
      onProcess: (pid) => {
        if (guard === undefined) {
          guard = startGuard({ nodePath: process.execPath });
          if (sandbox.pid !== undefined) guard.watch(sandbox.pid);
        }
        guard.watch(pid);
      },
      onProcessEnd: (pid) => guard?.forget(pid),
    });
    tell(startedEvent(base, carried));
    for (const message of notices) tell({ t: isoTime(clock.now()), type: 'warning', code: 'WF_NOTICE', message });
    const damage = carried === undefined ? undefined : describeDamage(carried.damage);
    if (damage !== undefined) {
      const reusable = (carried?.lines ?? []).filter((line) => line.type === 'result' && line.kind === 'ok').length;
      warn(
        'WF_JOURNAL_DAMAGED',
        `The journal of the source run has ${damage}; ${reusable} results can be reused, the rest runs again.`,
      );
    }
    const running = engine;
    const parts = (): RunParts => ({ ...base, engine: running, heartbeat, events, tell, guard, notices });
    const done = running.run().then((end) => finishRun(parts(), end));
    given.signal?.addEventListener('abort', () => running.cancel(), { once: true });
    if (given.signal?.aborted) running.cancel();
    return {
      runId: record.runId,
      folder,
      done,
      cancel: () => running.cancel(),
      drain: (ms) => {
        const expired = new Promise<void>((resolve) => {
          // What is left of the time must not keep the process alive.
          void done.then(clock.after(ms, resolve));
        });
        void running.drain(expired);
      },
    };
  } catch (error) {
    heartbeat.stop();
    events.close();
    throw error;
  }
}

export async function chooseBackend(
  given: RunWorkflowOptions,
  options: RunOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<AgentBackend> {
  if (typeof given.backend === 'object') return given.backend;
  if (options.backend !== '') return createBackend(options.backend, { ...options, env });
  throw new WfError('WF_BACKEND_UNKNOWN', 'No backend was chosen: neither --backend nor WF_BACKEND names one.', {
    remedy: `Known backends: ${BACKEND_NAMES.join(', ')}. To try a script without an agent: --dry-run.`,
  });
}

/** A backend that one call names; undefined when there is none of that name. */
async function openBackend(
  name: string,
  own: AgentBackend,
  options: RunOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<AgentBackend | undefined> {
  if (name === own.name) return own;
  try {
    return await createBackend(name, { ...options, env });
  } catch (error) {
    if (WfError.is(error)) return undefined;
    throw error;
  }
}

/** @throws WfError `WF_RUNS_DIR` when the lines cannot be written: nothing has been spent yet, so nothing is lost by stopping */
function takeOver(prepared: PreparedRun, journal: JournalStore): CarriedLines | undefined {
  const { source } = prepared;
  if (source === undefined) return undefined;
  const carried = carryLines(source.journal, source.journalRun, journal);
  const { lines, reason } = journal.unwritten;
  if (lines === 0) return carried;
  throw new WfError('WF_RUNS_DIR', `The journal of the new run cannot be written (${reason}); nothing was started.`, {
    remedy: 'Make room on the disk, or name another place with --runs-dir.',
  });
}

function makeRecord(
  prepared: PreparedRun,
  run: {
    runId: string;
    root: string;
    claim: number;
    startedAt: number;
    backend: AgentBackend;
    startedBy: RunRecord['startedBy'];
  },
): RunRecord {
  const { script, options, places, source } = prepared;
  return {
    version: 1,
    engine: 'wf-engine',
    runId: run.runId,
    workflow: script.meta.name,
    description: script.meta.description,
    script: {
      sha256: script.sha256,
      bytes: Buffer.byteLength(script.source),
      path: insideRoot(places.root, prepared.scriptPath),
      language: prepared.language,
    },
    ...(prepared.argsJson === undefined ? {} : { args: JSON.parse(prepared.argsJson) }),
    startFolder: insideRoot(places.root, prepared.startFolder) || '.',
    options: { ...options, backend: run.backend.name },
    versions: { wf: VERSION, node: process.version },
    startedAt: isoTime(run.startedAt),
    endedAt: null,
    status: 'running',
    owner: describeOwner(run.startedAt),
    lineage: { resumedFrom: source?.record.runId ?? null, root: run.root, claim: run.claim },
    copied: source === undefined,
    progress: { counts: emptyCounts(), phase: null, journalBytes: 0 },
    startedBy: run.startedBy,
    madeUp: run.backend.capabilities.madeUp === true,
  };
}

function startedEvent({ record, folder, prepared, clock }: Beginning, carried: CarriedLines | undefined): RunEvent {
  return {
    t: isoTime(clock.now()),
    type: 'run.started',
    runId: record.runId,
    folder,
    workflow: record.workflow,
    description: record.description,
    backend: record.options.backend,
    madeUp: record.madeUp,
    concurrency: record.options.concurrency,
    resumedFrom: record.lineage.resumedFrom,
    kept: carried?.lines.filter((line) => line.type === 'result' && line.kind === 'ok').length ?? 0,
    phases: prepared.script.meta.phases.map((phase) => phase.title),
  };
}
