/**
 * Host calls: a call queues text and waits; the host delivers one completion a turn.
 * An async function that throws after its `await` leaves a stack that names the `await` in the workflow, for nothing.
 */
import { config } from './host.js';
import { parse, P, SafeMap } from './primordials.js';
import type { Cause } from './errors.js';

/** How the host answers. `cause` is set when there is no value. */
export interface Answer {
  value: unknown;
  cause: (Cause & { tell: 'null' | 'throw' }) | undefined;
  /** It fitted its schema only at the last try. */
  lastTry: boolean;
}

const pending = new SafeMap<number, (answer: Answer) => void>();
let nextId = 1;
/** Output tokens of every answer that the run's workflows were given, in order. */
let delivered = config.spentTokens;

export const deliveredTokens = (): number => delivered;

export function openCall(resolve: (answer: Answer) => void): number {
  const id = nextId++;
  pending.set(id, resolve);
  return id;
}

export const dropCall = (id: number): boolean => pending.delete(id);

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
  const resolve = pending.get(id);
  let value: unknown;
  try {
    if (resolve !== undefined && json !== undefined) value = parse(json);
  } catch {
    return false;
  }
  delivered += tokens;
  if (resolve === undefined) return true;
  pending.delete(id);
  if (ok) resolve({ __proto__: null, value, cause: undefined, lastTry } as Answer);
  else resolve({ __proto__: null, value: undefined, cause: value, lastTry } as Answer);
  return true;
}

/** Called by the host for what another workflow of the run was given: the budget is shared. */
export function addTokens(tokens: number): void {
  delivered += tokens;
}
