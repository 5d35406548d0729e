/**
 * The supervisor's side of one run: takes what the sandbox tells, has calls executed, writes the journal, and hands
 * outcomes back. An outcome is in the journal before the script or anybody else learns of it.
 * Long because what a run owns has one guard: outcomes, journal and end must change together.
 */
import type { CallOutcome } from '../agents/execute-call.js';
import { costNothing } from '../agents/price-usage.js';
import type { KeptResult } from '../journal/carry.js';
import { callKey } from '../journal/key.js';
import { type AnswerFeeder, createAnswerFeeder } from './answer-feeder.js';
import { type Batch, createBatch } from './batch.js';
import { explainUncounted } from './ceilings.js';
import { type CallRunner, createCallRunner } from './call-runner.js';
import { createDispatcher, type Dispatcher } from './dispatcher.js';
import type { EngineEnd, EngineOptions, LiveCall } from './engine-options.js';
import { explainDeath } from './explain-death.js';
import { createRunJournal, type RunJournal } from './run-journal.js';
import { createRunVoice, type RunVoice, wordJournalFailure, wordScriptWarning } from './run-voice.js';
import type { CallOptions } from './sandbox/call-options.js';
import type { UpEvent, UpMessage } from './sandbox/frames.js';
import type { SandboxDeath } from './sandbox-link.js';
import { explainScriptError } from './script-error.js';
import { createRunScripts, type RunScripts } from './run-scripts.js';
import { createRunTimers, type RunTimers } from './run-timers.js';
import { makeStartHead, type SortedLines, sortCarried } from './start-frame.js';
import { createStartGate, type StartGate } from './start-gate.js';
import { type CallSteering, createCallSteering } from './steer-calls.js';
import { Tally } from './tally.js';
import { tellScriptError } from './tell-script-error.js';

/** How long a drain waits for the script to take its last answers, ms. */
const REST_MS = 1000;

/** One run in progress. Construct, then `run()` once. */
export class Engine {
  readonly tally = new Tally();
  readonly calls: CallSteering;
  phase: string | null = null;
  readonly #o: EngineOptions;
  readonly #gate: StartGate;
  readonly #dispatcher: Dispatcher;
  readonly #runner: CallRunner;
  readonly #journal: RunJournal;
  readonly #timers: RunTimers;
  readonly #kept = new Map<number, KeptResult>();
  readonly #scripts: RunScripts;
  readonly #lines: SortedLines;
  #feeder: AnswerFeeder | undefined;
  readonly #batch: Batch;
  /** Nobody else's claim was seen since the last batch. */
  #isOwner = false;
  readonly #voice: RunVoice;
  #end: EngineEnd | undefined;
  #onRest: () => void = () => {};
  #resolve: (end: EngineEnd) => void = () => {};

