/** Takes what a workflow queued in its last turn: calls, timers, children, and what it has to say. */
import { resolve } from 'node:path';
import { callKey } from '../../journal/key.js';
import { wayInside } from '../../shared/way-inside.js';
import { type CallOptions, checkCallOptions } from './call-options.js';
import type { HostCall, IsolateHost, TurnEnd } from './isolate-host.js';
import { endWorkflow, failWorkflow, type LoopState, settle } from './loop-state.js';
import type { OpenAgent, OpenTimer } from './open-calls.js';
import type { CallPlace } from './replay-index.js';
import type { Cause } from './prelude/errors.js';
import { readError } from './told-errors.js';

/** Works off the end of a turn. */
export function afterTurn(state: LoopState, host: IsolateHost, turn: TurnEnd): void {
  if (turn.kind === 'memory') {
    failWorkflow(state, host, {
      code: 'WF_SCRIPT_MEMORY',
      message: `The script needed more than ${state.memoryMb} MB of memory. Keep less of the answers, or raise --memory.`,
    });
    return;
  }
  if (turn.kind === 'broken') {
    failWorkflow(state, host, {
      code: 'WF_SCRIPT_SYNTAX',
      name: 'SyntaxError',
      message: turn.message,
      stack: turn.stack,
    });
    return;
  }
  for (const call of host.takeCalls()) takeCall(state, host, call);
  if (turn.kind === 'timeout') {
    const message = `The script ran for more than ${state.turnTimeoutMs} ms without waiting. Look for a loop without an end or an await, or raise --turn-timeout.`;
    failWorkflow(state, host, { code: 'WF_TURN_TIMEOUT', message, stack: turn.stack });
  } else if (turn.kind === 'stray' && !host.settled) {
    const { name, message, stack } = turn;
    const { filename } = host;
    state.up.add(['e', 'rejection', '', { code: 'WF_SCRIPT_THREW', name, message, stack, filename }]);
  }
  state.up.flushIfDue();
}

function takeCall(state: LoopState, host: IsolateHost, call: HostCall): void {
  // What a workflow starts after its end is not started.
  if (host.settled && call.id !== 0) return;
  const { up } = state;
  switch (call.kind) {
    case 'agent':
      return takeAgent(state, host, call);
    case 'timer':
      return takeTimer(state, host, call);
    case 'clear':
      return clearTimer(state, host, call.a);
    case 'workflow':
      return takeChild(state, host, call);
    case 'log':
      return up.add(['l', call.b, call.a]);
    case 'phase':
      return up.add(['p', call.a]);
    case 'unknown-option':
      if (state.warnedOptions.has(call.a)) return;
      state.warnedOptions.add(call.a);
      return up.add(['w', 'WF_UNKNOWN_OPTION', call.a]);
    case 'slot-failed':
      return up.add(['e', 'slot', call.a, readError(state, host, call.b)]);
    case 'timer-threw':
      return up.add(['e', 'timer', '', readError(state, host, call.a)]);
    case 'done':
      return endWorkflow(state, host, { t: 'end', kind: 'done', hasResult: call.b === 'json', result: call.a });
    case 'not-json':
      return failWorkflow(state, host, {
        code: 'WF_RESULT_NOT_JSON',
        message: `The workflow returned a value that JSON does not have: ${call.a} is ${call.b}. Return plain data.`,
      });
    case 'fail':
      return failWorkflow(state, host, readError(state, host, call.a));
  }
}

