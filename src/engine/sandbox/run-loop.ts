/**
 * The loop of a run: which answer is delivered next. One completion a turn, always.
 *
 * 1. A call whose own line is a recorded answer is a hit.
 * 2. While hits (and recorded timers) are open only they are delivered, the lowest recorded place first.
 * 3. At rest each open call that is no hit takes, in call order, an unused answer of its key. If any did: back to 2.
 * 4. Only then are calls dispatched, and one live outcome is delivered; back to 2.
 */
import { callKey } from '../../journal/key.js';
import type { AnswerWindow } from './answer-window.js';
import { type AgentTypeTable, type CallOptions, checkCallOptions, keyOptionsOf } from './call-options.js';
import type { DeliveredItem, SandboxError, UpMessage } from './frames.js';
import type { HostCall, IsolateHost, TurnEnd } from './isolate-host.js';
import { createDueQueue, type OpenAgent, type OpenTimer } from './open-calls.js';
import type { Cause } from './prelude/errors.js';
import type { ReplayIndex } from './replay-index.js';
import type { UpStream } from './up-stream.js';

export interface LoopPorts {
  up: UpStream;
  index: ReplayIndex;
  window: AnswerWindow;
  types: AgentTypeTable;
  match: 'content' | 'prefix';
  turnTimeoutMs: number;
  memoryMb: number;
  /** Blocks for the next frame; outcomes are put into `inbox`. False at the end of the stream. */
  receive(): boolean;
  inbox: { item: DeliveredItem; json: string }[];
  /** Blocks for the script of a child workflow. */
  openChild(reference: string, args: string, path: string): IsolateHost | Cause;
  /** Tells whether a recorded answer fits the call's schema. */
  fits(options: CallOptions | undefined, json: string): boolean;
}

interface Immediate {
  host: IsolateHost;
  local: number;
  ok: boolean;
  json: string | undefined;
}

