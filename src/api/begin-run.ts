/** From a folder and a claim to a running script. "Started" is told after all of that is on the disk. */
import { BUILT_IN_AGENT_TYPES } from '../agents/agent-definitions.js';
import { type Guard, startGuard } from '../agents/guard/start-guard.js';
import { createMask } from '../agents/mask-secrets.js';
import { createModelResolver } from '../config/model-aliases.js';
import { Engine } from '../engine/engine.js';
import type { EngineEnd } from '../engine/engine-options.js';
import type { EventListener } from '../engine/events.js';
import { describeDamage } from '../journal/read-journal.js';
import { openEventLog } from '../runs/event-log.js';
import { type Heartbeat, startHeartbeat } from '../runs/heartbeat.js';
import { holdLineageLock } from '../runs/lineage-lock.js';
import type { RunRecord } from '../runs/records.js';
import { EVENTS_FILE } from '../runs/runs-folder.js';
import { isoTime } from '../shared/clock.js';
import { messageOf } from '../shared/errors.js';
import { emptyCounts, emptyUsage } from '../shared/outcome.js';
import { processStartTime } from '../shared/process-info.js';
import { openNamedBackends } from './choose-run-backend.js';
import { closeInTime } from './close-in-time.js';
import { createRunEnder } from './end-on-request.js';
import { finishRun } from './finish-run.js';
import { freeMemory } from './free-memory.js';
import { createHashDeps } from './hash-deps.js';
import { collectWorktrees } from './kept-worktrees.js';
import { describeSpentBudget } from './limit-changes.js';
import { createOpenWorkflow } from './open-workflow.js';
import { type ResumeNotices, watchResume } from './resume-notices.js';
import type { Beginning, RunHandle, RunParts } from './run-parts.js';
import { watchRunProcesses } from './run-processes.js';
import { serveControl } from './serve-control.js';
import { startedEvent } from './started-event.js';
import { takeOver } from './take-over.js';
import { findWorktreesFolder } from './worktrees-folder.js';

/** Characters of args below which `run.json` is written within a second of a change. */
const SMALL_ARGS = 65_536;
/** How long started calls may finish when a drain is asked for without a time, ms. */
const DRAIN_MS = 300_000;
/** So many different warnings are kept with the outcome. */
const MAX_NOTICES = 200;