function takeAgent(state: LoopState, host: IsolateHost, call: HostCall): void {
  const n = ++state.calls;
  host.open++;
  const { id, a: promptText, b: label, c: phase, d: optionsText, e: path } = call;
  let options: CallOptions | undefined;
  if (optionsText !== '') {
    const checked = checkCallOptions(optionsText, state.types);
    const refused = 'refused' in checked ? checked.refused : readDeps(state, checked.options);
    if (refused !== undefined) {
      state.up.add(['r', n, label, phase, refused.code, refused.message]);
      state.immediate.push({ host, local: id, ok: false, json: JSON.stringify({ ...refused, tell: 'throw' }) });
      return;
    }
    if ('options' in checked) options = checked.options;
  }
  const { key, promptJson: prompt } = callKey(promptText, options);
  const place = state.index.placeOf(key, path);
  const nth = place.calls++;
  const agent: OpenAgent = {
    kind: 'agent',
    host,
    local: id,
    n,
    key,
    path,
    nth,
    label,
    phase,
    prompt,
    options,
    answer: undefined,
    done: false,
  };
  state.open.add(n, agent);
  agent.answer = findOwnAnswer(state, agent, place);
  if (agent.answer === undefined) state.waiting.push(agent);
  else state.due.push(agent.answer.kept, agent);
}

/** The same folder is the same key, however a script writes it and wherever the run was started. */
function relativeToRoot({ root, start }: LoopState['folders'], cwd: string): string {
  const folder = resolve(start, cwd);
  const way = wayInside(root, folder) ?? folder;
  return way === '' ? '.' : way;
}

/** Turns the patterns of `deps` into the digest of their files, which is part of the key. */
function readDeps(state: LoopState, options: CallOptions): Cause | undefined {
  if (options.cwd !== undefined) options.cwd = relativeToRoot(state.folders, options.cwd);
  const patterns = options.deps as unknown as string[] | undefined;
  if (patterns === undefined) return undefined;
  const found = state.hashDeps(patterns, options.cwd ?? null);
  if (found.digest === null) return { name: 'Error', code: 'WF_AGENT_OPTIONS', message: `agent(): ${found.message}` };
  options.depsPatterns = patterns;
  options.deps = found.digest;
  if (found.files !== undefined) options.depsFiles = found.files;
  return undefined;
}

function findOwnAnswer(
  state: LoopState,
  { key, path, nth, options }: OpenAgent,
  place: CallPlace,
): OpenAgent['answer'] {
  const { index } = state;
  if (index.empty || state.prefixBroken) return undefined;
  if (options?.cache === false) {
    state.prefixBroken = state.match === 'prefix';
    return undefined;
  }
  const own = index.takeOwn(place, nth);
  if (own !== undefined || state.match === 'content') return own;
  const other = index.takeAny(key, path);
  if (other === undefined) state.prefixBroken = true;
  return other;
}

function takeTimer(state: LoopState, host: IsolateHost, call: HostCall): void {
  host.open++;
  const { path } = host;
  const timer: OpenTimer = {
    kind: 'timer',
    host,
    local: call.id,
    id: -++state.timerIds,
    n: Number(call.b),
    ms: Number(call.a),
    path,
    done: false,
  };
  state.open.add(timer.id, timer);
  state.timers.set(`${path}\n${call.id}`, timer);
  const place = state.sawLive ? undefined : state.index.takeTimer(path, timer.n, timer.ms);
  if (place !== undefined) state.due.push(place, timer);
  else state.up.add(['T', timer.id, timer.n, timer.ms, path]);
}

function clearTimer(state: LoopState, host: IsolateHost, local: string): void {
  const timer = state.timers.get(`${host.path}\n${local}`);
  if (timer === undefined || timer.done) return;
  settle(state, timer);
  state.up.add(['x', timer.id]);
}

function takeChild(state: LoopState, host: IsolateHost, call: HostCall): void {
  host.open++;
  const child = state.openChild(call.a, call.b, call.c, state.spentTokens);
  if ('code' in child) {
    state.immediate.push({ host, local: call.id, ok: false, json: JSON.stringify({ ...child, tell: 'throw' }) });
    return;
  }
  state.parents.set(child, { host, local: call.id });
  state.up.add(['l', 'info', `${child.title} started`]);
  state.starting.push(child);
}
