/** Timers are host calls: when one fires is part of what is recorded, so that a replay shows the same order. */
import { dropCall, openCall } from './calls.js';
import { describe, errorText, misuse } from './errors.js';
import { hostCall } from './host.js';
import { apply, G, lock, SafeMap, PArray } from './primordials.js';

let made = 0;
/** Ids are shared with calls, which clearTimeout() must not touch. */
const waiting = new SafeMap<number, true>();

lock(
  G,
  'setTimeout',
  function setTimeout(callback: unknown, delay: unknown): number {
    // biome-ignore lint/complexity/noArguments: a rest parameter would use the script's array iterator
    const given = arguments;
    if (typeof callback !== 'function')
      throw misuse('WF_MISUSE', `setTimeout(callback, ms) wants a function; got ${describe(callback)}.`);
    const wanted = +(delay as number);
    const ms = wanted > 0 ? (wanted < 2_147_483_647 ? wanted : 2_147_483_647) : 0;
    const rest: unknown[] = new PArray(given.length > 2 ? given.length - 2 : 0);
    for (let i = 2; i < given.length; i++) rest[i - 2] = given[i];
    const id = openCall(() => {
      waiting.delete(id);
      try {
        apply(callback as () => void, undefined, rest);
      } catch (error) {
        hostCall(0, 'timer-threw', errorText(error));
      }
    });
    waiting.set(id, true);
    hostCall(id, 'timer', `${ms}`, `${made++}`);
    return id;
  },
  true,
);

lock(
  G,
  'clearTimeout',
  function clearTimeout(id: unknown): void {
    if (typeof id !== 'number' || !waiting.delete(id)) return;
    dropCall(id);
    hostCall(0, 'clear', `${id}`);
  },
  true,
);
