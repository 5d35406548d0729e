/**
 * One workflow in one isolate, on this process's main thread. Every entry is a turn with a time limit: microtasks drain
 * inside it, then the queued host calls are read. Only strings, numbers and booleans cross the border.
 */
import type ivm from 'ivm6';
import type { PreludeConfig } from './prelude/host.js';
import type { ScriptForSandbox } from './frames.js';

export type Ivm = typeof ivm;

export interface HostCall {
  id: number;
  kind: string;
  a: string;
  b: string;
  c: string;
  d: string;
  e: string;
}

export type TurnEnd =
  | { kind: 'ok' }
  /** A promise was rejected and nobody handled it. */
  | { kind: 'stray'; name: string; message: string; stack: string }
  | { kind: 'timeout'; stack: string }
  | { kind: 'memory' }
  /** What was to be delivered is no JSON: no turn was taken, and the call still waits. */
  | { kind: 'not-json' }
  /** The engine of the isolate refused to compile the body. */
  | { kind: 'broken'; message: string; stack: string };

export interface IsolateHost {
  /** Calls that this workflow waits for. */
  open: number;
  settled: boolean;
  readonly path: string;
  readonly filename: string;
  /** How people are told of it: `▸ name`; null for the run's own script. */
  readonly title: string | null;
  /** Runs the body's first turn. */
  start(): TurnEnd;
  deliver(id: number, ok: boolean, json: string | undefined, tokens: number, lastTry?: boolean): TurnEnd;
  addTokens(tokens: number): void;
  /** Takes the calls that the last turn queued, in order. */
  takeCalls(): HostCall[];
  dispose(): void;
}

export interface IsolateOptions {
  ivm: Ivm;
  prelude: string;
  /** Texts of the bundles that hold the lazily supplied globals of `config.lazy`. */
  lazy: readonly string[];
  script: ScriptForSandbox;
  config: PreludeConfig;
  args: string | undefined;
  memoryMb: number;
  turnTimeoutMs: number;
}

export function createIsolateHost(options: IsolateOptions): IsolateHost {
  const { ivm, script, turnTimeoutMs } = options;
  const isolate = new ivm.Isolate({ memoryLimit: options.memoryMb });
  const context = isolate.createContextSync();
  let calls: HostCall[] = [];
  context.global.setSync('__config', JSON.stringify(options.config));
  if (options.args !== undefined) context.global.setSync('__args', options.args);
  context.global.setSync(
    '__call',
    // Must never throw: a host error would show host paths to the script.
    new ivm.Callback((id: number, kind: string, a = '', b = '', c = '', d = '', e = '') => {
      calls.push({ id, kind, a, b, c, d, e });
    }),
  );
  const own = { filename: 'engine:prelude' };
  for (const text of options.lazy) isolate.compileScriptSync(text, own).runSync(context);
  const api = isolate.compileScriptSync(options.prelude, own).runSync(context, { reference: true });
  const deliverRef = api.getSync('deliver', { reference: true });
  const addTokensRef = api.getSync('addTokens', { reference: true });
  const runRef = api.getSync('run', { reference: true });

  const limit = { timeout: turnTimeoutMs };
  const turn = (enter: () => void): TurnEnd => {
    const started = performance.now();
    try {
      enter();
      return { kind: 'ok' };
    } catch (error) {
      if (isolate.isDisposed) return { kind: 'memory' };
      // Host-side errors made by isolated-vm are plain; those of the script are copies with plain text.
      const { name, message, stack } = error as Error;
      if (message === 'Script execution timed out.' && performance.now() - started >= turnTimeoutMs) {
        return { kind: 'timeout', stack: String(stack) };
      }
      const text = String(message ?? error);
      return { kind: 'stray', name: String(name ?? 'Error'), message: text, stack: String(stack ?? '') };
    }
  };

  return {
    open: 0,
    settled: false,
    path: options.config.path,
    filename: script.filename,
    title: options.config.fixedPhase,
    start() {
      let main: ReturnType<ReturnType<typeof isolate.compileScriptSync>['runSync']>;
      try {
        main = isolate
          .compileScriptSync(script.code, { filename: script.filename, columnOffset: script.columnOffset })
          .runSync(context, { reference: true, timeout: turnTimeoutMs });
      } catch (error) {
        return { kind: 'broken', message: String((error as Error).message), stack: String((error as Error).stack) };
      }
      return turn(() => runRef.applySync(undefined, [main.derefInto()], { timeout: turnTimeoutMs }));
    },
    deliver(id, ok, json, tokens, lastTry = false) {
      let isTaken: unknown;
      const end = turn(() => {
        isTaken = deliverRef.applySync(undefined, [id, ok, json, tokens, lastTry], limit);
      });
      return isTaken === false ? { kind: 'not-json' } : end;
    },
    addTokens(tokens) {
      if (tokens > 0 && !isolate.isDisposed) addTokensRef.applySync(undefined, [tokens], { timeout: turnTimeoutMs });
    },
    takeCalls() {
      const taken = calls;
      calls = [];
      return taken;
    },
    dispose() {
      if (!isolate.isDisposed) isolate.dispose();
    },
  };
}
