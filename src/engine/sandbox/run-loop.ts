/**
 * The loop of a run: which answer is delivered next. One completion a turn, always.
 *
 * 1. A call whose own line is a recorded answer is a hit.
 * 2. While hits (and recorded timers) are open only they are delivered, the lowest recorded place first.
 * 3. At rest each open call that is no hit takes, in call order, an unused answer of its key. If any did: back to 2.
 * 4. Only then are calls dispatched, and one live outcome is delivered; back to 2.
 */
import type { IsolateHost } from './isolate-host.js';
import {
  createLoopState,
  failWorkflow,
  type LiveOutcome,
  type LoopEnd,
  type LoopPorts,
  type LoopState,
  settle,
} from './loop-state.js';
import type { OpenAgent, OpenTimer } from './open-calls.js';
import { afterTurn } from './take-calls.js';

/** Runs the script to its end and returns how it ended; undefined when the supervisor has gone. */
export function runLoop(main: IsolateHost, ports: LoopPorts): LoopEnd | undefined {
  const state = createLoopState(main, ports);
  const nextLive = createReader(ports.inbox);
  afterTurn(state, main, main.start());
  while (state.end === undefined) {
    if (deliverAtOnce(state)) continue;
    const recorded = state.due.pop();
    if (recorded !== undefined) {
      deliverRecorded(state, recorded);
      continue;
    }
    if (state.waiting.length > 0) {
      if (matchAtRest(state)) continue;
      dispatch(state);
    }
    const live = nextLive();
    if (live !== undefined) {
      state.up.share(state.open.size);
      deliverLive(state, live);
      continue;
    }
    if (findDeadlock(state)) continue;
    state.up.flush(true);
    if (!state.receive()) return undefined;
  }
  state.up.flush(false);
  return state.end;
}

/** First turns of children, refusals, and ends of children: none of them is an outcome. */
function deliverAtOnce(state: LoopState): boolean {
  const child = state.starting.shift();
  if (child !== undefined) {
    afterTurn(state, child, child.start());
    return true;
  }
  const now = state.immediate.shift();
  if (now === undefined) return false;
  now.host.open--;
  if (!now.host.settled) afterTurn(state, now.host, now.host.deliver(now.local, now.ok, now.json, 0));
  return true;
}

function deliverRecorded(state: LoopState, call: OpenAgent | OpenTimer): void {
  if (call.done) return;
  const { up } = state;
  if (call.kind === 'timer') {
    settle(state, call);
    up.add(['t', call.n, call.ms, call.path]);
    return afterTurn(state, call.host, call.host.deliver(call.local, true, undefined, 0));
  }
  const { kept, tokens, lastTry } = call.answer as NonNullable<OpenAgent['answer']>;
  const json = state.window.take(kept);
  if (!state.fits(call.options, json)) return askAgain(state, call, 'does not fit the schema of the call');
  const turn = call.host.deliver(call.local, true, json, tokens, lastTry);
  if (turn.kind === 'not-json') return askAgain(state, call, 'is not JSON');
  settle(state, call);
  up.addText(`["h",${placeText(call)},${kept}]`);
  shareTokens(state, call.host, tokens);
  afterTurn(state, call.host, turn);
}

/** A recorded answer that cannot be given to its call. */
function askAgain(state: LoopState, call: OpenAgent, why: string): void {
  state.up.add(['w', 'WF_HIT_MISFIT', `The recorded answer of "${call.label}" ${why}; it is asked again.`]);
  call.answer = undefined;
  state.prefixBroken = state.match === 'prefix';
  state.waiting.push(call);
}

function deliverLive(state: LoopState, { item, json }: LiveOutcome): void {
  const [id, ok, , tokens, lastTry] = item;
  const call = state.open.get(id);
  if (call === undefined || call.done) return;
  settle(state, call);
  state.sawLive = true;
  state.up.addText(`["d",${id}]`);
  shareTokens(state, call.host, tokens);
  const text = call.kind === 'timer' ? undefined : json;
  afterTurn(state, call.host, call.host.deliver(call.local, ok === 1, text, tokens, lastTry === 1));
}

/** The budget is one for the run: every workflow sees what any of them was given. */
function shareTokens(state: LoopState, host: IsolateHost, tokens: number): void {
  if (tokens === 0) return;
  state.spentTokens += tokens;
  if (host !== state.main) state.main.addTokens(tokens);
  if (state.parents.size === 0) return;
  for (const child of state.parents.keys()) if (child !== host) child.addTokens(tokens);
}

/** Rule 3. */
function matchAtRest(state: LoopState): boolean {
  const { index, due } = state;
  if (index.empty || state.match === 'prefix') return false;
  const left: OpenAgent[] = [];
  for (const call of state.waiting) {
    if (call.done) continue;
    const answer = call.options?.cache === false ? undefined : index.takeAny(call.key, call.path);
    if (answer === undefined) left.push(call);
    else {
      call.answer = answer;
      due.push(answer.kept, call);
    }
  }
  state.waiting = left;
  return due.size > 0;
}

function dispatch(state: LoopState): void {
  for (const call of state.waiting) {
    if (call.done) continue;
    const { prompt, options } = call;
    state.up.addCall(`["c",${placeText(call)},${prompt},${options === undefined ? 'null' : JSON.stringify(options)}]`);
    state.up.flushIfDue();
    call.prompt = '';
  }
  state.waiting = [];
}

/** By hand, as the loop spends much of its time on telling; most paths and phases are empty. */
function placeText({ n, key, path, nth, label, phase }: OpenAgent): string {
  return `${n},"${key}",${textJson(path)},${nth},${JSON.stringify(label)},${textJson(phase)}`;
}

const textJson = (text: string): string => (text === '' ? '""' : JSON.stringify(text));

/** A workflow that waits for nothing that could settle it never ends. */
function findDeadlock(state: LoopState): boolean {
  for (const host of [...state.parents.keys(), state.main]) {
    if (host.settled || host.open > 0) continue;
    failWorkflow(state, host, {
      code: 'WF_DEADLOCK',
      message: 'The script waits for a promise that nothing can settle. Look for one that nobody resolves.',
    });
    return true;
  }
  return false;
}

/** Takes from the front without moving the rest: a wide fan-out fills the inbox with thousands. */
function createReader(inbox: LiveOutcome[]): () => LiveOutcome | undefined {
  let read = 0;
  return () => {
    if (read < inbox.length) return inbox[read++];
    inbox.length = 0;
    read = 0;
    return undefined;
  };
}
