/** `AbortController` and `AbortSignal`, as far as a script without an outside can use them. */
import { supply } from './supply.js';

interface AbortEvent {
  readonly type: 'abort';
  readonly target: AbortSignal;
}
type Listener = ((event: AbortEvent) => void) | { handleEvent(event: AbortEvent): void };

/** Only a controller, or a static method, may make and abort a signal. */
const OWN = Symbol('own');

function makeError(name: string, code: number, message: string): Error {
  const error = new Error(message) as Error & { code?: number };
  error.name = name;
  error.code = code;
  return error;
}

let fire: (signal: AbortSignal, reason: unknown) => void;

class AbortSignal {
  #reason: unknown;
  #aborted = false;
  #listeners: { listener: Listener; once: boolean }[] = [];
  onabort: ((event: AbortEvent) => void) | null = null;

  static {
    fire = (signal, reason) => signal.#fire(reason);
  }

  constructor(own?: symbol) {
    if (own !== OWN) throw new TypeError('Illegal constructor: use new AbortController().signal');
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(type: string, listener: Listener | null, options?: boolean | { once?: boolean }): void {
    if (type !== 'abort' || !listener || this.#listeners.some((one) => one.listener === listener)) return;
    this.#listeners.push({ listener, once: typeof options === 'object' && options?.once === true });
  }

  removeEventListener(type: string, listener: Listener | null): void {
    if (type === 'abort') this.#listeners = this.#listeners.filter((one) => one.listener !== listener);
  }

  #fire(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason === undefined ? makeError('AbortError', 20, 'This operation was aborted') : reason;
    const event: AbortEvent = { type: 'abort', target: this };
    const listeners = this.#listeners;
    this.#listeners = listeners.filter((one) => !one.once);
    this.onabort?.(event);
    for (const { listener } of listeners) {
      if (typeof listener === 'function') listener.call(this, event);
      else listener.handleEvent(event);
    }
  }

  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal(OWN);
    signal.#fire(reason);
    return signal;
  }

  static timeout(ms: number): AbortSignal {
    const signal = new AbortSignal(OWN);
    const expire = () => signal.#fire(makeError('TimeoutError', 23, 'The operation was aborted due to timeout'));
    (globalThis as unknown as { setTimeout(work: () => void, ms: number): void }).setTimeout(expire, ms);
    return signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const all = [...signals];
    const signal = new AbortSignal(OWN);
    const first = all.find((one) => one.aborted);
    if (first) signal.#fire(first.reason);
    else for (const one of all) one.addEventListener('abort', () => signal.#fire(one.reason));
    return signal;
  }
}

class AbortController {
  readonly #signal = new AbortSignal(OWN);

  get signal(): AbortSignal {
    return this.#signal;
  }

  abort(reason?: unknown): void {
    fire(this.#signal, reason);
  }
}

supply({ AbortController, AbortSignal });
