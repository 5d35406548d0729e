/**
 * `parallel` and `pipeline`: results in input order; whatever a slot throws becomes `null` there and one log line.
 * Promises are awaited before they are returned: an async function that returns one calls its `then`, which a script can patch.
 */
import { codeOf, describe, errorText, makeError, messageOf, misuse } from './errors.js';
import { config, hostCall } from './host.js';
import { G, isArray, lock, P, PArray } from './primordials.js';
import { currentSlot, makeSlot, nextGroup, runInSlot } from './place.js';

const MAX_ITEMS = 4096;

interface Group {
  kind: 'parallel' | 'pipeline';
  /** Slots that a ceiling emptied, and its code. */
  dropped: number;
  reason: string;
}

function fail(group: Group, index: number, error: unknown): null {
  const code = codeOf(error);
  if (code === 'WF_BUDGET' || code === 'WF_AGENT_CAP') {
    group.dropped++;
    group.reason = messageOf(error);
  } else hostCall(0, 'slot-failed', `${config.logPrefix}${group.kind}[${index}]`, errorText(error));
  return null;
}

/** Starts `run(i)` for each slot at once and waits for all. */
async function runAll(group: Group, count: number, run: (index: number) => Promise<unknown>): Promise<unknown[]> {
  const results = new PArray(count);
  if (count > 0) {
    await new P<void>((resolve) => {
      let left = count;
      const settle = async (index: number): Promise<void> => {
        try {
          results[index] = await run(index);
        } catch (error) {
          results[index] = fail(group, index, error);
        }
        if (--left === 0) resolve();
      };
      for (let i = 0; i < count; i++) void settle(i);
    });
  }
  if (group.dropped > 0) {
    const told = `${group.dropped} of ${count} slots of ${group.kind}() dropped: ${group.reason}`;
    hostCall(0, 'log', config.logPrefix + told, 'warn');
  }
  return results;
}

function checkCount(kind: string, count: number): void {
  if (count > MAX_ITEMS)
    throw makeError({
      name: 'RangeError',
      code: 'WF_MISUSE',
      message: `${kind}() takes at most ${MAX_ITEMS} items; got ${count}. Work in batches.`,
    });
}

lock(
  G,
  'parallel',
  async function parallel(thunks: unknown): Promise<unknown[]> {
    if (!isArray(thunks))
      throw misuse('WF_MISUSE', `parallel(thunks) wants an array of functions; got ${describe(thunks)}.`);
    const count = thunks.length;
    checkCount('parallel', count);
    for (let i = 0; i < count; i++) {
      if (typeof thunks[i] !== 'function') {
        throw misuse(
          'WF_MISUSE',
          `parallel(thunks): element ${i} is not a function but ${describe(thunks[i])}. Wrap it: parallel([() => agent('…')]), so that it starts here and not before.`,
        );
      }
    }
    const parent = currentSlot();
    const group: Group = { kind: 'parallel', dropped: 0, reason: '' };
    const number = nextGroup();
    return await runAll(group, count, (index) => {
      const thunk = thunks[index] as () => unknown;
      return runInSlot(makeSlot(parent, `${number}.${index}`), async () => await thunk());
    });
  },
  true,
);

lock(
  G,
  'pipeline',
  async function pipeline(items: unknown): Promise<unknown[]> {
    // biome-ignore lint/complexity/noArguments: a rest parameter would use the script's array iterator
    const given = arguments;
    if (!isArray(items))
      throw misuse(
        'WF_MISUSE',
        `pipeline(items, ...stages) wants an array as its first argument; got ${describe(items)}.`,
      );
    const count = items.length;
    checkCount('pipeline', count);
    const stages = given.length - 1;
    for (let s = 1; s <= stages; s++) {
      if (typeof given[s] !== 'function')
        throw misuse(
          'WF_MISUSE',
          `pipeline(items, ...stages): stage ${s} is not a function but ${describe(given[s])}.`,
        );
    }
    const parent = currentSlot();
    const group: Group = { kind: 'pipeline', dropped: 0, reason: '' };
    const number = nextGroup();
    return await runAll(group, count, async (index) => {
      const item = items[index];
      const slot = makeSlot(parent, `${number}.${index}`);
      let value: unknown = item;
      for (let s = 1; s <= stages; s++) {
        const stage = given[s] as (value: unknown, item: unknown, index: number) => unknown;
        const before = value;
        value = await runInSlot(makeSlot(slot, `${s - 1}`), () => stage(before, item, index));
      }
      return value;
    });
  },
  true,
);
