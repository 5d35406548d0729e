/**
 * The supervisor's end of the sandbox process: starts it, talks to it, and ends it with SIGKILL — the only end that a
 * stuck isolate cannot refuse — when it does not come back from a turn or takes too much memory.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { type Duplex, PassThrough } from 'node:stream';
import { messageOf, systemCode, WfError } from '../shared/errors.js';
import { rssBytes } from '../shared/process-info.js';
import { createFrameQueue, type FrameQueue } from './frame-queue.js';
import { wordNotStarted } from './not-started.js';
import { type DownHead, encodeFrame, type FrameBody, type UpMessage } from './sandbox/frames.js';
import { sandboxFlags } from './sandbox-flags.js';
import { createWakefulness } from './stay-awake.js';

export interface SandboxLaunch {
  nodePath: string;
  /** The bundled sandbox process and the prelude's text, beside which the folder of the lazily supplied globals lies. */
  sandboxPath: string;
  preludePath: string;
  /** Addon files of isolated-vm, the newest version first. */
  addons: readonly string[];
  /** False starts it without Node's permission model. */
  permission: boolean;
  /** `PATH` is not needed; `TZ` and locale are pinned here, since ICU reads them from the process. */
  env?: Record<string, string>;
}

export type SandboxDeath =
  | { why: 'unresponsive'; afterMs: number }
  | { why: 'memory'; detail: string }
  | { why: 'killed' }
  /** Its program could not be started; `code` of the system's error. */
  | { why: 'not-started'; code: string }
  | { why: 'died'; detail: string };

/** What was sent may wait in this process, because the other has not read so far. */
export interface SandboxLink extends Pick<FrameQueue, 'waitingBytes' | 'afterDrain'> {
  readonly pid: number | undefined;
  send(head: DownHead, body?: FrameBody): void;
  /** Ends the process. */
  kill(): void;
  /** Everything sent was taken, and it waits. */
  readonly resting: boolean;
  /** Resolves when the process is gone, however. */
  readonly gone: Promise<SandboxDeath>;
  listen(listener: (message: UpMessage) => void): void;
  /** Sets the limits once they are known; the process is started before the script is even read. */
  limit(limits: { turnTimeoutMs: number; memoryMb: number }): void;
  /** Calls back once, when a turn takes long: should this process be killed now, nobody would end a stuck isolate. */
  onSlow(callback: () => void): void;
}

const CHECK_EVERY_MS = 100;
const SLOW_MS = 1000;
/** Beyond the turn's own limit, which the isolate enforces itself where it can. */
const TURN_GRACE_MS = 1000;
/** The isolate's limit is soft; beyond this the process is ended from outside. */
const rssLimit = (memoryMb: number): number => (memoryMb * 4 + 256) * 1024 * 1024;

/** @throws WfError `WF_SANDBOX_DIED` where the system says at once that it cannot be started; else `gone` tells */
export function startSandbox(launch: SandboxLaunch): SandboxLink {
  const words = [...sandboxFlags(launch), launch.sandboxPath, launch.preludePath, ...launch.addons];
  try {
    const child = spawn(launch.nodePath, words, {
      // A session of its own: a terminal's Ctrl-C reaches only the supervisor.
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      env: { TZ: 'UTC', LC_ALL: 'en_US.UTF-8', LANG: 'en_US.UTF-8', ...launch.env },
    });
    return new Link(child);
  } catch (error) {
    throw new WfError('WF_SANDBOX_DIED', wordNotStarted(systemCode(error) ?? messageOf(error)));
  }
}

class Link implements SandboxLink {
  readonly pid: number | undefined;
  readonly gone: Promise<SandboxDeath>;
  readonly #child: ChildProcess;
  readonly #pipe: Duplex;
  readonly #frames: FrameQueue;
  #listener: (message: UpMessage) => void = () => {};
  #early: UpMessage[] | undefined = [];
  readonly #wakefulness = createWakefulness();
  #carry: Buffer[] = [];
  #stderr = '';
  #sent = 0;
  #resting = false;
  /** It asked for something and takes no turn before it has it. */
  #awaits: DownHead['t'] | undefined;
  #got = 0;
  /** Time without a sign of life, counted in ticks so that a suspended laptop does not count. */
  #silentMs = 0;
  #death: SandboxDeath | undefined;
  #slow: () => void = () => {};
  #limits = { turnTimeoutMs: 30_000, memoryMb: 256 };

