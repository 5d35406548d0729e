/**
 * One run of a generated workflow: real engine, real isolate, journal in memory, agents and clock of a model. The order
 * in which agents answer is drawn from a seed; a kill cuts the journal at a chosen byte, as SIGKILL does.
 */
import { type AgentBackend, BackendError, defineBackend } from '../../src/agents/backend.js';
import { Engine } from '../../src/engine/engine.js';
import type { EngineEnd, EngineOptions } from '../../src/engine/engine-options.js';
import type { RunEvent } from '../../src/engine/events.js';
import { type PlannedCall, planReplay } from '../../src/engine/plan.js';
import type { UpEvent } from '../../src/engine/sandbox/frames.js';
import { carryLines } from '../../src/journal/carry.js';
import { createMemoryStore, memorySource } from '../../src/journal/memory-store.js';
import type { JournalStore } from '../../src/journal/store.js';
import { loadScript } from '../../src/script/load-script.js';
import type { Clock } from '../../src/shared/clock.js';
import type { ReusableSandbox } from './reusable-sandbox.js';
import { createWatchdog } from './watchdog.js';

export interface ModelRun {
  end: EngineEnd;
  journal: Buffer;
  /** Answers that were given while the run lived, in order; each was paid for. */
  paid: string[];
  /** Prompts that were dispatched. */
  dispatched: string[];
  events: RunEvent[];
  /** What the sandbox told, in order, and how much of it up to the first rest. */
  told: UpEvent[];
  toldFirst: number;
  /** The sandbox came to its first rest, so that these are all. */
  rested: boolean;
  killed: boolean;
}

export interface ModelOptions {
  script: string;
  runId: string;
  source?: { journal: Buffer; runId: string } | undefined;
  random: () => number;
  /** The answer of a call; undefined: it fails. */
  answer(prompt: string, n: number): string | undefined;
  /** Bytes after which the journal is cut and everything stops. */
  killAt?: number | undefined;
  children?: Record<string, string>;
  concurrency?: number;
  match?: EngineOptions['match'] | undefined;
}

export async function runModel(sandbox: ReusableSandbox, options: ModelOptions): Promise<ModelRun> {
  const { random } = options;
  const dog = createWatchdog('the run');
  await dog.watch(sandbox.rest());
  const memory = createMemoryStore();
  const found: ModelRun = {
    end: { how: 'cancelled' },
    journal: Buffer.alloc(0),
    paid: [],
    dispatched: [],
    events: [],
    told: [],
    toldFirst: 0,
    rested: false,
    killed: false,
  };
  let copied = 0;
  let engine: Engine | undefined;
  const store: JournalStore = {
    append(lines) {
      if (found.killed) return true;
      const left = options.killAt === undefined ? Number.POSITIVE_INFINITY : copied + options.killAt - memory.size;
      if (lines.length > left) {
        memory.append(lines.subarray(0, Math.max(0, left)));
        found.killed = true;
        dog.note('killed');
        engine?.cancel();
        return true;
      }
      return memory.append(lines);
    },
    get size() {
      return memory.size;
    },
    unwritten: { lines: 0, reason: undefined },
    flush: async () => {},
    syncNow() {},
    close() {},
  };
  const carried =
    options.source === undefined
      ? undefined
      : carryLines(memorySource(options.source.journal), options.source.runId, memory);
  copied = memory.size;

  const pending: (() => void)[] = [];
  const timers: { at: number; fire: () => void }[] = [];
  let now = 1_700_000_000_000;
  const clock: Clock = {
    now: () => now,
    after(ms, callback) {
      const timer = { at: now + ms, fire: callback };
      timers.push(timer);
      return () => {
        const at = timers.indexOf(timer);
        if (at >= 0) timers.splice(at, 1);
      };
    },
  };
  /** When the sandbox waits, something happens: one agent answers (sometimes two at once), or the next timer fires. */
  const step = (): void => {
    dog.note(`step: ${pending.length} calls, ${timers.length} timers`);
    if (found.killed) return;
    let many = random() < 0.2 ? 2 : 1;
    while (many-- > 0) {
      const timer = timers.reduce<(typeof timers)[number] | undefined>(
        (a, b) => (a === undefined || b.at < a.at ? b : a),
        undefined,
      );
      if (pending.length > 0 && (timer === undefined || random() < 0.7)) {
        pending.splice(Math.floor(random() * pending.length), 1)[0]?.();
      } else if (timer !== undefined) {
        timers.splice(timers.indexOf(timer), 1);
        now = Math.max(now, timer.at);
        timer.fire();
      }
    }
  };
  const backend = defineBackend({
    name: 'model',
    run: (request, context) =>
      new Promise((resolve, reject) => {
        // Nobody hears of what happens after the kill.
        if (found.killed) return reject(new BackendError('cancelled', 'killed'));
        found.dispatched.push(request.prompt);
        const answer = (): void => {
          const text = options.answer(request.prompt, request.n);
          if (text === undefined) reject(new BackendError('failed', 'the model failed'));
          else {
            found.paid.push(text);
            resolve({ text });
          }
        };
        pending.push(answer);
        context.signal.addEventListener('abort', () => {
          if (pending.includes(answer)) pending.splice(pending.indexOf(answer), 1);
          reject(new BackendError('cancelled', 'told to stop'));
        });
      }),
  });
  const engineOptions = await makeOptions(options, { backend, clock, store, carried, sandbox: undefined as never });
  engineOptions.onEvent = (event) => found.events.push(event);
  engineOptions.sandbox = sandbox.open((message) => {
    dog.note(JSON.stringify(message).slice(0, 300));
    if (message.t !== 'events') return;
    found.told.push(...message.events);
    if (!found.rested) found.toldFirst = found.told.length;
    if (!message.rest) return;
    found.rested = true;
    // After the engine has taken the message and dispatched.
    setImmediate(() => setImmediate(step));
  });
  engine = new Engine(engineOptions);
  found.end = await dog.watch(engine.run());
  found.journal = memory.bytes();
  return found;
}

