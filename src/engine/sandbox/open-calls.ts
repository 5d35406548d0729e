/** What the workflows of this run wait for. Numbers of calls and timers are one sequence: each is told by its id alone. */
import type { IsolateHost } from './isolate-host.js';
import type { RecordedAnswer } from './replay-index.js';
import type { CallOptions } from './call-options.js';

interface Waiting {
  host: IsolateHost;
  /** Id inside the isolate. */
  local: number;
}

export type OpenAgent = Waiting & {
  kind: 'agent';
  /** Number of the call in the run, from 1. */
  n: number;
  key: string;
  path: string;
  nth: number;
  label: string;
  phase: string;
  /** JSON text of the prompt. */
  prompt: string;
  options: CallOptions | undefined;
  answer: RecordedAnswer | undefined;
  done: boolean;
};

export type OpenTimer = Waiting & { kind: 'timer'; id: number; n: number; ms: number; path: string; done: boolean };

/** What is open, by call number or (negative) id of a timer. */
export interface OpenCalls {
  readonly size: number;
  add(id: number, call: OpenAgent | OpenTimer): void;
  get(id: number): OpenAgent | OpenTimer | undefined;
  remove(id: number): void;
  /** Calls in their order, then timers in theirs. */
  all(): (OpenAgent | OpenTimer)[];
}

/** Lists, as numbers only grow: a Map of few that come and go is made anew every few calls. */
export function createOpenCalls(): OpenCalls {
  const calls: (OpenAgent | OpenTimer | undefined)[] = [undefined];
  const timers: (OpenAgent | OpenTimer | undefined)[] = [undefined];
  let size = 0;
  const put = (id: number, call: OpenAgent | OpenTimer | undefined): void => {
    if (id > 0) calls[id] = call;
    else timers[-id] = call;
  };
  const get = (id: number): OpenAgent | OpenTimer | undefined => (id > 0 ? calls[id] : timers[-id]);
  return {
    get size() {
      return size;
    },
    add(id, call) {
      put(id, call);
      size++;
    },
    get,
    remove(id) {
      if (get(id) === undefined) return;
      put(id, undefined);
      size--;
    },
    all: () => [...calls, ...timers].filter((call) => call !== undefined),
  };
}

/** Recorded deliveries that are due, lowest place first. */
export interface DueQueue {
  push(place: number, call: OpenAgent | OpenTimer): void;
  pop(): (OpenAgent | OpenTimer) | undefined;
  readonly size: number;
}

export function createDueQueue(): DueQueue {
  const heap: { place: number; call: OpenAgent | OpenTimer }[] = [];
  const swap = (a: number, b: number): void => {
    const item = heap[a] as (typeof heap)[number];
    heap[a] = heap[b] as (typeof heap)[number];
    heap[b] = item;
  };
  const place = (i: number): number => heap[i]?.place ?? Number.POSITIVE_INFINITY;
  return {
    get size() {
      return heap.length;
    },
    push(at, call) {
      let i = heap.push({ place: at, call }) - 1;
      while (i > 0) {
        const parent = (i - 1) >> 1;
        if (place(parent) <= place(i)) break;
        swap(parent, i);
        i = parent;
      }
    },
    pop() {
      const top = heap[0];
      const last = heap.pop();
      if (top === undefined || last === undefined) return undefined;
      if (heap.length > 0) {
        heap[0] = last;
        for (let i = 0; ; ) {
          const left = 2 * i + 1;
          const child = place(left + 1) < place(left) ? left + 1 : left;
          if (place(child) >= place(i)) break;
          swap(i, child);
          i = child;
        }
      }
      return top.call;
    },
  };
}