  constructor(child: ChildProcess) {
    this.#child = child;
    this.pid = child.pid;
    // Out of descriptors, Node makes no pipes at all.
    this.#pipe = (child.stdio?.[3] as Duplex | undefined) ?? new PassThrough().destroy();
    this.#pipe.on('data', (bytes: Buffer) => this.#read(bytes));
    this.#pipe.on('error', () => {});
    this.#frames = createFrameQueue(this.#pipe);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (this.#stderr.length < 8000) this.#stderr += text;
    });
    const watch = setInterval(() => this.#check(), CHECK_EVERY_MS);
    this.gone = new Promise((resolve) => {
      const end = (death: SandboxDeath): void => {
        clearInterval(watch);
        this.#pipe.destroy();
        resolve(this.#death ?? death);
      };
      child.on('error', (error) => {
        if (child.pid === undefined) end({ why: 'not-started', code: systemCode(error) ?? error.message });
        else end({ why: 'died', detail: error.message });
      });
      child.on('close', (code, signal) => end(this.#explain(code, signal)));
    });
  }

  get resting(): boolean {
    return this.#resting;
  }

  listen(listener: (message: UpMessage) => void): void {
    this.#listener = listener;
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const message of early) listener(message);
  }

  limit(limits: { turnTimeoutMs: number; memoryMb: number }): void {
    this.#limits = limits;
  }

  onSlow(callback: () => void): void {
    this.#slow = callback;
  }

  send(head: DownHead, body?: FrameBody): void {
    if (this.#death !== undefined) return;
    this.#sent++;
    this.#silentMs = 0;
    // While it waits for an answer of ours, what else is sent does not start a turn.
    if (head.t === this.#awaits) this.#awaits = undefined;
    if (this.#awaits === undefined) this.#resting = false;
    this.#frames.write(encodeFrame(head, body));
    if (head.t === 'deliver') this.#wakefulness.sent();
  }

  get waitingBytes(): number {
    return this.#frames.waitingBytes;
  }

  afterDrain(callback: () => void): void {
    this.#frames.afterDrain(callback);
  }

  kill(): void {
    this.#end({ why: 'killed' });
  }

  #end(death: SandboxDeath): void {
    this.#death ??= death;
    this.#child.kill('SIGKILL');
  }

  #read(bytes: Buffer): void {
    this.#wakefulness.received();
    let from = 0;
    for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, from)) {
      const end = bytes.subarray(from, at);
      const line = this.#carry.length === 0 ? end : Buffer.concat([...this.#carry, end]);
      this.#carry = [];
      from = at + 1;
      this.#take(JSON.parse(line.toString()) as UpMessage);
    }
    if (from < bytes.length) this.#carry.push(bytes.subarray(from));
  }

  #take(message: UpMessage): void {
    if (this.#death !== undefined) return;
    this.#silentMs = 0;
    if (message.t === 'events') {
      this.#got = message.got;
      this.#resting = message.rest && message.got === this.#sent;
    } else if (message.t === 'need') {
      this.#got = message.got;
      // What it asks for may be on its way; then it goes on by itself.
      this.#resting = message.got === this.#sent;
      this.#awaits = this.#resting ? 'answers' : undefined;
    } else if (message.t === 'end' || message.t === 'workflow' || message.t === 'deps') {
      this.#awaits = message.t === 'end' ? undefined : message.t;
      this.#resting = true;
    }
    if (this.#early !== undefined) this.#early.push(message);
    else this.#listener(message);
  }

  #check(): void {
    if (this.#child.pid === undefined || this.#death !== undefined) return;
    const rss = rssBytes(this.#child.pid) ?? 0;
    if (rss > rssLimit(this.#limits.memoryMb)) {
      this.#end({ why: 'memory', detail: `its process took ${Math.round(rss / 2 ** 20)} MB` });
      return;
    }
    if (this.#resting || this.#sent === 0 || this.#got > this.#sent) return;
    this.#silentMs += CHECK_EVERY_MS;
    if (this.#silentMs > SLOW_MS) {
      this.#slow();
      this.#slow = () => {};
    }
    const limit = this.#limits.turnTimeoutMs + TURN_GRACE_MS;
    if (this.#silentMs > limit) this.#end({ why: 'unresponsive', afterMs: this.#limits.turnTimeoutMs });
  }

  #explain(code: number | null, signal: NodeJS.Signals | null): SandboxDeath {
    // `is_heap_oom` is how isolated-vm tells of an isolate beyond saving.
    if (/is_heap_oom = 1|out of memory|invalid size error|Array buffer allocation failed/i.test(this.#stderr)) {
      return { why: 'memory', detail: 'its process ran out of memory' };
    }
    // A crash of Node prints its error between the place and the stack; an abort of V8 prints what is fatal.
    const lines = this.#stderr.split('\n').map((line) => line.trim());
    const told =
      lines.find((line) => /^(\w*Error|FATAL ERROR|#? ?Fatal)/.test(line)) ??
      lines.filter((line) => line !== '').at(-1);
    const tail = (told ?? '').slice(0, 400);
    const how = signal === null ? `exit code ${code}` : signal;
    return { why: 'died', detail: tail === '' ? how : `${how}: ${tail}` };
  }
}