/** Runs the script to its end and returns how it ended; undefined when the supervisor has gone. */
export function runLoop(main: IsolateHost, ports: LoopPorts): (UpMessage & { t: 'end' }) | undefined {
  const { up, index, window, inbox } = ports;
  const due = createDueQueue();
  const immediate: Immediate[] = [];
  const open = new Map<number, OpenAgent | OpenTimer>();
  const nths = new Map<string, number>();
  const parents = new Map<IsolateHost, { host: IsolateHost; local: number }>();
  const timerIds = new Map<string, OpenTimer>();
  let waiting: OpenAgent[] = [];
  let calls = 0;
  let ids = 0;
  let sawLive = false;
  let prefixBroken = false;
  let end: (UpMessage & { t: 'end' }) | undefined;

  const fail = (host: IsolateHost, code: string, message: string, stack = '', name = 'Error'): void => {
    finish(host, { t: 'end', kind: 'fail', error: { code, name, message, stack, filename: host.filename } });
  };

  /** A workflow has settled. The run's own script ends the run; a child answers its parent in the very next turn. */
  function finish(host: IsolateHost, how: UpMessage & { t: 'end' }): void {
    if (host.settled) return;
    host.settled = true;
    for (const call of open.values()) {
      if (call.host !== host && !(host === main)) continue;
      if (call.done) continue;
      call.done = true;
      open.delete(call.kind === 'agent' ? call.n : call.id);
      if (call.kind === 'timer') up.add(['x', call.id]);
      // When the run's own script failed, its open calls are unfinished, not abandoned.
      else if (host !== main || how.kind === 'done') up.add(['a', call.n]);
    }
    if (host === main) {
      end = how;
      return;
    }
    const parent = parents.get(host);
    parents.delete(host);
    host.dispose();
    if (parent === undefined) return;
    if (how.kind === 'done') {
      immediate.push({ ...parent, ok: true, json: how.hasResult ? (how.result as string) : undefined });
    } else immediate.push({ ...parent, ok: false, json: childCause(how.error) });
  }

  function afterTurn(host: IsolateHost, turn: TurnEnd): void {
    if (turn.kind === 'memory') {
      fail(host, 'WF_SCRIPT_MEMORY', `The script needed more than ${ports.memoryMb} MB of memory.`);
      return;
    }
    if (turn.kind === 'broken') {
      fail(host, 'WF_SCRIPT_SYNTAX', turn.message, turn.stack, 'SyntaxError');
      return;
    }
    for (const call of host.takeCalls()) takeCall(host, call);
    if (turn.kind === 'timeout') {
      fail(
        host,
        'WF_TURN_TIMEOUT',
        `The script ran for more than ${ports.turnTimeoutMs} ms without waiting.`,
        turn.stack,
      );
    } else if (turn.kind === 'stray' && !host.settled) {
      up.add(['w', 'WF_STRAY_REJECTION', `A promise was rejected and nothing handled it: ${turn.message}`]);
    }
    up.flushIfDue();
  }

  function takeCall(host: IsolateHost, call: HostCall): void {
    // What a workflow starts after its end is not started.
    if (host.settled && call.id !== 0) return;
    switch (call.kind) {
      case 'agent':
        return takeAgent(host, call);
      case 'timer':
        return takeTimer(host, call);
      case 'clear': {
        const timer = timerIds.get(`${host.path}\n${call.a}`);
        if (timer === undefined || timer.done) return;
        timer.done = true;
        host.open--;
        open.delete(timer.id);
        up.add(['x', timer.id]);
        return;
      }
      case 'workflow': {
        host.open++;
        const child = ports.openChild(call.a, call.b, call.c);
        if ('code' in child) {
          immediate.push({ host, local: call.id, ok: false, json: JSON.stringify({ ...child, tell: 'throw' }) });
          return;
        }
        parents.set(child, { host, local: call.id });
        starting.push(child);
        return;
      }
      case 'log':
        return up.add(['l', call.b, call.a]);
      case 'phase':
        return up.add(['p', call.a]);
      case 'unknown-option':
        return up.add(['w', 'WF_UNKNOWN_OPTION', call.a]);
      case 'slot-failed':
        return up.add([
          'w',
          'WF_SLOT_FAILED',
          JSON.stringify({ slot: call.a, error: JSON.parse(call.b), file: host.filename }),
        ]);
      case 'done':
        return finish(host, { t: 'end', kind: 'done', hasResult: call.b === 'json', result: call.a });
      case 'not-json':
        return fail(
          host,
          'WF_RESULT_NOT_JSON',
          `The workflow returned a value that JSON does not have: ${call.a} is a ${call.b}.`,
        );
      case 'fail': {
        const error = JSON.parse(call.a) as Omit<SandboxError, 'filename'>;
        return finish(host, {
          t: 'end',
          kind: 'fail',
          error: { ...error, filename: host.filename, code: error.code || 'WF_SCRIPT_THREW' },
        });
      }
    }
  }
  const starting: IsolateHost[] = [];

  function takeAgent(host: IsolateHost, call: HostCall): void {
    const n = ++calls;
    host.open++;
    const [prompt, label, phase, optionsText, path] = [call.a, call.b, call.c, call.d, call.e];
    let options: CallOptions | undefined;
    if (optionsText !== '') {
      const checked = checkCallOptions(optionsText, ports.types);
      if ('refused' in checked) {
        up.add(['r', n, label, phase, checked.refused.code, checked.refused.message]);
        immediate.push({
          host,
          local: call.id,
          ok: false,
          json: JSON.stringify({ ...checked.refused, tell: 'throw' }),
        });
        return;
      }
      options = checked.options;
    }
    const key = callKey(JSON.stringify(prompt), options === undefined ? undefined : keyOptionsOf(options));
    const place = `${key}${path}`;
    const nth = nths.get(place) ?? 0;
    nths.set(place, nth + 1);
    const agent: OpenAgent = {
      kind: 'agent',
      host,
      local: call.id,
      n,
      key,
      path,
      nth,
      label,
      phase,
      prompt,
      options,
      answer: undefined,
      dispatched: false,
      done: false,
    };
    open.set(n, agent);
    if (!index.empty && options?.cache !== false && !prefixBroken) {
      agent.answer = index.takeOwn(key, path, nth);
      if (agent.answer === undefined && ports.match === 'prefix') {
        agent.answer = index.takeAny(key, path);
        if (agent.answer === undefined) prefixBroken = true;
      }
    }
    if (agent.answer !== undefined) due.push(agent.answer.kept, agent);
    else waiting.push(agent);
  }

  function takeTimer(host: IsolateHost, call: HostCall): void {
    host.open++;
    const timer: OpenTimer = {
      kind: 'timer',
      host,
      local: call.id,
      id: -++ids,
      n: Number(call.b),
      ms: Number(call.a),
      path: host.path,
      done: false,
    };
    open.set(timer.id, timer);
    timerIds.set(`${host.path}\n${call.id}`, timer);
    const place = sawLive ? undefined : index.takeTimer(timer.path, timer.n, timer.ms);
    if (place !== undefined) due.push(place, timer);
    else up.add(['T', timer.id, timer.n, timer.ms, timer.path]);
  }

  /** Delivers one recorded answer or timer; false when the answer does not fit and the call goes live. */
  function deliverDue(call: OpenAgent | OpenTimer): void {
    if (call.done) return;
    if (call.kind === 'timer') {
      settle(call);
      up.add(['t', call.n, call.ms, call.path]);
      afterTurn(call.host, call.host.deliver(call.local, true, undefined, 0));
      return;
    }
    const answer = call.answer as NonNullable<OpenAgent['answer']>;
    const json = window.take(answer.kept);
    if (!ports.fits(call.options, json)) {
      up.add([
        'w',
        'WF_HIT_MISFIT',
        `The recorded answer of "${call.label}" does not fit the schema of the call; it is asked again.`,
      ]);
      call.answer = undefined;
      waiting.push(call);
      return;
    }
    settle(call);
    up.add(['h', call.n, call.key, call.path, call.nth, call.label, call.phase, answer.kept]);
    if (call.host !== main) main.addTokens(answer.tokens);
    afterTurn(call.host, call.host.deliver(call.local, true, json, answer.tokens));
  }

  function settle(call: OpenAgent | OpenTimer): void {
    call.done = true;
    call.host.open--;
    open.delete(call.kind === 'agent' ? call.n : call.id);
  }

  function deliverLive({ item, json }: { item: DeliveredItem; json: string }): void {
    const [id, ok, , tokens] = item;
    const call = open.get(id);
    if (call === undefined || call.done) return;
    settle(call);
    sawLive = true;
    up.add(['d', id]);
    if (call.host !== main) main.addTokens(tokens);
    afterTurn(
      call.host,
      call.host.deliver(call.local, ok === 1, ok === 1 && call.kind === 'timer' ? undefined : json, tokens),
    );
  }

  /** Rule 3. */
  function matchAtRest(): boolean {
    if (index.empty || ports.match === 'prefix') return false;
    const left: OpenAgent[] = [];
    for (const call of waiting) {
      if (call.done) continue;
      const answer = call.options?.cache === false ? undefined : index.takeAny(call.key, call.path);
      if (answer === undefined) left.push(call);
      else {
        call.answer = answer;
        due.push(answer.kept, call);
      }
    }
    waiting = left;
    return due.size > 0;
  }

  function dispatch(): void {
    for (const call of waiting) {
      if (call.done) continue;
      call.dispatched = true;
      up.add(['c', call.n, call.key, call.path, call.nth, call.label, call.phase, call.prompt, call.options ?? null]);
      call.prompt = '';
      up.flushIfDue();
    }
    waiting = [];
  }

  let read = 0;
  const nextInbox = (): (typeof inbox)[number] | undefined => {
    if (read === inbox.length) {
      inbox.length = 0;
      read = 0;
      return undefined;
    }
    return inbox[read++];
  };

  /** A workflow that waits for nothing that could settle it never ends. */
  function findDeadlock(): boolean {
    for (const host of [...parents.keys(), main]) {
      if (host.settled || host.open > 0) continue;
      fail(host, 'WF_DEADLOCK', 'The script waits for a promise that nothing can settle.');
      return true;
    }
    return false;
  }

  afterTurn(main, main.start());
  while (end === undefined) {
    const child = starting.shift();
    if (child !== undefined) {
      afterTurn(child, child.start());
      continue;
    }
    const now = immediate.shift();
    if (now !== undefined) {
      now.host.open--;
      if (!now.host.settled) afterTurn(now.host, now.host.deliver(now.local, now.ok, now.json, 0));
      continue;
    }
    const recorded = due.pop();
    if (recorded !== undefined) {
      deliverDue(recorded);
      continue;
    }
    if (waiting.length > 0) {
      if (matchAtRest()) continue;
      dispatch();
    }
    const live = nextInbox();
    if (live !== undefined) {
      deliverLive(live);
      continue;
    }
    if (findDeadlock()) continue;
    up.flush(true);
    if (!ports.receive()) return undefined;
  }
  up.flush(false);
  return end;
}

/** A child's error for its parent: message and place, no source text. */
function childCause(error: SandboxError): string {
  const cause: Cause & { tell: 'throw' } = {
    name: error.name,
    code: error.code,
    message: error.message,
    tell: 'throw',
  };
  return JSON.stringify(cause);
}
