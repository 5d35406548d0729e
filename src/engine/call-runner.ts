/** Makes the request of one call, runs it against its backend, and can stop it. */
import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import type { AgentBackend, AgentEvent, AgentRequest } from '../agents/backend.js';
import { type CallOutcome, type EarlierAttempts, executeCall } from '../agents/execute-call.js';
import { addCost } from '../agents/price-usage.js';
import { createRateGate, type RateGate } from '../agents/rate-gate.js';
import type { CallUsage } from '../shared/outcome.js';
import { wayInside } from '../shared/way-inside.js';
import { createCallIsolation, needsWorktree } from './call-isolation.js';
import type { EngineOptions, LiveCall } from './engine-options.js';
import { refuseAllCalls, refuseBackend, refuseCall, wordAlias } from './refuse-call.js';
import type { RunVoice } from './run-voice.js';
import { createUnenforcedVoice } from './tell-unenforced.js';

export interface CallRunner {
  execute(call: LiveCall): Promise<CallOutcome>;
  abort(n: number): void;
  abortAll(): void;
  /** Ends the present attempt, or the wait for the next one, and starts another at once. False when the call is not running. */
  retry(n: number): boolean;
  /** What waits for another attempt ends without a result; attempts under way may finish. */
  halt(): void;
  /** Whoever ends the run waits for no look at files that only a warning would come from. */
  stopLooking(): void;
  /** A recorded failure of that call: its next attempt is new work for the backend. */
  countFailure(key: string, path: string, nth: number): void;
  /** Resolves when nothing of ended calls is left to be cleared away. */
  idle(): Promise<void>;
}

export interface CallRunnerPorts {
  tell: RunVoice['tell'];
  /** A call is handed to its backend, for the first time or again. */
  onAttempt(call: LiveCall, attempt: number): void;
  /** What a call under way has used so far. */
  report(n: number, usage: CallUsage): void;
}

