/**
 * The sandbox process: it runs one workflow script (and the child workflows that it opens) and nothing else. It reads
 * no files but its own code, holds no secrets, and may be killed at any time. Arguments: prelude file, addon files.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { createAnswerWindow } from './answer-window.js';
import { createPipeReader, writeAll } from './channel.js';
import { createFrameReader, type DownHead, type Frame, type ScriptForSandbox } from './frames.js';
import { createFitCheck } from './fit-check.js';
import { createIsolateHost, type IsolateHost, type Ivm } from './isolate-host.js';
import { bundlesFor } from './lazy-bundles.js';
import { loadIsolatedVm } from './load-isolated-vm.js';
import type { PreludeConfig } from './prelude/host.js';
import { createReplayIndex } from './replay-index.js';
import type { LoopPorts } from './loop-state.js';
import { runLoop } from './run-loop.js';
import { createUpStream } from './up-stream.js';

// What this process was started with holds for its own heap; of isolates there may be many.
setFlagsFromString('--min-semi-space-size=0');
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const up = createUpStream(writeAll);
/** Isolates of the run at hand. */
const hosts: IsolateHost[] = [];
const nextFrame = createFrameReader(createPipeReader(process.getBuiltinModule));

/** Ends this process in the one way that cannot hang. */
const leave = (): never => {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('unreachable');
};

function receiveFrame(): Frame {
  const frame = nextFrame();
  if (frame === undefined) return leave();
  up.countFrame();
  return frame;
}

/** Another start came: the supervisor has given this run up and goes on with the next in the same process. */
class Abandoned extends Error {
  readonly next: Frame & { head: { t: 'start' } };
  constructor(next: Frame & { head: { t: 'start' } }) {
    super('abandoned');
    this.next = next;
  }
}

/** Runs one workflow from its start frame to its end. */
function runOnce({ head, body }: Frame & { head: { t: 'start' } }, prelude: string, ivm: Ivm): void {
  const inbox: LoopPorts['inbox'] = [];
  const replies: DownHead[] = [];
  const receive = (): boolean => {
    const frame = receiveFrame();
    const down = frame.head;
    if (isStart(frame)) throw new Abandoned(frame);
    if (down.t === 'deliver') {
      let at = 0;
      for (const item of down.items) {
        inbox.push({ item, json: frame.body.toString('utf8', at, at + item[2]) });
        at += item[2];
      }
    } else if (down.t === 'answers') window.receive(down.items, frame.body, down.reset);
    else replies.push(down);
    return true;
  };
  const window = createAnswerWindow((kept) => {
    if (kept >= 0) up.need(kept);
    return receive();
  });
  const awaitReply = (): DownHead => {
    while (replies.length === 0) receive();
    return replies.shift() as DownHead;
  };
  const { memoryMb, turnTimeoutMs, budgetTotal } = head;
  const open = (script: ScriptForSandbox, args: string | undefined, config: PreludeConfig): IsolateHost => {
    const host = createIsolateHost({
      ivm,
      prelude,
      lazy: bundlesFor(script.lazy).map(readBundle),
      script,
      config,
      args,
      memoryMb,
      turnTimeoutMs,
    });
    hosts.push(host);
    return host;
  };

  const main = open(head.script, head.hasArgs ? body.toString('utf8') : undefined, {
    path: '',
    fixedPhase: null,
    logPrefix: '',
    child: false,
    budgetTotal,
    spentTokens: 0,
    lazy: head.script.lazy,
  });
  const end = runLoop(main, {
    up,
    inbox,
    window,
    receive,
    index: createReplayIndex(head.results, head.timers),
    types: { digests: head.agentTypes, any: head.anyAgentType },
    match: head.match,
    folders: head.folders,
    turnTimeoutMs,
    memoryMb,
    fits: createFitCheck(),
    hashDeps(deps, cwd) {
      up.send({ t: 'deps', deps, cwd });
      const reply = awaitReply();
      return reply.t === 'deps' ? reply : leave();
    },
    openChild(reference, args, path, spentTokens) {
      up.send({ t: 'workflow', reference: JSON.parse(reference) });
      const reply = awaitReply();
      if (reply.t !== 'workflow') return leave();
      if (!reply.ok) {
        const { code, message, line, column } = reply;
        return { name: 'WorkflowError', code, message, ...(line === undefined ? {} : { line, column: column ?? 1 }) };
      }
      return open(reply.script, args === '' ? undefined : args, {
        path,
        fixedPhase: `▸ ${reply.name}`,
        logPrefix: `[${reply.name}] `,
        child: true,
        budgetTotal,
        spentTokens,
        lazy: reply.script.lazy,
      });
    },
  });
  if (end === undefined) leave();
  else if (end.kind === 'fail') up.send(end);
  else {
    // The result is JSON text already.
    const result = end.hasResult ? `,"result":${end.result as string}` : '';
    writeAll(`{"t":"end","kind":"done","hasResult":${end.hasResult}${result}}\n`);
  }
}

const bundles = new Map<string, string>();

/** The bundles lie beside the prelude. */
function readBundle(name: string): string {
  let text = bundles.get(name);
  if (text === undefined) {
    text = readFileSync(join(dirname(preludePath as string), 'lazy', `${name}.js`), 'utf8');
    bundles.set(name, text);
  }
  return text;
}

const [preludePath, ...addons] = process.argv.slice(2);
const preludeText = readFileSync(preludePath as string, 'utf8');
const loaded = loadIsolatedVm(addons, __filename);
up.send({ t: 'ready', isolatedVm: loaded.path });
// The supervisor ends this process: leaving by itself could hang in a disposed isolate. Until then it may run once more.
for (let frame = receiveFrame(); ; ) {
  try {
    if (isStart(frame)) runOnce(frame, preludeText, loaded.ivm);
    frame = receiveFrame();
  } catch (error) {
    if (!(error instanceof Abandoned)) throw error;
    frame = error.next;
  }
  for (const host of hosts.splice(0)) host.dispose();
}

function isStart(frame: Frame): frame is Frame & { head: { t: 'start' } } {
  return frame.head.t === 'start';
}
