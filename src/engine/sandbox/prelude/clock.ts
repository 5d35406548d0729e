/** Takes the clock away, in every form that was found to reach it; what is pure stays. */
import { apply, construct, defineProperty, G, getOwnPropertyDescriptor, lock, PError } from './primordials.js';

function noClock(): never {
  throw new PError(
    'The clock is not available in a workflow: a resumed run would differ. Pass the time in through args, or stamp the result after the run.',
  );
}

const RealDate = Date;
const SafeDate = function (this: unknown) {
  // biome-ignore lint/complexity/noArguments: a rest parameter would use the script's array iterator
  const given = arguments;
  if (new.target === undefined || given.length === 0) noClock();
  return construct(RealDate, given, new.target as unknown as new () => unknown);
} as unknown as DateConstructor;
defineProperty(SafeDate, 'name', { value: 'Date', configurable: true });
defineProperty(SafeDate, 'length', { value: 7, configurable: true });
lock(SafeDate, 'UTC', RealDate.UTC);
lock(SafeDate, 'parse', RealDate.parse);
lock(SafeDate, 'now', function now() {
  noClock();
});
lock(SafeDate, 'prototype', RealDate.prototype);
lock(RealDate.prototype, 'constructor', SafeDate);
lock(G, 'Date', SafeDate);

// Intl.DateTimeFormat formats the present when it is given nothing.
const formats = Intl.DateTimeFormat.prototype;
const getFormat = getOwnPropertyDescriptor(formats, 'format')?.get as () => (date: unknown) => string;
defineProperty(formats, 'format', {
  get(this: Intl.DateTimeFormat) {
    const format = apply(getFormat, this, []);
    return (date: unknown) => (date === undefined ? noClock() : format(date));
  },
  configurable: false,
});
const { formatToParts } = formats;
lock(formats, 'formatToParts', function (this: Intl.DateTimeFormat, date: unknown) {
  if (date === undefined) noClock();
  return apply(formatToParts, this, [date as Date]);
});
if (G.Temporal !== undefined) lock(G.Temporal as object, 'Now', undefined);

lock(Math, 'random', function random() {
  throw new PError(
    'Math.random() is not available in a workflow: a resumed run would differ. To vary prompts, use the index of the item.',
  );
});