/** The plan of the same resume. */
export async function planModel(sandbox: ReusableSandbox, options: ModelOptions): Promise<PlannedCall[]> {
  const dog = createWatchdog('the plan');
  await dog.watch(sandbox.rest());
  const memory = createMemoryStore();
  const carried =
    options.source === undefined
      ? undefined
      : carryLines(memorySource(options.source.journal), options.source.runId, memory);
  const backend = defineBackend({ name: 'model', run: async () => ({ text: '' }) });
  const clock: Clock = { now: () => 0, after: () => () => {} };
  const full = await makeOptions(options, {
    backend,
    clock,
    store: memory,
    carried,
    sandbox: sandbox.open((message) => dog.note(JSON.stringify(message).slice(0, 300))),
  });
  return (await dog.watch(planReplay(full))).calls;
}

async function makeOptions(
  options: ModelOptions,
  parts: {
    backend: AgentBackend;
    clock: Clock;
    store: JournalStore;
    carried: EngineOptions['carried'];
    sandbox: EngineOptions['sandbox'];
  },
): Promise<EngineOptions> {
  return {
    runId: options.runId,
    root: options.runId,
    script: await loadScript(options.script, { filename: 'generated.js' }),
    argsJson: undefined,
    backend: { name: parts.backend.name, madeUp: false },
    openBackend: () => parts.backend,
    backendGiven: false,
    backendNamed: async () => 'There is no other backend.',
    definitions: new Map(),
    builtInTypes: [],
    anyAgentType: false,
    limits: {
      concurrency: options.concurrency ?? 1000,
      maxAgents: 1000,
      budgetTokens: null,
      turnTimeoutMs: 30_000,
      memoryMb: 128,
    },
    policy: { retries: 0, timeoutMs: undefined, idleTimeoutMs: undefined, graceMs: 10, maxAnswerBytes: 1 << 20 },
    match: options.match ?? 'content',
    model: undefined,
    resolveModel: (name) => name,
    mask: undefined,
    effort: undefined,
    permission: 'edit',
    startFolder: '/',
    projectRoot: '/',
    worktrees: () => {
      throw new Error('the model has no repository');
    },
    journal: parts.store,
    carried: parts.carried,
    sandbox: parts.sandbox,
    openWorkflow: async (reference) => {
      const id = 'name' in reference ? reference.name : reference.scriptPath;
      const text = options.children?.[id];
      if (text === undefined)
        return { ok: false, name: 'WorkflowError', code: 'WF_WORKFLOW_UNKNOWN', message: `no ${id}` };
      return { ok: true, script: await loadScript(text, { filename: `${id}.js` }), id, path: null };
    },
    hashDeps: async () => ({ digest: null, message: 'no files here' }),
    clock: parts.clock,
    onEvent: () => {},
    isOwner: () => true,
    onDrainExpired: () => {},
    onProcess: () => {},
    onProcessEnd: () => {},
  };
}