  constructor(options: EngineOptions) {
    this.#o = options;
    this.#batch = createBatch({
      write: (lines) => this.#journal.write(lines),
      send: (head, body) => {
        if (this.#end === undefined) options.sandbox.send(head, body);
      },
      listener: options.onEvent,
      onCommit: () => {
        this.#isOwner = false;
      },
    });
    this.#voice = createRunVoice(options.clock, (event) => this.#batch.addEvent(event));
    this.#gate = createStartGate(options, {
      mayDispatch: () => this.#end === undefined && this.#checkOwner(),
      pendingBytes: () => this.#batch.outcomeBytes,
      wake: () => this.#dispatcher.wake(),
      cancel: () => this.cancel(),
      warn: (code, message) => this.#voice.warn(code, message),
    });
    this.#dispatcher = createDispatcher({
      concurrency: options.limits.concurrency,
      check: this.#gate.check,
      started: this.#gate.start,
    });
    this.#runner = createCallRunner(
      {
        ...options,
        // Whoever looks after a kill must find the call of a process that was started.
        onProcess: (pid) => {
          this.#batch.commit();
          options.onProcess(pid);
        },
      },
      this.#voice,
      (n, usage) => this.#gate.report(n, usage),
    );
    this.calls = createCallSteering({
      tally: this.tally,
      dispatcher: this.#dispatcher,
      runner: this.#runner,
      isEnding: () => this.#end !== undefined,
    });
    this.#journal = createRunJournal(
      options.journal,
      (pieces) => this.#batch.addLine(pieces),
      (reason) => this.#voice.warn('WF_JOURNAL_WRITE', wordJournalFailure(reason)),
    );
    this.#timers = createRunTimers(options.clock, (id, timer) => {
      if (this.#end !== undefined) return;
      this.#journal.writeTimer(id, timer);
      this.#batch.addOutcome(id, true, '', 0);
    });
    this.#lines = sortCarried(options.carried, options.backend.madeUp);
    this.#scripts = createRunScripts({
      own: options.script,
      recorded: this.#lines.scripts,
      openWorkflow: options.openWorkflow,
      isEnding: () => this.#end !== undefined,
      record: (script) => this.#journal.writeScript(script),
    });
  }

  /** Runs the script to its end; in-flight agents are ended or awaited before this resolves. */
  async run(): Promise<EngineEnd> {
    const ended = new Promise<EngineEnd>((resolve) => {
      this.#resolve = resolve;
    });
    const { sandbox, limits } = this.#o;
    void sandbox.gone.then((death) => this.#onDeath(death));
    sandbox.limit(limits);
    sandbox.listen((message) => this.#take(message));
    this.#start();
    const end = await ended;
    sandbox.kill();
    this.#timers.close();
    this.#gate.close();
    // A failure that concerns all calls lets what is in flight finish; every other end stops it.
    if (end.how !== 'shared-failure' && end.how !== 'drained') this.#runner.abortAll();
    await this.#dispatcher.idle();
    await this.#runner.idle();
    await sandbox.gone;
    for (const call of this.tally.queued) this.#voice.tellUnstarted(call, { status: 'no-result' });
    this.#batch.commit();
    this.tally.close();
    return end;
  }

  /** Ends the run at once: nothing starts, agents are told to stop, and what they still print is no answer. */
  cancel(): void {
    this.#finish({ how: 'cancelled' });
    // Also where another end came first and still awaits what runs.
    this.#runner.abortAll();
  }

  /** Another process owns the lineage: nothing more is written. */
  loseOwnership(): void {
    this.#finish({ how: 'owner-lost' });
  }

  /** Nothing new starts; what runs may finish until `expire()` is called or nothing runs. */
  async drain(expired: Promise<void>): Promise<void> {
    this.#dispatcher.stop();
    this.calls.refuseRetries();
    await Promise.race([this.#dispatcher.idle().then(() => this.#rest()), expired]);
    if (this.#end !== undefined) return;
    if (this.#dispatcher.running > 0) {
      // Marked before anybody is told to stop: should this process be killed now, the mark is on the disk.
      this.#o.onDrainExpired();
      this.#runner.abortAll();
    }
    this.#finish({ how: 'drained' });
  }

  /** The script has taken what it was given: it may have come to its end with it. */
  async #rest(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#o.sandbox.resting || this.#end !== undefined) return;
    let stopWaiting = (): void => {};
    await new Promise<void>((resolve) => {
      this.#onRest = resolve;
      // A script that is busy with itself is not waited for.
      stopWaiting = this.#o.clock.after(REST_MS, resolve);
    });
    stopWaiting();
  }

  get running(): number {
    return this.#dispatcher.running;
  }

  #start(): void {
    const { sandbox, argsJson, carried } = this.#o;
    const { answers, failures } = this.#lines;
    for (const line of failures) if (line.kind === 'failed') this.#runner.countFailure(line.key, line.path, line.nth);
    for (const line of answers) this.#kept.set(line.kept, line);
    sandbox.send(makeStartHead(this.#o, this.#lines), argsJson === undefined ? undefined : Buffer.from(argsJson));
    if (carried === undefined || answers.length === 0) return;
    this.#feeder = createAnswerFeeder(carried, answers, (head, body) => sandbox.send(head, body));
    this.#feeder.feed();
  }

  #take(message: UpMessage): void {
    if (this.#end !== undefined) return;
    switch (message.t) {
      case 'events':
        for (const event of message.events) this.#takeEvent(event);
        if (message.rest) this.#o.onRest?.();
        if (!this.#o.sandbox.resting) return;
        this.#gate.onRest(this.#dispatcher.queued);
        return this.#onRest();
      case 'need':
        this.#feeder?.need(message.kept);
        return;
      case 'workflow':
        void this.#scripts.open(message.reference).then((reply) => reply && this.#o.sandbox.send(reply));
        return;
      case 'deps':
        void this.#o.hashDeps(message.deps, message.cwd).then((reply) => this.#o.sandbox.send({ t: 'deps', ...reply }));
        return;
      case 'end':
        if (message.kind === 'done')
          this.#finish({ how: 'done', hasResult: message.hasResult, result: message.result });
        else this.#finish({ how: 'failed', error: explainScriptError(message.error, this.#scripts.sources) });
        return;
    }
  }

  #takeEvent(event: UpEvent): void {
    switch (event[0]) {
      case 'c':
        return this.#dispatch(event);
      case 'h':
        return this.#recordHit(event);
      case 'd':
        return this.#journal.delivered(event[1]);
      case 't':
        return this.#journal.writeReplayedTimer({ n: event[1], ms: event[2], path: event[3] });
      case 'T':
        return this.#timers.start(event);
      case 'x':
        return this.#timers.clear(event[1]);
      case 'r': {
        const [, n, label, phase, code, message] = event;
        this.tally.see(n, label, phase || null, '');
        this.tally.finish(n, 'failed', { code, message });
        const error = { code, message };
        return this.#voice.tellUnstarted({ n, label, phase: phase || null }, { status: 'failed', error });
      }
      case 'a': {
        const [, n, label, phase] = event;
        this.#runner.abort(n);
        const wasQueued = this.#dispatcher.drop(n) !== undefined;
        if (this.tally.get(n) === undefined) this.tally.see(n, label, phase || null, '');
        this.tally.abandon(n);
        if (wasQueued) this.#voice.tellUnstarted({ n, label, phase: phase || null }, { status: 'no-result' });
        return;
      }
      case 'l':
        return this.#voice.tell({ type: 'log', level: event[1] as 'log', message: event[2] });
      case 'p':
        this.phase = event[1];
        return this.#voice.tell({ type: 'phase', title: event[1] });
      case 'w':
        return this.#voice.warn(event[1], wordScriptWarning(event[1], event[2]));
      case 'e':
        return this.#tellScriptError(event);
    }
  }

  #dispatch([, n, key, path, nth, label, phaseText, prompt, opts]: UpEvent & { 0: 'c' }): void {
    const phase = phaseText === '' ? null : phaseText;
    const options = (opts ?? undefined) as CallOptions | undefined;
    const call: LiveCall = { n, key, path, nth, label, phase, prompt, options, backend: undefined, startedAt: 0 };
    this.tally.see(n, label, phase, key);
    // The sandbox is the less trusted side: a key is made again before anything is spent on it.
    const promptJson = JSON.stringify(prompt);
    if (callKey(promptJson, options) !== key) {
      return this.#finish({
        how: 'failed',
        error: { code: 'WF_INTERNAL', message: `The sandbox made a wrong key for call ${n}.` },
      });
    }
    this.#o.onLive?.(call);
    this.#voice.tellQueued(n, label, phase, key);
    this.#dispatcher.add({
      n,
      execute: () => {
        call.startedAt = this.#o.clock.now();
        this.tally.start(n);
        return this.#runner.execute(call);
      },
      settle: (outcome) => this.#settle(call, promptJson, outcome),
    });
  }

  #settle(call: LiveCall, promptJson: string, told: CallOutcome): void {
    const { backend, clock, limits } = this.#o;
    const outcome = this.calls.judge(call.n, told);
    const madeUp = call.backend?.madeUp ?? backend.madeUp;
    this.tally.spend(madeUp ? costNothing(outcome.usage) : outcome.usage);
    // One that no backend was asked for has cost nothing.
    const outputUntold = outcome.kind === 'ok' && outcome.outputUntold;
    this.#gate.end(call.n, outcome.usage, madeUp || outcome.attempts === 0, outputUntold);
    if (outcome.kind === 'cancelled') {
      this.tally.finish(call.n, 'no-result');
      return this.#voice.tellFinished(call, { ...outcome, status: 'no-result' });
    }
    if (outcome.kind === 'failed' && outcome.shared) {
      this.tally.finish(call.n, 'no-result', outcome.error);
      this.#voice.tellFinished(call, { ...outcome, status: 'no-result' });
      return this.#finish({ how: 'shared-failure', error: outcome.error });
    }
    const ok = outcome.kind === 'ok';
    this.#journal.writeResult(call, outcome, {
      promptJson,
      backend: call.backend?.name ?? backend.name,
      madeUp: madeUp || undefined,
      endedAt: clock.now(),
    });
    const lastTry = ok && outcome.lastTry;
    this.tally.finish(call.n, outcome.kind, ok ? undefined : outcome.error, lastTry);
    this.#voice.tellFinished(call, { ...outcome, status: outcome.kind });
    if (call.options?.depsPatterns !== undefined) void this.#checkDeps(call);
    if (this.#end !== undefined) return;
    if (ok && !madeUp && limits.budgetUsd != null && outcome.usage?.usd == null)
      return this.#finish({
        how: 'shared-failure',
        error: explainUncounted(call, outcome.model ?? call.options?.model ?? this.#o.model),
      });
    const { name = 'Error', code, message } = ok ? { code: '', message: '' } : outcome.error;
    const json = ok ? outcome.output : JSON.stringify({ name, code, message, tell: outcome.tell });
    this.#batch.addOutcome(call.n, ok, json, outcome.usage?.outputTokens ?? 0, lastTry);
  }

  /** Files that a call depends on must not be written by the workflow itself: its key would not stand for them. */
  async #checkDeps({ label, options }: LiveCall): Promise<void> {
    const now = await this.#o.hashDeps(options?.depsPatterns ?? [], options?.cwd ?? null);
    if (now.digest === options?.deps) return;
    this.#voice.tell({
      type: 'warning',
      code: 'WF_DEPS_CHANGED',
      message: `Files that deps of "${label}" names changed while it ran: a resume will take its answer for out of date.`,
    });
  }

  #recordHit([, n, key, path, nth, label, phaseText, kept]: UpEvent & { 0: 'h' }): void {
    const phase = phaseText === '' ? null : phaseText;
    const result = this.#kept.get(kept);
    if (result === undefined) return;
    this.#journal.writeHit({ n, key, path, nth, label, phase, of: kept });
    this.tally.see(n, label, phase, key);
    this.tally.reuse(n, result);
    this.#feeder?.delivered(kept);
    this.#voice.tell({
      type: 'call.finished',
      n,
      label,
      phase,
      status: 'ok',
      reused: true,
      from: result.from,
      ...(result.worktrees === undefined ? {} : { worktrees: result.worktrees }),
      ...(result.lastTry === undefined ? {} : { lastTry: result.lastTry }),
      attempts: 0,
      durationMs: 0,
    });
  }

  #checkOwner(): boolean {
    this.#isOwner ||= this.#o.isOwner();
    if (this.#isOwner) return true;
    this.#finish({ how: 'owner-lost' });
    return false;
  }

  #onDeath(death: SandboxDeath): void {
    if (death.why === 'killed') return;
    const error = explainDeath(death, this.#o.limits);
    this.#finish({ how: 'failed', error });
  }

  #finish(end: EngineEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    // At once, not when the run gets to it: no call starts after the end was decided.
    this.#dispatcher.stop();
    if (end.how === 'shared-failure') this.#runner.halt();
    this.#onRest();
    this.#resolve(end);
  }

  #tellScriptError([, how, slot, told]: UpEvent & { 0: 'e' }): void {
    const error = explainScriptError(told, this.#scripts.sources);
    if (told.ofCall !== true) this.tally.addScriptError(error);
    this.#voice.tell(tellScriptError(how, slot, error));
  }
}
