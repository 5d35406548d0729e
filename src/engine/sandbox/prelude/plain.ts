/**
 * A copy of a script's value that holds nothing but JSON: own enumerable members, no prototypes, so that a patched
 * `toJSON` cannot change what the host is told. Getters run once, here.
 */
import { defineProperty, isArray, keys, PTypeError, SafeMap } from './primordials.js';

const { setPrototypeOf } = Object;

export function plain(value: unknown, path: string, seen = new SafeMap<object, true>()): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return value - value === 0 ? value : null;
  if (typeof value === 'bigint') throw new PTypeError(`${path} is a BigInt, which JSON does not have`);
  if (typeof value !== 'object') return undefined;
  if (seen.has(value)) throw new PTypeError(`${path} contains itself`);
  seen.set(value, true);
  let copy: object;
  if (isArray(value)) {
    copy = setPrototypeOf([], null);
    for (let i = 0; i < value.length; i++) put(copy, i, plain(value[i], `${path}[${i}]`, seen) ?? null);
  } else {
    copy = { __proto__: null } as object;
    const names = keys(value);
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string;
      const member = plain((value as Record<string, unknown>)[name], `${path}.${name}`, seen);
      if (member !== undefined) put(copy, name, member);
    }
  }
  seen.delete(value);
  return copy;
}

function put(target: object, name: string | number, value: unknown): void {
  defineProperty(target, name, {
    __proto__: null,
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  } as PropertyDescriptor);
}
