/**
 * The supervisor's side of one run: takes what the sandbox tells, has calls executed, writes the journal, and hands
 * outcomes back. An outcome is in the journal before the script or anybody else learns of it.
 * Long because it is the one place where the parts of a run meet and its end is decided.
 */
import type { KeptResult } from '../journal/carry.js';
import { type AnswerFeeder, createAnswerFeeder } from './answer-feeder.js';
import { type Batch, createBatch } from './batch.js';
import { type CallRunner, createCallRunner } from './call-runner.js';
import { createDispatcher, type Dispatcher } from './dispatcher.js';
import type { EngineEnd, EngineOptions } from './engine-options.js';
import { explainDeath } from './explain-death.js';
import { explainUnreadable } from './explain-unreadable.js';
import { createRunCalls, type RunCalls } from './run-calls.js';
import { createRunJournal, type RunJournal } from './run-journal.js';
import { createRunVoice, type RunVoice, wordJournalFailure, wordScriptWarning } from './run-voice.js';
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
  readonly #runCalls: RunCalls;
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
  /** Drains that wait for the script to rest: a signal and `wf stop` may both have asked for one. */
  readonly #untilRest = new Set<() => void>();
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
        onProcess: (pid, call) => {
          this.#batch.commit();
          options.onProcess(pid, call);
        },
      },
      {
        tell: this.#voice.tell,
        onAttempt: ({ n, label, phase }, attempt) => {
          this.tally.execute(n);
          this.#voice.tellStarted(n, label, phase, attempt);
        },
        report: (n, usage) => this.#gate.report(n, usage),
      },
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
    this.#runCalls = createRunCalls(options, {
      tally: this.tally,
      voice: this.#voice,
      journal: this.#journal,
      batch: this.#batch,
      gate: this.#gate,
      dispatcher: this.#dispatcher,
      runner: this.#runner,
      steering: this.calls,
      kept: this.#kept,
      delivered: (kept) => this.#feeder?.delivered(kept),
      isEnding: () => this.#end !== undefined,
      finish: (end) => this.#finish(end),
    });
    this.#lines = sortCarried(options.carried, options.backend.madeUp, options.match);
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
    // Who cancels waits for no look at files.
    const isHurried = end.how === 'cancelled' || end.how === 'owner-lost';
    if (isHurried) this.#runner.stopLooking();
    await this.#runner.idle();
    if (!isHurried) await this.#runCalls.idle();
    await sandbox.gone;
    for (const call of this.tally.queued) this.#voice.tellUnstarted(call, { status: 'no-result' });
    this.#batch.commit();
    this.tally.close();
    return end;
  }

  /** Ends the run at once: nothing starts, agents are told to stop, and what they still print is no answer. */
  cancel(): void {
    this.#stop({ how: 'cancelled' });
  }

  /** Another process owns the lineage, and may make the same calls: nothing more is written. */
  loseOwnership(): void {
    this.#stop({ how: 'owner-lost' });
  }

  /** Nothing new starts; what runs may finish until `expired` resolves. */
  async drain(expired: Promise<void>): Promise<void> {
    this.#dispatcher.stop();
    this.calls.refuseRetries();
    await Promise.race([this.#dispatcher.idle().then(() => this.#rest()), expired]);
    // Marked before anybody is told to stop: should this process be killed now, the mark is on the disk.
    if (this.#dispatcher.running > 0 && this.#end === undefined) this.#o.onDrainExpired();
    this.#stop({ how: 'drained' });
  }

  /** Also where another end came first and still awaits what runs: that is stopped. */
  #stop(end: EngineEnd): void {
    this.#finish(end);
    this.#runner.abortAll();
    this.#runner.stopLooking();
  }

  /** The script has taken what it was given: it may have come to its end with it. */
  async #rest(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#o.sandbox.resting || this.#end !== undefined) return;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        stopWaiting();
        resolve();
      };
      // A script that is busy with itself is not waited for.
      const stopWaiting = this.#o.clock.after(REST_MS, go);
      this.#untilRest.add(go);
    });
  }

  #tellRest(): void {
    for (const go of this.#untilRest) go();
    this.#untilRest.clear();
  }

  get running(): number {
    return this.#dispatcher.running;
  }

  #start(): void {
    const { sandbox, argsJson, carried } = this.#o;
    const { answers, failures } = this.#lines;
    for (const line of failures) this.#runner.countFailure(line.key, line.path, line.nth);
    for (const line of answers) this.#kept.set(line.kept, line);
    sandbox.send(makeStartHead(this.#o, this.#lines), argsJson === undefined ? undefined : Buffer.from(argsJson));
    if (carried === undefined || answers.length === 0) return;
    this.#feeder = createAnswerFeeder(carried, answers, {
      send: (head, body) => sandbox.send(head, body),
      onUnreadable: (error) => this.#finish({ how: 'shared-failure', error: explainUnreadable(error) }),
    });
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
        return this.#tellRest();
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
        return this.#runCalls.dispatch(event);
      case 'h':
        return this.#runCalls.recordHit(event);
      case 'r':
        return this.#runCalls.refuse(event);
      case 'a':
        return this.#runCalls.abandon(event);
      case 'd':
        return this.#journal.delivered(event[1]);
      case 't':
        return this.#journal.writeReplayedTimer({ n: event[1], ms: event[2], path: event[3] });
      case 'T':
        return this.#timers.start(event);
      case 'x':
        return this.#timers.clear(event[1]);
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
    this.#tellRest();
    this.#resolve(end);
  }

  #tellScriptError([, how, slot, told]: UpEvent & { 0: 'e' }): void {
    const error = explainScriptError(told, this.#scripts.sources);
    if (told.ofCall !== true) this.tally.addScriptError(error);
    this.#voice.tell(tellScriptError(how, slot, error));
  }
}
