/** One sandbox process for many runs in turn, so that a generated case costs milliseconds and not a process start. */
import { findSandboxLaunch } from '../../src/api/sandbox-launch.js';
import type { UpMessage } from '../../src/engine/sandbox/frames.js';
import { type SandboxDeath, type SandboxLink, startSandbox } from '../../src/engine/sandbox-link.js';

export interface ReusableSandbox {
  /** A link for one run; the one before must have been let go. */
  open(onMessage?: (message: UpMessage) => void): SandboxLink;
  /** Resolves when the process waits for input and everything it said was heard. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

export function createReusableSandbox(): ReusableSandbox {
  const real = startSandbox(findSandboxLaunch(process.env));
  let listener: (message: UpMessage) => void = () => {};
  let resting = true;
  let waiting: (() => void)[] = [];
  const settle = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  let sent = 0;
  real.listen((message) => {
    if (message.t === 'events') resting = message.rest && message.got === sent;
    else if (message.t === 'need') resting = message.got === sent;
    // It waits for us.
    else if (message.t !== 'ready') resting = true;
    listener(message);
    if (resting) settle();
  });
  return {
    open(onMessage) {
      let end: (death: SandboxDeath) => void = () => {};
      const gone = new Promise<SandboxDeath>((resolve) => {
        end = resolve;
      });
      let closed = false;
      let early: UpMessage[] | undefined = [];
      let mine: ((message: UpMessage) => void) | undefined;
      listener = (message) => {
        onMessage?.(message);
        if (mine === undefined) early?.push(message);
        else mine(message);
      };
      void real.gone.then(end);
      return {
        pid: real.pid,
        get resting() {
          return resting;
        },
        gone,
        send(head, body) {
          if (closed) return;
          sent++;
          resting = false;
          real.send(head, body);
        },
        kill() {
          closed = true;
          listener = () => {};
          mine = () => {};
          end({ why: 'killed' });
        },
        listen(next) {
          mine = next;
          for (const message of early ?? []) next(message);
          early = undefined;
        },
        limit: (limits) => real.limit(limits),
        onSlow() {},
        waitingBytes: 0,
        afterDrain: (callback) => void setImmediate(callback),
      };
    },
    rest: () =>
      Promise.race([
        resting ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve)),
        real.gone.then((death) => {
          throw new Error(`the sandbox process is gone: ${JSON.stringify(death)}`);
        }),
      ]),
    async close() {
      real.kill();
      await real.gone;
      waiting = [];
    },
  };
}
