/**
 * Where on the stack a call is made: the slots of `parallel`, `pipeline` and `workflow` that are running right now.
 * After an `await` that is the workflow's body again. It only breaks ties between equal calls.
 */
import { config } from './host.js';

export interface Slot {
  path: string;
  groups: number;
}

const body: Slot = { path: config.path, groups: 0 };
let current = body;

export const currentPath = (): string => current.path;

/** Number of the next group in the present slot. */
export const nextGroup = (): number => current.groups++;

export const currentSlot = (): Slot => current;

export function makeSlot(parent: Slot, name: string): Slot {
  return { __proto__: null, path: parent.path === '' ? name : `${parent.path}/${name}`, groups: 0 } as unknown as Slot;
}

/** Runs the synchronous part of `work` inside `slot`. */
export function runInSlot<T>(slot: Slot, work: () => T): T {
  const before = current;
  current = slot;
  try {
    return work();
  } finally {
    current = before;
  }
}