/** Takes over the source's journal, tells that the run has started, and lets the script go. */
export function beginRun(base: Beginning): RunHandle {
  const { given, prepared, record, folder, journal, claim, backend, clock, sandbox, definitions } = base;
  const { places, options, script } = prepared;
  const first = [...prepared.notices, ...(base.sourceJournal?.notices ?? [])];
  if (claim.notice !== null) first.push(claim.notice);
  const notices: string[] = [];
  const events = openEventLog(`${folder}/${EVENTS_FILE}`);
  let heartbeat: Heartbeat | undefined;
  let watch: ResumeNotices | undefined;
  const worktrees = collectWorktrees(base.sourceJournal, places);
  const tell: EventListener = (event) => {
    events.write(event);
    if (event.type === 'warning' && notices.length < MAX_NOTICES && !notices.includes(event.message))
      notices.push(event.message);
    watch?.take(event);
    worktrees.take(event);
    // Large args stand in the record, so it is not written anew for every change.
    if (event.type.startsWith('call.') && (prepared.argsJson?.length ?? 0) < SMALL_ARGS) heartbeat?.beatSoon();
    try {
      given.onEvent?.(event);
    } catch (error) {
      const notice = `The listener of events threw: ${messageOf(error)}; the run goes on.`;
      if (!notices.includes(notice)) notices.push(notice);
    }
  };
  const warn = (code: string, message: string): void => {
    tell({ t: isoTime(clock.now()), type: 'warning', code, message });
  };

  let engine: Engine | undefined;
  heartbeat = startHeartbeat({
    folder,
    record,
    claim,
    progress: () => ({
      counts: engine?.tally.counts ?? emptyCounts(),
      phase: engine?.phase ?? null,
      journalBytes: journal.size,
      usage: engine?.tally.usage ?? emptyUsage(),
    }),
    onLost: () => engine?.loseOwnership(),
    onWarning: (message) => warn('WF_HEARTBEAT', message),
    now: () => clock.now(),
  });
  try {
    const carried = takeOver(base.sourceJournal, journal);
    // The mark must not be on the disk before what it speaks of: that is taken over only when it is there.
    if (carried !== undefined) heartbeat.update({ copied: true });
    journal.onSyncFailure = (reason) => warn('WF_JOURNAL_SYNC', wordSyncFailure(reason));
    const ended = new AbortController();
    const named = openNamedBackends(backend, prepared);
    let guard: Guard | undefined;
    const note = (change: Partial<RunRecord>): void => {
      try {
        heartbeat?.update(change);
      } catch (error) {
        warn('WF_HEARTBEAT', `run.json cannot be written: ${messageOf(error)}.`);
      }
    };
    const openGuard = (): Guard => {
      if (guard !== undefined) return guard;
      guard = startGuard({ nodePath: process.execPath });
      if (sandbox.pid !== undefined) guard.watch(sandbox.pid, processes.note('sandbox', sandbox.pid));
      // A resume waits for it: what it ends must be gone before the same work starts again.
      if (guard.pid !== undefined) note({ guard: { pid: guard.pid, startTime: processStartTime(guard.pid) } });
      return guard;
    };
    const processes = watchRunProcesses({
      events,
      openGuard,
      guard: () => guard,
      now: () => isoTime(clock.now()),
      warn,
    });
    sandbox.onSlow(() => void openGuard());
    engine = new Engine({
      runId: record.runId,
      root: record.lineage.root,
      script,
      argsJson: prepared.argsJson,
      backend,
      openBackend: backend.open,
      backendGiven: options.backendGiven === true,
      backendNamed: (name) => named.get(name),
      definitions,
      builtInTypes: [...BUILT_IN_AGENT_TYPES],
      anyAgentType: backend.madeUp,
      limits: options,
      prices: prepared.prices,
      freeBytes: freeMemory,
      confirm: given.confirm,
      policy: {
        retries: options.retries ?? undefined,
        timeoutMs: options.timeoutMs ?? undefined,
        idleTimeoutMs: options.idleTimeoutMs ?? undefined,
        graceMs: 5000,
        maxAnswerBytes: 16 << 20,
      },
      match: options.match,
      model: options.model,
      resolveModel: createModelResolver(prepared.config),
      mask: createMask(prepared.secrets),
      effort: options.effort,
      permission: options.permission,
      startFolder: prepared.startFolder,
      projectRoot: places.root,
      worktrees: () => ({ folder: findWorktreesFolder(places.root), env: places.env, owner: record.owner }),
      journal,
      carried,
      sandbox,
      openWorkflow: createOpenWorkflow(prepared, (message) => warn('WF_CHILD_CHANGED', message)),
      hashDeps: createHashDeps(places.root, prepared.startFolder, ended.signal, (message) =>
        warn('WF_NOTICE', message),
      ),
      clock,
      onEvent: tell,
      onLive: (call) => watch?.takeLive(call),
      onHit: (kept) => watch?.takeHit(kept),
      onRest: () => watch?.rest(),
      isOwner: () => claim.isUnchallenged(),
      onDrainExpired: () => note({ status: 'interrupted' }),
      onProcess: processes.agentStarted,
      onProcessEnd: processes.agentEnded,
    });
    tell(startedEvent(base, carried));
    first.push(...describeSpentBudget(options, carried));
    for (const message of first) tell({ t: isoTime(clock.now()), type: 'warning', code: 'WF_NOTICE', message });
    const damage = carried === undefined ? undefined : describeDamage(carried.damage);
    if (damage !== undefined) {
      const reusable = (carried?.lines ?? []).filter((line) => line.type === 'result' && line.kind === 'ok').length;
      warn(
        'WF_JOURNAL_DAMAGED',
        `The journal of the source run has ${damage}; ${reusable} results can be reused, the rest runs again.`,
      );
    }
    if (carried !== undefined && base.sourceJournal !== undefined)
      watch = watchResume(
        carried,
        { folder: base.sourceJournal.folder, runsFolders: places.readFolders, onMock: backend.madeUp },
        (message) => warn('WF_NOTICE', message),
      );
    const running = engine;
    const ender = createRunEnder(running, clock);
    const control = serveControl({
      runId: record.runId,
      env: places.env,
      engine: running,
      drain: (ms) => ender.drain(ms ?? given.drainMs ?? DRAIN_MS),
      warn,
      publish: (socket) => note({ control: socket }),
    });
    const beat = (): void => heartbeat.beat();
    const lock = holdLineageLock({ claim, onNotice: (message) => warn('WF_NOTICE', message), onDoubt: beat });
    const shared = { lock, heartbeat, events, tell, notices, worktrees: worktrees.all };
    const parts = (): RunParts => ({ ...base, ...shared, engine: running, guard, exitCode: ender.exitCode });
    const done = running
      .run()
      .catch((error: unknown): EngineEnd => {
        // Whatever it was: nothing starts any more, and nothing of it keeps this process alive.
        running.cancel();
        sandbox.kill();
        return { how: 'failed', error: { code: 'WF_INTERNAL', message: messageOf(error) } };
      })
      .then(async (end) => {
        ended.abort();
        control.close();
        ender.close();
        try {
          watch?.close();
        } catch (error) {
          warn('WF_NOTICE', `What the source run had could not be compared: ${messageOf(error)}.`);
        }
        await worktrees.close((message) => warn('WF_NOTICE', message));
        await closeInTime(named.close, clock).catch((error: unknown) => warn('WF_BACKEND_CLOSE', messageOf(error)));
        processes.close();
        return finishRun(parts(), end);
      });
    given.signal?.addEventListener('abort', () => running.cancel(), { once: true, signal: ended.signal });
    if (given.signal?.aborted) running.cancel();
    return {
      runId: record.runId,
      folder,
      done,
      cancel: ender.cancel,
      drain: ender.drain,
    };
  } catch (error) {
    heartbeat.stop();
    events.close();
    throw error;
  }
}

const wordSyncFailure = (reason: string): string =>
  `The disk has not confirmed what was written to the journal (${reason}); the run goes on. ` +
  'Should this machine lose its power, a resume may run calls again that have an answer now.';