export function createCallRunner(options: EngineOptions, { tell, onAttempt, report }: CallRunnerPorts): CallRunner {
  const controllers = new Map<number, AbortController>();
  /** Calls that were stopped only to be started again. */
  const again = new Set<number>();
  /** Calls whose outcome is decided, and that are not over yet. */
  const ending = new Set<number>();
  const noMoreAttempts = new AbortController();
  const noMoreLooks = new AbortController();
  const gates = new Map<string, RateGate>();
  const failures = new Map<string, number>();
  const root = `[${JSON.stringify(options.root)},`;
  const identity = (key: string, path: string, nth: number): string => `${key}${nth}\n${path}`;

  /** The same over resumes and retries while a call has no result; another one after a recorded failure. */
  const makeCallKey = (call: LiveCall): string => {
    const generation =
      call.options?.cache === false
        ? options.runId
        : String(failures.get(identity(call.key, call.path, call.nth)) ?? 0);
    // JSON text of all that, by hand: it is made for each call.
    return hash('sha256', `${root}"${call.key}",${JSON.stringify(call.path)},${call.nth},"${generation}"]`, 'hex');
  };

  /** The model of a call as it was named, and as this backend knows it. */
  const findModel = (call: LiveCall, backend: AgentBackend): { named?: string; model?: string | undefined } => {
    const type = call.options?.agentType;
    const named =
      call.options?.model ?? (type === undefined ? undefined : options.definitions.get(type)?.model) ?? options.model;
    if (named === undefined) return {};
    return { named, model: options.resolveModel(named, backend) };
  };

  const makeRequest = (call: LiveCall, cwd: string, model: string | undefined): AgentRequest => {
    const given = call.options;
    const agentType = given?.agentType;
    const agent = agentType === undefined ? undefined : options.definitions.get(agentType);
    return {
      runId: options.runId,
      callKey: makeCallKey(call),
      key: call.key,
      n: call.n,
      nth: call.nth,
      label: call.label,
      phase: call.phase ?? undefined,
      prompt: call.prompt,
      schema: given?.schema as object | undefined,
      model,
      effort: given?.effort ?? agent?.effort ?? options.effort,
      agent,
      agentType,
      cwd,
      permission: options.permission,
      tools: given?.tools ?? agent?.tools,
      disallowedTools: given?.disallowedTools ?? agent?.disallowedTools,
      attempt: 1,
      session: undefined,
    };
  };

  const onEvent = (call: LiveCall, model: string | undefined, event: AgentEvent): void => {
    if (event.type === 'warning') warnOnce(event.text);
    else if (event.type === 'progress') tell({ type: 'call.progress', n: call.n, label: call.label, text: event.text });
    else if (event.type === 'tool' && event.state === 'start') {
      tell({ type: 'call.progress', n: call.n, label: call.label, text: `tool ${event.name}` });
    } else if (event.type === 'usage') report(call.n, addCost(event.usage, model, options.prices));
  };

  /** A backend that was chosen for the run beats the one that a call names; made-up answers never mix with real ones. */
  const chooseBackend = (name: string | undefined): AgentBackend | Promise<AgentBackend | string> =>
    name === undefined || options.backendGiven || options.backend.madeUp
      ? options.openBackend()
      : options.backendNamed(name);

  const { warnOnce, tellUnenforced } = createUnenforcedVoice(options.definitions, tell);

  const isolation = createCallIsolation(
    options,
    { noMoreAttempts: noMoreAttempts.signal, noMoreLooks: noMoreLooks.signal },
    tell,
  );
  const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(options, ms, signal);

  const gateOf = (backend: AgentBackend): RateGate => {
    const known = gates.get(backend.name);
    if (known !== undefined) return known;
    const gate = createRateGate(
      // Not the clock of the wall, which may be set back.
      { now: () => performance.now(), sleep: pause },
      Math.random,
      options.limits.concurrency,
    );
    gates.set(backend.name, gate);
    return gate;
  };

  return {
    async execute(call) {
      const given = call.options;
      // Before anything is awaited: whoever stops the call from now on must find it.
      const controller = new AbortController();
      controllers.set(call.n, controller);
      const chosen = chooseBackend(given?.backend);
      const backend =
        chosen instanceof Promise ? await chosen.catch((error) => refuseBackend(call.label, error)) : chosen;
      if (controller.signal.aborted && !again.has(call.n)) return { kind: 'cancelled', usage: undefined, attempts: 0 };
      if (typeof backend === 'string') return refuseCall('WF_BACKEND_UNKNOWN', backend);
      if ('kind' in backend) return backend;
      tellUnenforced(backend, call);
      call.backend = { name: backend.name, madeUp: backend.capabilities.madeUp === true };
      const cwd = resolveInside(options, given?.cwd);
      if (cwd === undefined) return refuseCall('WF_AGENT_OPTIONS', 'agent(): option cwd leaves the project.');
      const { named, model } = findModel(call, backend);
      if (named !== undefined && model === undefined) return refuseAllCalls(wordAlias(named, backend.name));
      const request = makeRequest(call, cwd, model);
      const { retries, timeoutMs, idleTimeoutMs, graceMs, maxAnswerBytes } = options.policy;
      const policy = {
        retries: given?.retries ?? retries,
        timeoutMs: given?.timeoutMs ?? timeoutMs,
        idleTimeoutMs: given?.stallMs ?? idleTimeoutMs ?? backend.capabilities.idleTimeoutMs,
        graceMs,
        maxAnswerBytes,
      };
      const { n, label } = call;
      const context = {
        signal: controller.signal,
        onEvent: (event: AgentEvent) => onEvent(call, model, event),
        onAttempt: (attempt: number) => onAttempt(call, attempt),
        onRetry: (kind: string, delayMs: number, attempt: number) =>
          tell({ type: 'call.retry', n, label, kind, delayMs, attempt }),
        onEnding: () => void ending.add(n),
        onProcess: (pid: number) => options.onProcess(pid, `#${n} ${label}`),
        onProcessEnd: options.onProcessEnd,
        sleep: pause,
        gate: gateOf(backend),
        noMoreAttempts: noMoreAttempts.signal,
        mask: options.mask,
      };
      const isolated = needsWorktree(backend, call) ? await isolation.open(backend, call) : undefined;
      const asked = isolated?.backend ?? backend;
      let earlier: EarlierAttempts | undefined;
      for (;;) {
        const outcome = await executeCall(asked, request, policy, context, earlier);
        ending.delete(n);
        if (!again.delete(n) || outcome.kind !== 'cancelled') {
          controllers.delete(n);
          if (outcome.usage !== undefined) {
            const model = outcome.kind === 'ok' ? outcome.model : undefined;
            outcome.usage = addCost(outcome.usage, model ?? request.model, options.prices);
          }
          const worktrees = await isolated?.finish();
          if (worktrees !== undefined && worktrees.length > 0) outcome.worktrees = worktrees;
          return outcome;
        }
        earlier = outcome;
        const next = new AbortController();
        controllers.set(n, next);
        context.signal = next.signal;
        context.onRetry('requested', 0, outcome.attempts + 1);
      }
    },
    abort(n) {
      again.delete(n);
      controllers.get(n)?.abort();
    },
    abortAll() {
      again.clear();
      for (const controller of controllers.values()) controller.abort();
    },
    retry(n) {
      const controller = controllers.get(n);
      if (controller === undefined || ((controller.signal.aborted || ending.has(n)) && !again.has(n))) return false;
      again.add(n);
      controller.abort();
      return true;
    },
    halt: () => noMoreAttempts.abort(),
    stopLooking: () => noMoreLooks.abort(),
    countFailure(key, path, nth) {
      const id = identity(key, path, nth);
      failures.set(id, (failures.get(id) ?? 0) + 1);
    },
    idle: isolation.idle,
  };
}

function resolveInside(options: EngineOptions, cwd: string | undefined): string | undefined {
  if (cwd === undefined) return options.startFolder;
  // The sandbox has made it relative to the project root.
  const folder = resolve(options.projectRoot, cwd);
  return wayInside(options.projectRoot, folder) === undefined ? undefined : folder;
}

function sleep(options: EngineOptions, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = options.clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
