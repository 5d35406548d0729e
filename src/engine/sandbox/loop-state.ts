/** What the loop of a run knows at any moment; the files beside it change it. */
import type { AnswerWindow } from './answer-window.js';
import type { AgentTypeTable } from './call-options.js';
import type { FitCheck } from './fit-check.js';
import type { DeliveredItem, SandboxError, UpMessage } from './frames.js';
import type { IsolateHost } from './isolate-host.js';
import {
  createDueQueue,
  createOpenCalls,
  type DueQueue,
  type OpenAgent,
  type OpenCalls,
  type OpenTimer,
} from './open-calls.js';
import type { Cause } from './prelude/errors.js';
import type { ReplayIndex } from './replay-index.js';
import { causeForParent } from './told-errors.js';
import type { UpStream } from './up-stream.js';

export interface LoopPorts {
  up: UpStream;
  index: ReplayIndex;
  window: AnswerWindow;
  types: AgentTypeTable;
  match: 'content' | 'prefix';
  /** Absolute. */
  folders: { root: string; start: string };
  turnTimeoutMs: number;
  memoryMb: number;
  /** Blocks for the next frame; outcomes are put into `inbox`. False at the end of the stream. */
  receive(): boolean;
  inbox: LiveOutcome[];
  /** Blocks for the script of a child workflow. */
  openChild(reference: string, args: string, path: string, spentTokens: number): IsolateHost | Cause;
  /** Blocks for the digest of the files that `deps` names. */
  hashDeps(
    patterns: string[],
    cwd: string | null,
  ): { digest: string; files?: Record<string, string> } | { digest: null; message: string };
  fits: FitCheck;
}

export interface LiveOutcome {
  item: DeliveredItem;
  json: string;
}

export type LoopEnd = UpMessage & { t: 'end' };

export interface LoopState extends LoopPorts {
  main: IsolateHost;
  /** Recorded deliveries that are due. */
  due: DueQueue;
  /** Refusals and ends of children: delivered in the very next turns, before any outcome. */
  immediate: { host: IsolateHost; local: number; ok: boolean; json: string | undefined }[];
  /** Children whose first turn is to come. */
  starting: IsolateHost[];
  /** By call number, or by the (negative) id of a timer. */
  open: OpenCalls;
  /** Calls that are no hit, in call order. */
  waiting: OpenAgent[];
  parents: Map<IsolateHost, { host: IsolateHost; local: number }>;
  timers: Map<string, OpenTimer>;
  /** Errors of child workflows; an error of a parent names one by its place here. */
  childErrors: SandboxError[];
  /** Unknown options that were warned of. */
  warnedOptions: Set<string>;
  calls: number;
  timerIds: number;
  spentTokens: number;
  /** The script has seen an outcome that was not recorded: from now on timers wait. */
  sawLive: boolean;
  /** With `match: 'prefix'`: a call was no hit. */
  prefixBroken: boolean;
  end: LoopEnd | undefined;
}

export function createLoopState(main: IsolateHost, ports: LoopPorts): LoopState {
  return {
    ...ports,
    main,
    due: createDueQueue(),
    immediate: [],
    starting: [],
    open: createOpenCalls(),
    waiting: [],
    parents: new Map(),
    timers: new Map(),
    childErrors: [],
    warnedOptions: new Set(),
    calls: 0,
    timerIds: 0,
    spentTokens: 0,
    sawLive: false,
    prefixBroken: false,
    end: undefined,
  };
}

/** A call or timer has its answer. */
export function settle(state: LoopState, call: OpenAgent | OpenTimer): void {
  call.done = true;
  if (call.kind === 'timer') state.timers.delete(`${call.host.path}\n${call.local}`);
  call.host.open--;
  state.open.remove(call.kind === 'agent' ? call.n : call.id);
}

export function failWorkflow(
  state: LoopState,
  host: IsolateHost,
  error: Partial<SandboxError> & { code: string; message: string },
): void {
  endWorkflow(state, host, {
    t: 'end',
    kind: 'fail',
    error: { name: 'Error', stack: '', ...error, filename: host.filename },
  });
}

/** A workflow has settled. The run's own script ends the run; a child answers its parent in the very next turn. */
export function endWorkflow(state: LoopState, host: IsolateHost, how: LoopEnd): void {
  if (host.settled) return;
  host.settled = true;
  const isMain = host === state.main;
  for (const call of isMain || host.open > 0 ? state.open.all() : []) {
    if (call.done || !(isMain || call.host === host)) continue;
    settle(state, call);
    if (call.kind === 'agent' && call.answer !== undefined) state.index.release(call.answer);
    if (call.kind === 'timer') state.up.add(['x', call.id]);
    // When the run's own script failed, its open calls are unfinished, not abandoned.
    else if (!isMain || how.kind === 'done') state.up.add(['a', call.n, call.label, call.phase]);
  }
  if (isMain) {
    state.end = how;
    return;
  }
  const parent = state.parents.get(host);
  state.parents.delete(host);
  host.dispose();
  if (parent === undefined) return;
  state.up.add(['l', 'info', `${host.title} ${how.kind === 'fail' ? `failed: ${how.error.message}` : 'done'}`]);
  if (how.kind === 'fail') state.immediate.push({ ...parent, ok: false, json: causeForParent(state, how.error) });
  else state.immediate.push({ ...parent, ok: true, json: how.hasResult ? (how.result as string) : undefined });
}
