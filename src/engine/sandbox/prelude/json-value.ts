/** What JSON has no form for although it would not say so: most of these would silently become `{}`. */
import { apply, DatePrototype, descendsFrom, P } from './primordials.js';

const KINDS: { name: string; prototype: object }[] = [
  { name: 'a promise (await it first)', prototype: P.prototype },
  { name: 'a Map', prototype: Map.prototype },
  { name: 'a Set', prototype: Set.prototype },
  { name: 'a WeakMap', prototype: WeakMap.prototype },
  { name: 'a WeakSet', prototype: WeakSet.prototype },
];

/** Names an object that JSON would empty; undefined for every other object. */
export function emptiedByJson(value: object): string | undefined {
  for (let i = 0; i < KINDS.length; i++) {
    const kind = KINDS[i] as { name: string; prototype: object };
    if (descendsFrom(value, kind.prototype)) return kind.name;
  }
  return undefined;
}

const { getTime, toISOString } = DatePrototype;

/** A date as JSON writes it; undefined for everything that is no date. */
export function dateText(value: object): string | null | undefined {
  if (!descendsFrom(value, DatePrototype)) return undefined;
  const time = apply(getTime, value as Date, []);
  // NaN for a date that is none.
  return time - time === 0 ? apply(toISOString, value as Date, []) : null;
}
