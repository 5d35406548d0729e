/** Timers are host calls: when one fires is part of what is recorded, so that a replay shows the same order. */
import { dropCall, openCall } from './calls.js';
import { describe } from './errors.js';
import { hostCall } from './host.js';
import { apply, G, lock, PTypeError } from './primordials.js';

let made = 0;

lock(
  G,
  'setTimeout',
  function setTimeout(callback: unknown, delay: unknown): number {
    // biome-ignore lint/complexity/noArguments: a rest parameter would use the script's array iterator
    const given = arguments;
    if (typeof callback !== 'function')
      throw new PTypeError(`setTimeout(callback, ms) wants a function; got ${describe(callback)}.`);
    const wanted = +(delay as number);
    const ms = wanted > 0 ? (wanted < 2_147_483_647 ? wanted : 2_147_483_647) : 0;
    const rest: unknown[] = new Array(given.length > 2 ? given.length - 2 : 0);
    for (let i = 2; i < given.length; i++) rest[i - 2] = given[i];
    const id = openCall(() => {
      apply(callback as () => void, undefined, rest);
    });
    hostCall(id, 'timer', `${ms}`, `${made++}`);
    return id;
  },
  true,
);

lock(
  G,
  'clearTimeout',
  function clearTimeout(id: unknown): void {
    if (typeof id === 'number' && dropCall(id)) hostCall(0, 'clear', `${id}`);
  },
  true,
);
