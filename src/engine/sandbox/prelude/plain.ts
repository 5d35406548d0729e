/**
 * A copy of a script's value that holds nothing but JSON: own enumerable members, no prototypes. A `toJSON` of an object's
 * own class is heard, one that was put on all objects is not. Getters run once, here.
 */
import { misuse } from './errors.js';
import { dateText, emptiedByJson } from './json-value.js';
import { apply, defineProperty, isArray, keys, SafeMap, setPrototypeOf } from './primordials.js';

const ObjectPrototype = Object.prototype as { toJSON?: unknown };

/** @param code of the error for what JSON does not have */
export function plain(value: unknown, path: string, code: string, seen = new SafeMap<object, true>()): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return value - value === 0 ? value : null;
  if (typeof value === 'bigint') throw misuse(code, `${path} is a BigInt, which JSON does not have.`);
  if (typeof value !== 'object') return undefined;
  const date = dateText(value);
  if (date !== undefined) return date;
  const emptied = emptiedByJson(value);
  if (emptied !== undefined) throw misuse(code, `${path} is ${emptied}, which JSON does not have.`);
  if (seen.has(value)) throw misuse(code, `${path} contains itself.`);
  const toJson = isArray(value) ? undefined : (value as { toJSON?: unknown }).toJSON;
  seen.set(value, true);
  if (typeof toJson === 'function' && toJson !== ObjectPrototype.toJSON) {
    const member = plain(apply(toJson as () => unknown, value, []), path, code, seen);
    seen.delete(value);
    return member;
  }
  let copy: object;
  if (isArray(value)) {
    copy = setPrototypeOf([], null);
    for (let i = 0; i < value.length; i++) put(copy, i, plain(value[i], `${path}[${i}]`, code, seen) ?? null);
  } else {
    copy = { __proto__: null } as object;
    const names = keys(value);
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string;
      const member = plain((value as Record<string, unknown>)[name], `${path}.${name}`, code, seen);
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
