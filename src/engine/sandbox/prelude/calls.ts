/**
 * Host calls: a call queues text and waits; the host delivers one completion a turn.
 * An async function that throws after its `await` leaves a stack that names the `await` in the workflow, for nothing.
 */
import { config } from './host.js';
import { parse, P, setPrototypeOf } from './primordials.js';
import type { Cause } from './errors.js';

/** How the host answers. */
export class Answer {
  readonly value: unknown;
  /** Set when there is no value. */
  readonly cause: (Cause & { tell: 'null' | 'throw' }) | undefined;
  /** It fitted its schema only at the last try. */
  readonly lastTry: boolean;
  constructor(value: unknown, cause: Answer['cause'], lastTry: boolean) {
    this.value = value;
    this.cause = cause;
    this.lastTry = lastTry;
  }
}
// Whoever is given one looks for its `then`, which a script may have put on what all objects come from. (An object
// literal without a prototype is slow.)
setPrototypeOf(Answer.prototype, null);

/** By id; no Map, as one of few calls that come and go is made anew every few calls. */
const pending = { __proto__: null } as unknown as Record<number, ((answer: Answer) => void) | undefined>;
let nextId = 1;
/** Output tokens of every answer that the run's workflows were given, in order. */
let delivered = config.spentTokens;

export const deliveredTokens = (): number => delivered;

export function openCall(resolve: (answer: Answer) => void): number {
  const id = nextId++;
  pending[id] = resolve;
  return id;
}

export function dropCall(id: number): void {
  pending[id] = undefined;
}

/** Queues a call and waits for its answer. */
export function waitFor(queue: (id: number) => void): Promise<Answer> {
  return new P((resolve) => queue(openCall(resolve)));
}

/**
 * Called by the host, once a turn.
 *
 * @returns false: the text is no JSON, and the call still waits. Only a journal that somebody wrote by hand holds such an answer.
 */
export function deliver(id: number, ok: boolean, json: string | undefined, tokens: number, lastTry: boolean): boolean {
  const resolve = pending[id];
  let value: unknown;
  try {
    if (resolve !== undefined && json !== undefined) value = parse(json);
  } catch {
    return false;
  }
  delivered += tokens;
  if (resolve === undefined) return true;
  pending[id] = undefined;
  if (ok) resolve(new Answer(value, undefined, lastTry));
  else resolve(new Answer(undefined, value as Answer['cause'], lastTry));
  return true;
}

/** Called by the host for what another workflow of the run was given: the budget is shared. */
export function addTokens(tokens: number): void {
  delivered += tokens;
}
